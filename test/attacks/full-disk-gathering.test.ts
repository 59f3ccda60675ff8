// Gathering onto a full disk: the run waits or ends with a sentence, says so everywhere, and is completed when
// there is space. SIGTERM ends it at any time.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { progressLine, totalLines } from '../../servers/cli/crawl/tables.js';
import { metricsText } from '../../servers/crawler/console/metrics.js';
import { stateSection } from '../../servers/crawler/console/sections.js';
import { makeReport } from '../../servers/crawler/logs/reports.js';
import { CRASH } from '../disk/sweep.js';
import { ANY_PORTS, cli } from '../helpers/cli.js';
import { page, Site } from '../helpers/site.js';
import { type SmallDisk, smallDisk } from '../helpers/small-disk.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { FakeCrawl } from '../servers/crawler/fake-control.js';
import { start, terminate } from './disk-scene.js';
import { writeDocuments } from './documents.js';

const DOCUMENTS = 300;
const STOP = ['--stop-limit', '60'];
const documents = await writeDocuments(join(await temporaryDirectory(t), 'documents'), DOCUMENTS);

/** The arguments of a run onto a disk that pauses below a limit in MiB. */
function run(disk: SmallDisk, lowDisk: string, ...more: readonly string[]): readonly string[] {
  const data = join(disk.directory, `data${lowDisk}`);
  return ['run', '--low-disk', lowDisk, '--data', data, ...ANY_PORTS, ...more];
}

/** A run that waits for space: what it says, and what ends the waiting. */
const WAITS = [
  {
    name: 'a disk that is full',
    mebibytes: 3,
    lowDisk: '0',
    says: /no space left.*; gathering continues when there is space\.\n/,
    goesOn: /ready /,
  },
  {
    name: 'a disk below the limit of free space',
    mebibytes: 40,
    lowDisk: '50',
    says: /crawl pauses: less than 50 MiB are free in .*; it resumes when there is space\n/,
    goesOn: /crawl resumes: there is space again\n/,
  },
] as const;

for (const { name, mebibytes, lowDisk, says, goesOn } of WAITS) {
  t.test(`harvest run waits on ${name}, says so, and goes on when there is space`, async (t) => {
    const disk = await smallDisk(t, mebibytes);
    if (disk === undefined) return;
    const program = start(t, ...run(disk, lowDisk, ...STOP, documents));
    await program.output(says, 'stderr');
    disk.resize(200);
    await Promise.any([program.output(goesOn), program.output(goesOn, 'stderr')]);
    const [, broker = ''] = await program.output(/ready .*broker=(\S+)/);
    t.match(program.stderr, new RegExp(`has ${DOCUMENTS} objects`));
    t.equal((await cli('query', broker, 'document')).code, 0);
    t.equal(await terminate(t, program), 0);
  });

  t.test(`SIGTERM ends a run that waits on ${name}`, async (t) => {
    const disk = await smallDisk(t, mebibytes);
    if (disk === undefined) return;
    const program = start(t, ...run(disk, lowDisk, ...STOP, documents));
    await program.output(says, 'stderr');
    t.equal(await terminate(t, program), 130);
  });
}

t.test('SIGTERM ends a run within ten seconds whose disk has become full, and still is', async (t) => {
  const disk = await smallDisk(t, 200);
  if (disk === undefined) return;
  const own = await writeDocuments(join(await temporaryDirectory(t), 'documents'), 40);
  // The default of `--stop-limit` is ten seconds: then the program would end itself with a sentence.
  const program = start(t, ...run(disk, '0', '--every', '1s', own));
  await program.output(/ready /);
  await disk.fill();
  await writeDocuments(own, DOCUMENTS);
  await program.output(/no space left|disk of \S+ is full|ENOSPC/, 'stderr');
  t.ok([0, 130].includes((await terminate(t, program)) ?? -1), program.stderr);
});

t.test('harvest run --once ends with status 1 and a sentence; the next run completes the work', async (t) => {
  const disk = await smallDisk(t, 1);
  if (disk === undefined) return;
  // The space ends in the store of the Gatherer, in the publication, in the store or the index of the Broker.
  for (const mebibytes of [1, 2, 3]) {
    disk.resize(mebibytes);
    const { code, stderr } = await cli(...run(disk, '0', '--once', documents));
    t.equal(code, 1, `${mebibytes} MiB`);
    t.match(stderr, /no space left|disk is full|ENOSPC/);
    t.match(stderr, /the gathered documents are kept, and the next run continues\n$/);
    t.notMatch(stderr, CRASH);
  }
  disk.resize(200);
  const { code, stdout, stderr } = await cli(...run(disk, '0', '--once', documents));
  t.equal(code, 0, stderr);
  t.match(JSON.parse(stdout), { exported: DOCUMENTS, objects: DOCUMENTS });
});

