// The broker and the commands that administer it, as processes; and the timetable of its events.
import { readFileSync, statSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Timetable } from '../../servers/broker/admin/timetable.js';
import { isDueForRefresh } from '../../servers/broker/index.js';
import { originalOptions } from '../../servers/cli/options/original-options.js';
import { runningProcess } from '../../servers/host/index.js';
import { BrokerStore } from '../../storage/index.js';
import { cli, startServer } from '../helpers/cli.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { waitUntil } from '../helpers/wait-until.js';
import {
  corpus,
  document,
  exchange,
  NOW,
  openBroker,
  startScripted,
  storeObject,
} from '../servers/broker/helpers.js';

// Each test starts processes, which takes long on a busy machine.
const READY = /^ready broker=127\.0\.0\.1:(\d+)(?: .*)?\n/m;

/** Creates the directory of a Broker with its configuration files, on a free port. */
async function createBrokerDirectory(
  t: Test,
  conf = '',
  points = '',
): Promise<{ directory: string; file: string }> {
  const directory = await temporaryDirectory(t);
  await mkdir(join(directory, 'admin'));
  const file = join(directory, 'admin', 'broker.conf');
  await writeFile(file, `Broker-Port 0\nAdmin-Password open sesame\n${conf}`);
  await writeFile(join(directory, 'admin', 'Collection.conf'), `# host port type filter\n${points}`);
  return { directory, file };
}

t.test('BRK-7.10 one timetable: due events run in sequence, and their outcome is in their row', async (t) => {
  let now = 1000;
  const runs: string[] = [];
  const failures: unknown[] = [];
  const timetable = new Timetable(
    () => now,
    (event, error) => failures.push([event.name, String(error)]),
  );
  t.teardown(() => timetable[Symbol.dispose]());
  let interval: number | undefined = 100;
  timetable.add({
    name: 'first',
    description: 'one',
    next: (at) => (interval === undefined ? undefined : at + interval),
    run: async () => {
      await timetable.observe(
        'first',
        async () => runs.push(`first at ${now}`),
        (count) => `${count} runs`,
      );
    },
  });
  timetable.add({
    name: 'second',
    description: 'two',
    next: (at) => at + 250,
    run: async () => {
      runs.push(`second at ${now}`);
      throw new Error('broken');
    },
  });
  await timetable.tick();
  t.same(runs, [], 'no event runs before the start');
  timetable.start();
  t.match(timetable.rows(), [
    { name: 'first', next: 1100, running: false, lastFailed: false },
    { name: 'second', next: 1250 },
  ]);
  now = 1100;
  await timetable.tick();
  now = 1260;
  await timetable.tick();
  t.same(runs, ['first at 1100', 'first at 1260', 'second at 1260']);
  t.same(failures, [['second', 'Error: broken']]);
  t.match(timetable.rows(), [{ next: 1360, lastStarted: 1260, lastOutcome: '2 runs' }, { next: 1510 }]);
  interval = undefined;
  timetable.reschedule();
  t.equal(timetable.rows()[0]?.next, undefined, 'an event that is turned off has no next time');
  await t.rejects(
    timetable.observe('first', () => Promise.reject(new Error('no')), String),
    { message: 'no' },
  );
  t.match(timetable.rows()[0], { lastOutcome: 'no', lastFailed: true, running: false });
});

t.test('BRK-7.10, 7.11 the broker’s own timetable; an interval of 0 turns an event off', async (t) => {
  const { broker } = await openBroker(t, {
    conf: 'Collection-Interval 3600\nCollection-Time 00:10\nClean-Interval 60\n',
  });
  t.same(
    broker.timetable.rows().map(({ name, next }) => [name, next]),
    [
      ['Collection', undefined],
      ['Cleaning', undefined],
      ['Registry compression', undefined],
      ['Refresh marks', undefined],
    ],
    'before the start no event has a next time',
  );
  t.match(broker.timetable.rows()[1], { lastStarted: NOW, lastOutcome: '0 expired objects deleted' });
  await broker.start('nocol');
  const [collection, cleaning, compression, marks] = broker.timetable.rows();
  t.equal((collection?.next ?? 0) % 3600, 600, 'ten minutes past the hour');
  t.same([cleaning?.next, compression?.next, marks?.next], [NOW + 60, NOW + 60, NOW + 60]);
  broker.settings.set('Clean-Interval', '0');
  t.same([broker.timetable.rows()[1]?.next, broker.timetable.rows()[3]?.next], [undefined, undefined]);
  await broker.collections.run();
  t.match(broker.timetable.rows()[0], {
    lastStarted: NOW,
    lastOutcome: '0 objects received',
    lastFailed: false,
  });
});

