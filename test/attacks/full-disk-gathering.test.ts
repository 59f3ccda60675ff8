// Gathering onto a full disk: the run waits, says so everywhere, and goes on when there is space.
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { progressLine, totalLines } from '../../servers/cli/crawl/tables.js';
import { metricsText } from '../../servers/crawler/console/metrics.js';
import { stateSection } from '../../servers/crawler/console/sections.js';
import { crawlReport } from '../../servers/crawler/logs/reports.js';
import { CliProcess, cli } from '../helpers/cli.js';
import { smallDisk } from '../helpers/small-disk.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { FakeCrawl } from '../servers/crawler/fake-control.js';
import { writeDocuments } from './documents.js';

const DOCUMENTS = 300;
const PORTS = ['--gatherd-port', '0', '--broker-port', '0', '--web-port', '0', '--references-port', '0'];

const documents = await writeDocuments(join(await temporaryDirectory(t), 'documents'), DOCUMENTS);

async function untilPrinted(program: CliProcess, pattern: RegExp): Promise<void> {
  const end = Date.now() + 60_000;
  while (!pattern.test(program.stderr)) {
    if (Date.now() > end || program.child.exitCode !== null)
      throw new Error(`${pattern} is not in ${program.stderr}`);
    await pause(50);
  }
}

function start(t: Test, ...args: readonly string[]): CliProcess {
  const program = new CliProcess(args);
  t.teardown(() => program.kill('SIGKILL'));
  return program;
}

t.test('harvest run waits on a full disk, and goes on when there is space', async (t) => {
  const disk = await smallDisk(t, 3);
  if (disk === undefined) return;
  const program = start(
    t,
    'run',
    '--low-disk',
    '0',
    '--data',
    join(disk.directory, 'data'),
    ...PORTS,
    documents,
  );
  await untilPrinted(program, /no space left.*; it goes on when there is space\.\n/);
  disk.resize(200);
  const [, broker = ''] = await program.output(/ready .*broker=(\S+)/);
  t.match(program.stderr, new RegExp(`has ${DOCUMENTS} objects`));
  t.equal((await cli('query', broker, 'document')).code, 0);
  program.kill('SIGTERM');
  t.equal((await program.finished).code, 0);
});

t.test('a crawl below the limit of free space pauses, says so, and resumes by itself', async (t) => {
  const disk = await smallDisk(t, 100);
  if (disk === undefined) return;
  await disk.fill(30 << 20);
  const program = start(
    t,
    'run',
    '--low-disk',
    '50',
    '--data',
    join(disk.directory, 'data'),
    ...PORTS,
    documents,
  );
  await untilPrinted(
    program,
    /crawl pauses: less than 50 MiB are free in .*; it resumes when there is space\n/,
  );
  await disk.free();
  await untilPrinted(program, /crawl resumes: there is space again\n/);
  await untilPrinted(program, new RegExp(`has ${DOCUMENTS} objects`));
  program.kill('SIGTERM');
  t.equal((await program.finished).code, 0);
});

t.test('SIGTERM ends a run that waits for space', async (t) => {
  const disk = await smallDisk(t, 3);
  if (disk === undefined) return;
  for (const [lowDisk, sentence] of [
    ['0', /it goes on when there is space/],
    ['50', /crawl pauses: /],
  ] as const) {
    const data = join(disk.directory, `data${lowDisk}`);
    const program = start(t, 'run', '--low-disk', lowDisk, '--data', data, ...PORTS, documents);
    await untilPrinted(program, sentence);
    const begin = performance.now();
    program.kill('SIGTERM');
    t.equal((await program.finished).code, 130);
    t.ok(performance.now() - begin < 10_000);
    disk.resize(20);
  }
});

t.test('the console, the metrics, the reports and the terminal tell why a crawl pauses', async (t) => {
  const snapshot = {
    ...new FakeCrawl().snapshot(),
    state: 'paused' as const,
    pauseReason: 'less than 5 MiB are free in /data (lowDiskMiB)',
  };
  t.match(String(stateSection(snapshot)), /less than 5 MiB are free in \/data/);
  t.match(metricsText(snapshot), /^harvest_crawl_disk_low\{.*\} 1$/m);
  t.match(JSON.stringify(crawlReport(snapshot)), /less than 5 MiB/);
  t.match(totalLines(snapshot)[0], /less than 5 MiB/);
  t.match(progressLine(snapshot), /less than 5 MiB/);
});