t.test('below the limit of free space harvest run --once ends with status 1 and a sentence', async (t) => {
  const disk = await smallDisk(t, 100);
  if (disk === undefined) return;
  const data = join(disk.directory, 'data');
  const { code, stdout, stderr } = await cli('run', '--once', '--data', data, ...ANY_PORTS, documents);
  t.equal(code, 1);
  t.equal(stdout, '');
  t.match(stderr, /crawl ends: less than 512 MiB are free in /);
  t.match(stderr, /\nharvest: too little space is free in .*: gathering has stopped/);
});

/** Writes the configuration of a Gatherer. @returns its path */
async function gatherer(
  top: string,
  { order, data, root }: { readonly order: object; readonly data: string; readonly root: string },
): Promise<string> {
  const file = join(top, 'example.cf');
  await writeFile(join(top, 'order.json'), JSON.stringify(order));
  await writeFile(
    file,
    `Gatherer-Name: example
Top-Directory: ${top}
Data-Directory: ${data}
Crawl-Order: order.json
Access-Delay: 0
<RootNodes>
${root} URL=2000 Delay=0
</RootNodes>
`,
  );
  return file;
}

t.test('a document whose WARC record finds no space has not failed: the next run gathers it', async (t) => {
  const disk = await smallDisk(t, 20);
  if (disk === undefined) return;
  await disk.fill(100_000);
  const top = await temporaryDirectory(t);
  const order = { lowDiskMiB: 0, logs: true, warc: { directory: join(disk.directory, 'warc') } };
  const file = await gatherer(top, { order, data: join(top, 'data'), root: `file://${documents}/` });
  const full = await cli('gatherer', '--no-daemon', '--json', file);
  t.equal(full.code, 1, full.stdout);
  t.match(full.stderr, /a WARC record cannot be written/);
  await disk.free();
  const { code, stdout, stderr } = await cli('gatherer', '--no-daemon', '--json', file);
  t.equal(code, 0, stderr);
  t.match(JSON.parse(stdout), { gathered: { resumed: true, counts: { failed: 0 } }, objects: DOCUMENTS });
});

/** A site of long files, and how much of it the WARC files of a directory have. */
async function filmSite() {
  const files = new Map<string, Buffer>(
    Array.from(
      { length: 8 },
      (_, i) => [`/film${i}`, Buffer.alloc(4 << 20, `bytes of film ${i}\n`)] as const,
    ),
  );
  const site = await Site.start({
    '/': page('Films', [...files.keys()]),
    ...Object.fromEntries(
      Array.from(files, ([path, bytes]) => [
        path,
        (_: unknown, response: ServerResponse) =>
          response.writeHead(200, { 'content-type': 'video/mp4' }).end(bytes),
      ]),
    ),
  });
  const checkArchive = async (t: Test, directory: string): Promise<void> => {
    const archived = new Set<string>();
    for (const name of (await readdir(directory)).filter((found) => /\.warc(?:\.open)?$/.test(found))) {
      const bytes = await readFile(join(directory, name));
      for (let at = 0; at < bytes.length; ) {
        t.equal(bytes.toString('latin1', at, at + 8), 'WARC/1.1', 'a record begins where the last one ends');
        const end = bytes.indexOf('\r\n\r\n', at) + 4;
        const fields = bytes.toString('utf8', at, end);
        const block = bytes.subarray(end, end + Number(/^Content-Length: (\d+)/m.exec(fields)?.[1]));
        const path = /^WARC-Target-URI: \S+(\/film\d)/m.exec(fields)?.[1] ?? '';
        at = end + block.length + 4;
        if (!files.has(path) || !/^WARC-Type: response/m.test(fields)) continue;
        archived.add(path);
        t.notMatch(fields, /WARC-Truncated/);
        t.ok(block.subarray(block.indexOf('\r\n\r\n') + 4).equals(files.get(path)!), `${path} is whole`);
      }
    }
    t.same([...archived].sort(), [...files.keys()]);
  };
  return { site, checkArchive };
}

/** The order of an archive in this directory. */
function archiveOrder(directory: string) {
  const warc = { directory, compress: false, digestHistory: true };
  const settings = { minDelayMs: 0, delayFactor: 0, parallelQueues: 4 };
  return { profile: 'archive', lowDiskMiB: 0, workers: 4, warc, settings };
}

