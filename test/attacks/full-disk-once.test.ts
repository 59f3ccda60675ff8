// `harvest run --once` onto a full disk ends with a sentence; the next run completes the work without loss.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { cli } from '../helpers/cli.js';
import { smallDisk } from '../helpers/small-disk.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { writeDocuments } from './documents.js';

const DOCUMENTS = 500;
const PORTS = ['--gatherd-port', '0', '--broker-port', '0', '--web-port', '0', '--references-port', '0'];

const documents = await writeDocuments(join(await temporaryDirectory(t), 'documents'), DOCUMENTS);

t.test('harvest run --once ends with status 1 and a sentence; the next run completes the work', async (t) => {
  const disk = await smallDisk(t, 1);
  if (disk === undefined) return;
  const run = [
    'run',
    '--once',
    '--low-disk',
    '0',
    '--data',
    join(disk.directory, 'data'),
    ...PORTS,
    documents,
  ];
  // The space ends in the store of the Gatherer, in the publication, in the store or the index of the Broker.
  for (const mebibytes of [1, 3, 6]) {
    disk.resize(mebibytes);
    const { code, stderr } = await cli(...run);
    t.equal(code, 1, `${mebibytes} MiB`);
    t.match(stderr, /no space left|disk is full|ENOSPC/);
    t.match(stderr, /the gathered documents are kept, and the next run continues\n$/);
    t.notMatch(stderr, /internal error/);
  }
  disk.resize(200);
  const { code, stdout, stderr } = await cli(...run);
  t.equal(code, 0, stderr);
  t.match(JSON.parse(stdout), { exported: DOCUMENTS, objects: DOCUMENTS });
});

t.test('below the limit of free space harvest run --once ends with status 1 and a sentence', async (t) => {
  const disk = await smallDisk(t, 100);
  if (disk === undefined) return;
  const { code, stdout, stderr } = await cli(
    'run',
    '--once',
    '--data',
    join(disk.directory, 'data'),
    ...PORTS,
    documents,
  );
  t.equal(code, 1);
  t.equal(stdout, '');
  t.match(stderr, /crawl ends: less than 512 MiB are free in /);
  t.match(stderr, /\nharvest: too little space is free in .*: gathering has stopped/);
});

t.test('a document whose WARC record finds no space has not failed: the next run gathers it', async (t) => {
  const disk = await smallDisk(t, 20);
  if (disk === undefined) return;
  await disk.fill(200_000);
  const top = await temporaryDirectory(t);
  const warc = join(disk.directory, 'warc');
  await writeFile(
    join(top, 'order.json'),
    JSON.stringify({ lowDiskMiB: 0, logs: true, warc: { directory: warc } }),
  );
  const file = join(top, 'warc.cf');
  await writeFile(
    file,
    `Gatherer-Name: WARC
Top-Directory: ${top}
Data-Directory: ${join(top, 'data')}
Crawl-Order: order.json
<RootNodes>
file://${documents}/ URL=1000
</RootNodes>
`,
  );
  const full = await cli('gatherer', '--no-daemon', '--json', file);
  t.equal(full.code, 1, full.stdout);
  t.match(full.stderr, /a WARC record cannot be written/);
  await disk.free();
  const { code, stdout, stderr } = await cli('gatherer', '--no-daemon', '--json', file);
  t.equal(code, 0, stderr);
  t.match(JSON.parse(stdout), { gathered: { resumed: true, counts: { failed: 0 } }, objects: DOCUMENTS });
});