t.test('BRK-7.14 refresh marks: due one second after Update-Time + Refresh-Rate', async (t) => {
  const { broker } = await openBroker(t);
  for (const [url, age, name] of [
    ['http://a.example/', 604_801, 'Late'],
    ['http://b.example/', 604_800, 'In time'],
    ['http://c.example/', 700_000, 'Late'],
  ] as const) {
    await storeObject(broker, document(url, { Title: 'x' }, NOW - age, name));
  }
  t.equal(broker.maintenance.refreshMarks, undefined);
  t.same(await broker.maintenance.markForRefresh(), {
    markedAt: NOW,
    due: 2,
    gatherers: [{ name: 'Late (gatherer.example.org)', due: 2 }],
  });
  const [entry] = await broker.store.byUrl('http://b.example/');
  t.same(entry && [isDueForRefresh(entry, NOW), isDueForRefresh(entry, NOW + 1)], [false, true]);
  t.equal(broker.timetable.rows()[3]?.lastOutcome, '2 objects are due for refresh');
});

t.test('BRK-6 the program: port 0, pid file, RunBroker, SIGHUP, administration, SIGTERM', async (t) => {
  const expired = (text: string) => text.replace(/Time-to-Live\{7\}:\t2419200/, 'Time-to-Live{1}:\t0');
  const documents = corpus().map(({ text }) => ({ updateTime: NOW, text: expired(text) }));
  const gatherd = await startScripted(t, documents);
  const { directory, file } = await createBrokerDirectory(
    t,
    'Log-Types Collection Admin Query\n',
    `127.0.0.1 ${gatherd.port} 1 --\n`,
  );
  const secret = join(directory, 'secret');
  await writeFile(secret, 'open sesame\nnot this\n');
  const args = ['broker', '-nocol', '-D76,1', '-D71', '-D77', file];
  const { server: program, found } = await startServer(t, READY, args);
  const port = Number(found[0]);
  const address = `127.0.0.1:${port}`;
  const pidPath = join(directory, 'admin', 'broker.pid');
  t.match(await runningProcess(pidPath), { pid: program.child.pid, address });
  t.equal(readFileSync(pidPath, 'utf8'), `${program.child.pid}\n`, 'one number');
  t.match(program.stderr, /\[77,1\] started, nocol\n/, 'BRK-6.4, 6.5');
  t.same(gatherd.commands, [], 'BRK-6.4 -nocol: no Gatherer was contacted');

  const admin = (...words: readonly string[]) =>
    cli('broker', 'admin', '--password-file', secret, address, ...words);
  const [second, dump, wrong] = await Promise.all([
    cli('broker', file),
    cli('dumpregistry', directory),
    cli('broker', 'admin', '--password', 'wrong', address, 'collection'),
  ]);
  t.match(second, { code: 1, stderr: /broker is already running here \(process \d+, at 127/ });
  t.match(dump, { code: 1, stderr: /a broker is running in .* \(process \d+\); stop it first/ });
  t.match(wrong, { code: 1, stdout: '', stderr: 'broker admin: Invalid password\n' }, 'BRK-5.2');

  t.match(await admin('collection'), { code: 0, stdout: 'Collection started\n', stderr: '' });
  // The command is answered immediately (BRK-5.4); the log tells when it is done.
  const log = join(directory, 'admin', 'LOG');
  await waitUntil(async () => / Admin-Return: | Collection: 3 objects/.test(await readFile(log, 'utf8')));
  t.match(
    await exchange(port, '#USER #opaque #END Mosaic\r\n'),
    /120 - http:\/\/www\.example\.org\/mosaic\.html\n/,
  );
  const stats = await admin('do-stats', '--json');
  t.match(JSON.parse(stats.stdout), { command: 'do-stats', ok: true });
  t.match(
    stats.stdout,
    /"Objects: 3".*"Event Collection: next 20\d\d-[^"]*; last 20[^"]*, 3 objects received"/,
  );

  await rename(log, `${log}.moved`);
  program.kill('SIGHUP');
  await program.output(/SIGHUP: logs reopened/, 'stderr');
  const [rotated, restart] = await Promise.all([
    admin('#rotate-log'),
    cli('broker-restart', '-password', 'open sesame', '127.0.0.1', String(port)),
  ]);
  t.match(rotated, { code: 0, stdout: /^Log rotated: the old one is .*\/LOG\.\d{8}\n$/ });
  t.match(restart, { code: 0, stdout: 'Restart started\n' }, 'BRK-6.7 BrokerRestart');

  const script = join(directory, 'RunBroker');
  t.equal(statSync(script).mode & 0o777, 0o755);
  t.match(
    readFileSync(script, 'utf8'),
    /^#!\/bin\/sh\n# Written by harvest-kit.*\n#.*\ncd '.*' \|\| exit 1\nexec .* 'broker' '--detach' /s,
  );

  program.kill('SIGTERM');
  t.match(await program.finished, {
    code: 0,
    signal: null,
    stderr: /SIGTERM: stopping, \d+ connections\n.*stopped\n$/s,
  });
  t.equal(await runningProcess(pidPath), undefined);
  t.match(program.stderr, /\[71,1\] 127\.0\.0\.1:\d+: collecting, type 1\n/);
  t.notMatch(program.stderr, /sesame/);
  t.match(await admin('collection'), { code: 3 }, 'the broker has ended');
  const page = await cli('mkbrokerstats', directory);
  t.match(page, {
    code: 0,
    stdout: /^<!DOCTYPE html>.*<h1>Statistics<\/h1>.*BrokerQuery\.cgi\?.*<\/html>\n$/s,
  });
  t.notMatch(page.stdout, /<link|<script/, 'BRK-6.7 the page needs no other file');
  const dumped = await cli('dumpregistry', directory);
  const head = 'OID: 1\nURL: http://www.example.org/gopher.html\nGatherer-Name: Example Gatherer\n';
  t.ok(dumped.stdout.startsWith(head), 'REG-32');
  t.match(dumped.stdout, /\nTime-to-Live: 0\nMD5:\nDescription: About gopher and its menus\n\nOID: 2\n/);
});

t.test('BRK-6.7 dumpregistry -count', async (t) => {
  const { broker, directory } = await openBroker(t);
  for (const { text } of corpus()) await storeObject(broker, text);
  await broker.maintenance.remove([2]);
  await broker.close();
  const counted = await cli('dumpregistry', '-count', directory);
  t.match(counted, { code: 0, stdout: 'Records: 2\nValid: 2\nDeleted: 0\n' });
});

t.test('BRK-6.1, REG-51: --detach and #shutdown: broker.out, and a clean end', async (t) => {
  const { directory, file } = await createBrokerDirectory(t);
  const started = await cli('broker', '--detach', '-nocol', file);
  const [, address = '', pid = ''] = /^ready broker=(\S+) pid=(\d+)\n$/.exec(started.stdout) ?? [];
  t.equal(started.code, 0, started.stderr);
  t.teardown(() => {
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // Expected: the broker has ended.
    }
  });
  const stopped = await cli('broker', 'admin', '--password', 'open sesame', address, 'shutdown');
  t.match(stopped, { code: 0, stdout: 'Shutdown started\n' });
  const pidFile = join(directory, 'admin', 'broker.pid');
  await waitUntil(async () => (await runningProcess(pidFile)) === undefined);
  t.match(readFileSync(join(directory, 'broker.out'), 'utf8'), /#shutdown: stopping, .*stopped\n$/s);
});

t.test('BRK-6, 5.1 wrong usage is reported in one sentence', async (t) => {
  const { directory, file } = await createBrokerDirectory(t, 'Max-Results many\n');
  const [conf, both, unknown, command, noPassword, none] = await Promise.all([
    cli('broker', file),
    cli('broker', '-new', '-nocol', file),
    cli('broker', '-D300', file),
    cli('broker', 'admin', '--password', 'x', 'localhost', 'frobnicate'),
    cli('broker', 'admin', 'localhost', 'collection'),
    cli('dumpregistry', directory),
  ]);
  t.match(conf, {
    code: 2,
    stderr: `harvest: ${file}:3: Max-Results: must be a whole number from 1 to 2147483647\n`,
  });
  t.match(both, { code: 2, stderr: 'harvest: -new and -nocol are mutually exclusive\n' });
  t.match(unknown, { code: 2, stderr: /a debug flag is -Dsection,level/ });
  t.match(command, { code: 2, stderr: 'harvest: unknown administrative command #frobnicate\n' });
  t.match(noPassword, { code: 2, stderr: /a password is required/ });
  t.match(none, { code: 1, stderr: /^harvest: / });
  await t.rejects(
    BrokerStore.open(join(directory, 'store'), { create: false }),
    { code: 'ERR_STORAGE' },
    'no store is created',
  );
});

t.test('BRK-6.7 the original options', (t) => {
  const rewrite = (line: string) =>
    originalOptions(['node', 'harvest', ...line.split(' ')])
      .slice(2)
      .join(' ');
  t.equal(rewrite('dumpregistry -count dir'), 'dumpregistry --count dir');
  t.equal(rewrite('broker-restart -password x host 1'), 'broker-restart --password x host 1');
  t.end();
});
