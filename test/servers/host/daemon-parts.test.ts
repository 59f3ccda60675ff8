import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import t, { type Test } from 'tap';
import { StorageError, UsageError } from '../../../protocols/errors.js';
import {
  createDebug,
  createLoggerOn,
  DebugFlags,
  type HostConnection,
  harvestLines,
  openLog,
  PidFile,
  processIdentity,
  removePidFile,
  runningProcess,
  stopProcess,
  traceConnection,
} from '../../../servers/host/index.js';
import { PipePair } from '../../../servers/host/pipe-pair.js';
import { PLAIN_NODE } from '../../helpers/plain-node.js';

async function directory(t: Test): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'host-test-'));
  t.teardown(() => rm(path, { recursive: true, force: true }));
  return path;
}

t.test('GATHERD-12.5, G-149, G-151 debug flags', (t) => {
  const cases: [
    texts: string[],
    environment: string,
    shown: [number, number][],
    hidden: [number, number][],
  ][] = [
    [[], '', [], [[69, 1]]],
    [
      ['-D69,5'],
      '',
      [
        [69, 1],
        [69, 5],
      ],
      [
        [69, 6],
        [70, 1],
      ],
    ],
    [['69,5'], '', [[69, 5]], [[69, 6]]],
    [['-D69'], '', [[69, 9]], [[68, 1]]],
    [
      ['-D68,5 -D44,1'],
      '',
      [
        [68, 5],
        [44, 1],
      ],
      [[44, 2]],
    ],
    [
      ['-D1,1', '-D255,9'],
      '',
      [
        [1, 1],
        [255, 9],
      ],
      [],
    ],
    [
      [],
      '-D20,1 -D23,1 -D63,1',
      [
        [20, 1],
        [63, 1],
      ],
      [[20, 2]],
    ],
    [['-D20,3'], '-D20,9', [[20, 3]], [[20, 4]]],
    [
      [],
      'yes -D999,1 -D20,0 69,9 -D21,1',
      [[21, 1]],
      [
        [20, 1],
        [69, 1],
      ],
    ],
  ];
  for (const [texts, environment, shown, hidden] of cases) {
    const flags = DebugFlags.parse(texts, environment);
    const name = `${texts.join(' ')} | ${environment}`;
    for (const [section, level] of shown) t.ok(flags.shows(section, level), `${name}: ${section},${level}`);
    for (const [section, level] of hidden)
      t.notOk(flags.shows(section, level), `${name}: not ${section},${level}`);
    t.equal(flags.any, shown.length > 0);
  }
  for (const bad of ['-D', '-D0,1', '-D256,1', '-D69,0', '-D69,10', '-D69,', '-Dx', '-D6 9,x', '--D69'])
    t.throws(() => DebugFlags.parse([bad]), UsageError, bad);
  t.end();
});

t.test('GATHERD-12.5 a debug line is written if its section is on, and not computed otherwise', (t) => {
  const lines: string[] = [];
  const log = createLoggerOn(harvestLines({ write: (line) => void lines.push(line) }), {
    program: 'gatherd',
    level: 'debug',
  });
  const debug = createDebug(DebugFlags.parse(['-D69,5']), log);
  debug(69, 5, 'plain');
  debug(69, 1, () => 'made');
  debug(69, 9, () => {
    throw new Error('nobody asked for this');
  });
  t.equal(lines.length, 2);
  t.match(lines[0], /^gatherd: \d{6} \d\d:\d\d:\d\d: \[69,5\] plain\n$/);
  t.match(lines[1], /\[69,1\] made\n$/);
  t.same([debug.shows(69, 5), debug.shows(69, 6)], [true, false]);
  t.end();
});

