// SIGTERM ends every server whose disk is full.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { CliProcess, cli } from '../helpers/cli.js';
import { freePort } from '../helpers/daemon.js';
import { page, Site } from '../helpers/site.js';
import { smallDisk } from '../helpers/small-disk.js';
import { publishFixture } from '../storage/references/fixture.js';

// The programs end within 10 s (`--stop-limit`); the rest is for a busy machine.
const IN_TIME_MS = 30_000;
const PORTS = ['--gatherd-port', '0', '--broker-port', '0', '--web-port', '0', '--references-port', '0'];

async function stop(t: Test, program: CliProcess): Promise<number | null> {
  const begin = performance.now();
  program.kill('SIGTERM');
  const { code, signal, stderr } = await program.finished;
  const milliseconds = performance.now() - begin;
  t.ok(milliseconds < IN_TIME_MS, `${milliseconds} ms`);
  t.not(signal, 'SIGKILL');
  t.notMatch(stderr, /internal error|\n {4}at |event loop is blocked/);
  return code;
}

function start(t: Test, ...args: readonly string[]): CliProcess {
  const program = new CliProcess(args);
  t.teardown(() => program.kill('SIGKILL'));
  return program;
}

async function untilRequests(site: Site, count: number): Promise<void> {
  const end = Date.now() + 60_000;
  while (site.paths.length < count) {
    if (Date.now() > end) throw new Error(`${site.paths.length} requests`);
    await pause(20);
  }
}

/** A site of pages that link to the next ones. */
function endlessSite(): Promise<Site> {
  const pages = Array.from({ length: 2000 }, (_, i) => [
    `/${i}.html`,
    page(`Page ${i}`, [`/${i + 1}.html`, `/${i + 2}.html`], 'word '.repeat(400)),
  ]);
  return Site.start(Object.fromEntries(pages));
}

t.test('gatherer and its console, in the middle of gathering', async (t) => {
  const disk = await smallDisk(t, 64);
  if (disk === undefined) return;
  await using site = await endlessSite();
  const directory = join(disk.directory, 'top');
  await mkdir(directory);
  const file = join(directory, 'example.cf');
  await writeFile(join(directory, 'order.json'), JSON.stringify({ lowDiskMiB: 20, console: { port: 0 } }));
  await writeFile(
    file,
    `Gatherer-Name: example
Top-Directory: ${directory}
Data-Directory: ${join(directory, 'data')}
Crawl-Order: order.json
Access-Delay: 0
<RootNodes>
${site.url}/0.html URL=2000 Delay=0
</RootNodes>
`,
  );
  const program = start(t, 'gatherer', '--no-daemon', file);
  await untilRequests(site, 3);
  await disk.fill();
  const end = Date.now() + 60_000;
  while (!program.stderr.includes('crawl pauses: ') && program.child.exitCode === null && Date.now() < end)
    await pause(50);
  if (program.child.exitCode === null) {
    const watched = await cli('crawl', 'watch', '--once', '--data', join(directory, 'data'));
    t.equal(watched.code, 0, watched.stderr);
    t.match(watched.stdout, /less than 20 MiB are free/, 'the console says why it pauses');
  } else t.match(program.stderr, /no space left|disk is full|ENOSPC/, 'it ended before it could pause');
  t.not(await stop(t, program), 0, 'the gathering is not complete');
});

t.test('harvest run, in the middle of gathering', async (t) => {
  const disk = await smallDisk(t, 64);
  if (disk === undefined) return;
  await using site = await endlessSite();
  const data = join(disk.directory, 'data');
  const program = start(
    t,
    ...['run', '--low-disk', '0', '--delay', '0', '--urls', '2000', '--data', data],
    ...PORTS,
    `${site.url}/0.html`,
  );
  await untilRequests(site, 10);
  await disk.fill();
  await pause(500);
  t.not(await stop(t, program), 0, 'the gathering is not complete');
});

t.test('refererd, whose log and pid file are on the full disk', async (t) => {
  const disk = await smallDisk(t, 8);
  if (disk === undefined) return;
  await publishFixture(join(disk.directory, 'base'));
  await mkdir(join(disk.directory, 'logs'));
  await mkdir(join(disk.directory, 'conf'));
  await writeFile(join(disk.directory, 'conf', 'hosts.allow'), '127.0.0.*\n');
  const port = await freePort();
  const file = join(disk.directory, 'referer.cf');
  await writeFile(
    file,
    `rootdir = ${disk.directory}
referername = 127.0.0.1
refererport = ${port}
logfile = logs/refererd.log
pidfile = logs/refererd.pid
debuglevel = 80
refdb = base/refs.db
urldb = base/url.db
${process.getuid?.() === 0 ? 'user = root\ngroup = root\n' : ''}`,
  );
  const program = start(t, 'refererd', '-c', file, '--foreground');
  await program.output(/^ready refererd=/m);
  await disk.fill();
  for (let i = 0; i < 3; i++) {
    const answer = await cli('references', `127.0.0.1:${port}`, '10');
    t.equal(answer.code, 0, answer.stderr);
  }
  await stop(t, program);
  t.not(program.child.exitCode, null);
});