t.test(
  'an archive of long bodies on a disk that becomes full has no false record, and is completed',
  async (t) => {
    const disk = await smallDisk(t, 24);
    if (disk === undefined) return;
    const { site, checkArchive } = await filmSite();
    await using _site = site;
    const top = join(disk.directory, 'top');
    await mkdir(top);
    const order = archiveOrder(join(disk.directory, 'warc'));
    const file = await gatherer(top, { order, data: join(top, 'data'), root: `${site.url}/` });
    const full = await cli('gatherer', '--no-daemon', '--json', file);
    t.equal(full.code, 1, full.stdout);
    t.match(full.stderr, /no space left|disk is full/);
    t.notMatch(full.stderr, CRASH);
    disk.resize(200);
    const { code, stdout, stderr } = await cli('gatherer', '--no-daemon', '--json', file);
    t.equal(code, 0, stderr);
    t.match(JSON.parse(stdout), { gathered: { resumed: true, counts: { failed: 0 } } });
    await checkArchive(t, order.warc.directory);
    t.same(await readdir(join(top, 'data', 'crawl', 'bodies')), [], 'no body is left on disk');
  },
);

// The WARC files alone are on the small disk, or the bodies that wait for them are, too.
for (const onDisk of ['its WARC files', 'all of its data'])
  t.test(`harvest run waits when the disk of ${onDisk} becomes full, and loses nothing`, async (t) => {
    const disk = await smallDisk(t, 24);
    if (disk === undefined) return;
    const { site, checkArchive } = await filmSite();
    await using _site = site;
    const own = await temporaryDirectory(t);
    const order = archiveOrder(join(disk.directory, 'warc'));
    const file = await gatherer(own, { order, data: join(own, 'data'), root: `${site.url}/` });
    const data = join(onDisk === 'its WARC files' ? own : disk.directory, 'run');
    const options = ['--low-disk', '0', '--data', data, ...ANY_PORTS, ...STOP, '--every', '1d', file];
    const waits = /(?:no space left|disk is full)[^\n]*; gathering continues when there is space\.\n/;
    const stopped = start(t, 'run', ...options);
    await stopped.output(waits, 'stderr');
    t.equal(await terminate(t, stopped), 130);
    const program = start(t, 'run', ...options);
    await program.output(waits, 'stderr');
    disk.resize(300);
    await program.output(/ready /);
    t.equal(await terminate(t, program), 0);
    await checkArchive(t, order.warc.directory);
  });

/** A site of pages that link to the next ones. */
function endlessSite(): Promise<Site> {
  const pages = Array.from({ length: 2000 }, (_, i) => [
    `/${i}.html`,
    page(`Page ${i}`, [`/${i + 1}.html`, `/${i + 2}.html`], 'word '.repeat(400)),
  ]);
  return Site.start(Object.fromEntries(pages));
}

t.test('the disk becomes full while a Gatherer with a console gathers', async (t) => {
  const disk = await smallDisk(t, 64);
  if (disk === undefined) return;
  await using site = await endlessSite();
  const top = join(disk.directory, 'top');
  await mkdir(top);
  const data = join(top, 'data');
  const order = { lowDiskMiB: 20, console: { port: 0 } };
  const program = start(
    t,
    ...['gatherer', '--no-daemon', ...STOP],
    await gatherer(top, { order, data, root: `${site.url}/0.html` }),
  );
  await site.served.reached(3);
  await disk.fill();
  const pauses = await program.output(/crawl pauses: /, 'stderr').catch(() => undefined);
  if (pauses !== undefined) {
    const watched = await cli('crawl', 'watch', '--once', '--data', data);
    t.equal(watched.code, 0, watched.stderr);
    t.match(watched.stdout, /less than 20 MiB are free/, 'the console says why it pauses');
  } else t.match(program.stderr, /no space left|disk is full|ENOSPC/, 'it ended before it could pause');
  t.not(await terminate(t, program), 0, 'the gathering is not complete');
});

t.test('the disk becomes full while harvest run gathers', async (t) => {
  const disk = await smallDisk(t, 64);
  if (disk === undefined) return;
  await using site = await endlessSite();
  const options = ['--delay', '0', '--urls', '2000', ...STOP];
  const program = start(t, ...run(disk, '0', ...options, `${site.url}/0.html`));
  await site.served.reached(10);
  await disk.fill();
  await program.output(/no space left|disk is full|ENOSPC/, 'stderr');
  t.not(await terminate(t, program), 0, 'the gathering is not complete');
});

t.test('the console, the metrics, the reports and the terminal tell why a crawl pauses', async (t) => {
  const crawl = new FakeCrawl();
  crawl.state = 'paused';
  crawl.snapshotChanges = { pauseReason: 'less than 5 MiB are free in /data (lowDiskMiB)' };
  const snapshot = crawl.snapshot();
  t.match(String(stateSection(snapshot)), /less than 5 MiB are free in \/data/);
  t.match(metricsText(snapshot), /^harvest_crawl_disk_low\{.*\} 1$/m);
  t.match(JSON.stringify(await makeReport('crawl', crawl)), /less than 5 MiB/);
  t.match(totalLines(snapshot)[0], /less than 5 MiB/);
  t.match(progressLine(snapshot), /less than 5 MiB/);
});