t.test(
  'a traced connection shows the beginning of each chunk in printable form and passes it on unchanged',
  async (t) => {
    const written: Uint8Array[] = [];
    const ended: string[] = [];
    const plain: HostConnection = {
      peer: { address: '192.0.2.7', port: 1, name: async () => undefined },
      signal: new AbortController().signal,
      async *chunks() {
        yield Buffer.from('HELP\r\n');
      },
      async write(bytes) {
        written.push(bytes);
      },
      deliver(bytes) {
        return this.write(bytes);
      },
      async end() {
        ended.push('end');
      },
      destroy: () => void ended.push('destroy'),
    };
    const lines: string[] = [];
    const traced = traceConnection(plain, (text) => void lines.push(text()));
    const heard: string[] = [];
    for await (const chunk of traced.chunks()) heard.push(Buffer.from(chunk).toString());
    const long = Buffer.alloc(200, 'x');
    await traced.write(long);
    await traced.deliver(Buffer.from('\0'));
    await traced.end();
    traced.destroy();
    t.same(heard, ['HELP\r\n']);
    t.equal(written[0], long);
    t.same(ended, ['end', 'destroy']);
    t.equal(lines[0], '192.0.2.7: received 6 bytes: "HELP\\r\\n"');
    t.equal(lines[1], `192.0.2.7: sends 200 bytes: "${'x'.repeat(96)}"...`);
    t.equal(lines[2], '192.0.2.7: sends 1 bytes: "\\u0000"');
  },
);

t.test('a log continues in a new file after rotation, and survives a full disk', async (t) => {
  const path = await directory(t);
  const file = join(path, 'gatherd.log');
  const { log, reopen } = openLog({ program: 'gatherd', file });
  log.info('one');
  await rename(file, `${file}.1`);
  log.info('two');
  reopen();
  log.info('three');
  t.match(await readFile(`${file}.1`, 'utf8'), /: one\n.*: two\n$/s);
  t.match(await readFile(file, 'utf8'), /^gatherd: \d{6} \d\d:\d\d:\d\d: three\n$/);
  t.throws(() => openLog({ program: 'gatherd', file: join(file, 'below') }), StorageError);

  const full = openLog({ program: 'gatherd', file: '/dev/full' });
  t.doesNotThrow(() => {
    for (let i = 0; i < 3; i++) full.log.info('for nobody');
    full.reopen();
    full.log.info('still alive');
  });
});

t.test('a pid file appears complete, names its process, and is removed by its owner only', async (t) => {
  const path = await directory(t);
  const file = join(path, 'gatherd.pid');
  const own = await PidFile.create(file, 'gatherd');
  const identity = await processIdentity(process.pid);
  t.equal(await readFile(file, 'utf8'), `${process.pid}\n${identity}\n\n`);
  await own.setAddress('127.0.0.1:8500');
  t.equal(await readFile(file, 'utf8'), `${process.pid}\n${identity}\n127.0.0.1:8500\n`);
  t.same(await runningProcess(file), { pid: process.pid, identity, address: '127.0.0.1:8500' });
  await t.rejects(PidFile.create(file, 'gatherd'), {
    name: 'StorageError',
    message: `gatherd is already running here (process ${process.pid}, at 127.0.0.1:8500)`,
  });
  t.same(await readdir(path), ['gatherd.pid'], 'no drafts are left');
  await writeFile(file, 'somebody else');
  await own.close();
  t.equal(await readFile(file, 'utf8'), 'somebody else');
  const next = await PidFile.create(file, 'gatherd');
  await next.close();
  t.same(await readdir(path), []);
  await t.rejects(PidFile.create(join(path, 'none', 'x.pid'), 'gatherd'), StorageError);
});

t.test('a pid file without an identity replaces any other, and only its process removes it', async (t) => {
  const path = await directory(t);
  const file = join(path, 'logs', 'refererd.pid');
  const first = await PidFile.replace(file);
  t.equal(await readFile(file, 'utf8'), `${process.pid}\n`);
  await writeFile(file, '1\n');
  await first.close();
  t.equal(await readFile(file, 'utf8'), '1\n', 'another process has replaced it');
  await removePidFile(file, 2);
  t.equal(await readFile(file, 'utf8'), '1\n');
  await using second = await PidFile.replace(file);
  await second.close();
  await removePidFile(file, process.pid);
  t.same(await readdir(join(path, 'logs')), []);
  await t.rejects(PidFile.replace(path), {
    name: 'StorageError',
    message: /the pid file .* cannot be written/,
  });
  t.same(await readdir(path), ['logs'], 'no draft is left');
});

t.test('only one of many processes takes over a stale pid file', async (t) => {
  const path = await directory(t);
  const file = join(path, 'gatherd.pid');
  for (let round = 0; round < 8; round++) {
    await writeFile(file, `${process.pid}\n1@another-boot\n127.0.0.1:1\n`);
    const results = await Promise.allSettled(
      Array.from({ length: 5 }, () => PidFile.create(file, 'gatherd')),
    );
    const winners = results.filter((result) => result.status === 'fulfilled');
    t.equal(winners.length, 1, `round ${round}`);
    for (const { value } of winners) await value.close();
  }
  t.same(await readdir(path), []);
});

t.test('GATHERD-11.3 only the process that the pid file identifies is stopped', async (t) => {
  const path = await directory(t);
  const file = join(path, 'gatherd.pid');
  const child = spawn('env', [...PLAIN_NODE, '-e', 'setInterval(() => {}, 1000); console.log("up")'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.teardown(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  const pid = child.pid ?? 0;
  const identity = (await processIdentity(pid)) ?? '';
  await writeFile(file, `${pid}\n${identity}0\n127.0.0.1:1\n`);
  t.equal(await runningProcess(file), undefined, 'another start time');
  t.equal(await stopProcess({ pid, identity: `${identity}0`, address: '' }, { timeoutMs: 1000 }), true);
  t.equal(child.exitCode ?? child.signalCode, null, 'it was left alone');
  for (const damaged of ['', 'x', `${pid}`, `-1\n${identity}\n\n`, `${pid} \n${identity}\n\n`]) {
    await writeFile(file, damaged);
    t.equal(await runningProcess(file), undefined, JSON.stringify(damaged));
  }
  await writeFile(file, `${pid}\n${identity}\n127.0.0.1:1\n`);
  const record = await runningProcess(file);
  t.ok(record);
  if (record === undefined) return;
  const ended = once(child, 'exit');
  t.equal(await stopProcess(record, { timeoutMs: 10_000 }), true);
  t.same(await ended, [null, 'SIGTERM']);
  t.equal(await runningProcess(file), undefined);
  t.equal(await processIdentity(pid), undefined);
});

t.test(
  'GATHERD-11.2 a pair of pipes is one stream: backpressure, halves that end apart, failures',
  async (t) => {
    const input = new PassThrough();
    const written: string[] = [];
    let release: () => void = () => {};
    const output = new Writable({
      highWaterMark: 4,
      write(chunk, _encoding, done) {
        written.push(String(chunk));
        release = done;
      },
    });
    const pair = new PipePair(input, output, { highWaterMark: 4 });
    t.equal(pair.write('abcdef'), false, 'the output is slow');
    const drained = once(pair, 'drain');
    release();
    await drained;
    input.end('xyz');
    const heard: string[] = [];
    for await (const chunk of pair.iterator({ destroyOnReturn: false })) heard.push(String(chunk));
    t.same(heard, ['xyz']);
    t.equal(pair.bytesRead, 3);
    t.equal(pair.writable, true, 'the other half is open');
    pair.end('more');
    await new Promise((resolve) => setImmediate(resolve));
    const finished = once(pair, 'finish');
    release();
    await finished;
    t.same(written, ['abcdef', 'more']);

    const broken = new PipePair(new PassThrough(), new PassThrough().destroy(), { highWaterMark: 4 });
    const failed = new Promise((resolve) => broken.once('error', resolve));
    broken.write('x');
    t.match(await failed, { code: 'ERR_STREAM_DESTROYED' });
    t.equal(broken.destroyed, true);
  },
);
