// Log files that are never waited for: blocks, rotation, full disks, pipes that are not read, the last lines of
// a process.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, existsSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { LogFile } from '../../../servers/host/index.js';
import { Random } from '../../helpers/random.js';
import { SEED } from '../../helpers/seed.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { waitUntil } from '../../helpers/wait-until.js';

const HOST = new URL('../../../servers/host/index.js', import.meta.url).href;

/** Runs a module that has `LogFile`, and returns the process. */
function runWithLogFile(code: string, stdio: 'ignore' | 'pipe' = 'ignore') {
  const source = `import { LogFile } from ${JSON.stringify(HOST)};\n${code}`;
  const words = ['--input-type=module', '-e', source];
  return spawn(process.execPath, words, { stdio: ['ignore', 'pipe', stdio] });
}

t.test('lines reach the file soon, after a full block, or after a delay', async (t) => {
  const root = await temporaryDirectory(t);
  const path = join(root, 'logs', 'of', 'a.log');
  using file = new LogFile(path);
  t.same(file.directoriesMade, [join(root, 'logs', 'of'), join(root, 'logs')]);
  file.write('one');
  await file.flush();
  t.equal(await readFile(path, 'utf8'), 'one\n');
  using block = new LogFile(path, { blockLength: 8, flushMs: 60_000 });
  t.same(block.directoriesMade, []);
  block.write('two');
  await pause(20);
  t.equal(await readFile(path, 'utf8'), 'one\n');
  block.write('three');
  await waitUntil(async () => (await readFile(path, 'utf8')).endsWith('two\nthree\n'));
  block.close();
  using timed = new LogFile(path, { blockLength: 8, flushMs: 5 });
  timed.write('x');
  await waitUntil(async () => (await readFile(path, 'utf8')).endsWith('\nx\n'));
  timed.write('last');
  timed.close();
  timed.write('lost');
  timed.close();
  await waitUntil(async () => (await readFile(path, 'utf8')).endsWith('\nlast\n'));
  t.equal(await readFile(path, 'utf8'), 'one\ntwo\nthree\nx\nlast\n');
  t.throws(() => new LogFile(join(path, 'below')), { name: 'StorageError', message: /cannot be opened/ });
});

t.test('a log is rotated, reopened, continued under another path; no line changes its file', async (t) => {
  const root = await temporaryDirectory(t);
  const [path, other] = [join(root, 'a.log'), join(root, 'b.log')];
  using file = new LogFile(path, { blockLength: 1000 });
  const text = (name: string) => readFile(join(root, name), 'utf8');
  file.write('one');
  t.equal(file.rotate('old'), `${path}.old`);
  file.write('two');
  t.equal(file.rotate('old'), `${path}.old.1`, 'a rotation overwrites no file');
  file.write('three');
  await rename(path, `${path}.moved`);
  file.reopen();
  file.write('four');
  await file.flush();
  await rm(path);
  t.equal(file.rotate('old'), undefined, 'a file that was removed is created again');
  file.reopen(other);
  t.equal(file.path, other);
  file.write('five');
  t.throws(() => file.reopen(join(other, 'below')), { name: 'StorageError' });
  file.write('six');
  await file.flush();
  t.same(
    [await text('a.log.old'), await text('a.log.old.1'), await text('a.log.moved')],
    ['one\n', 'two\n', 'three\n'],
  );
  t.same([await text('a.log'), await text('b.log')], ['', 'five\nsix\n']);
  t.same((await readdir(root)).sort(), ['a.log', 'a.log.moved', 'a.log.old', 'a.log.old.1', 'b.log']);
});

t.test('lines of many turns arrive in their order, and only once', async (t) => {
  const path = join(await temporaryDirectory(t), 'a.log');
  using file = new LogFile(path);
  const lines: string[] = [];
  for (let i = 0; i < 3000; i++) {
    lines.push(`line ${i} ${'x'.repeat(i % 200)}`);
    file.write(lines.at(-1) ?? '');
    if (i % 7 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await file.flush();
  t.equal(await readFile(path, 'utf8'), `${lines.join('\n')}\n`);
});

const fullDisk = { skip: !existsSync('/dev/full') };

t.test('a full disk: no write throws, memory is bounded, losses count', fullDisk, async (t) => {
  const path = join(await temporaryDirectory(t), 'a.log');
  const lost: string[] = [];
  using file = new LogFile('/dev/full', {
    limit: 20,
    onLost: (lines, reason) => lost.push(`${lines} ${reason}`),
  });
  for (let i = 0; i < 10; i++) file.write(`line ${i}`);
  await file.flush();
  t.same(lost, []);
  file.reopen(path);
  await file.flush();
  file.write('room again');
  await file.flush();
  t.equal(await readFile(path, 'utf8'), 'line 0\nline 1\nroom again\n');
  t.match(lost, [/^8 ENOSPC/]);
});

t.test('a pipe that is not read stops nothing', async (t) => {
  const child = runWithLogFile(
    `using_: {
       const log = new LogFile(undefined);
       for (let i = 0; i < 100; i++) log.write('x'.repeat(10_000));
       setTimeout(() => { console.log('alive'); process.exit(0); }, 300);
     }`,
    'pipe',
  );
  child.stderr?.pause();
  const [output] = await once(child.stdout ?? child, 'data');
  t.equal(String(output), 'alive\n');
  t.same(await once(child, 'exit'), [0, null]);
});

t.test('a line that was half written when the file was changed is whole in the new file', async (t) => {
  const root = await temporaryDirectory(t);
  const [pipe, path] = [join(root, 'pipe'), join(root, 'a.log')];
  execFileSync('mkfifo', [pipe]);
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  t.teardown(() => closeSync(reader));
  using file = new LogFile(pipe);
  const lines = Array.from({ length: 100 }, (_, i) => `${i} ${'x'.repeat(1500)}`);
  for (const line of lines) file.write(line);
  t.notOk(await file.flush());
  file.reopen(path);
  t.ok(await file.flush());
  const head = Buffer.alloc(1 << 20);
  const accepted = head.toString('latin1', 0, readSync(reader, head));
  t.notOk(accepted.endsWith('\n'), 'the pipe has room for a part of a line');
  const complete = accepted.split('\n').slice(0, -1);
  t.equal(
    await readFile(path, 'utf8'),
    lines
      .slice(complete.length)
      .map((line) => `${line}\n`)
      .join(''),
  );
});

t.test('the last lines of a process that exits or throws are in the file', async (t) => {
  const root = await temporaryDirectory(t);
  for (const [name, end] of [
    ['exit', 'process.exit(3)'],
    ['throw', 'throw new Error("a bug")'],
    ['abort', 'log.flushSync(); process.abort()'],
  ] as const) {
    const path = join(root, name);
    const child = runWithLogFile(
      `const log = new LogFile(${JSON.stringify(path)}, { blockLength: 8192 }); log.write('first'); log.write('last'); ${end};`,
    );
    await once(child, 'exit');
    t.equal(await readFile(path, 'utf8'), 'first\nlast\n', name);
  }
});

t.test('a file that reaches maxBytes is renamed; no line is lost, no file too many is kept', async (t) => {
  const path = join(await temporaryDirectory(t), 'log');
  const lines = Array.from({ length: 60 }, (_, i) => `line ${String(i).padStart(4, '0')}`);
  {
    const random = new Random(SEED);
    using log = new LogFile(path, { maxBytes: 200, keep: 10 });
    for (const line of lines) {
      log.write(line);
      if (random.below(5) === 0) await log.flush();
    }
    await log.flush();
  }
  const numbers = readdirSync(dirname(path)).flatMap((name) => /^log\.(\d+)$/.exec(name)?.[1] ?? []);
  t.equal(numbers.length, 2, 'of 600 bytes two files are full');
  const all = [
    ...numbers
      .map(Number)
      .sort((a, b) => b - a)
      .map((number) => `${path}.${number}`),
    path,
  ];
  t.equal(all.map((file) => readFileSync(file, 'utf8')).join(''), `${lines.join('\n')}\n`);
  {
    using log = new LogFile(path, { maxBytes: 100, keep: 2 });
    for (const line of lines) log.write(line);
    await log.flush();
  }
  t.same(readdirSync(dirname(path)).sort(), ['log', 'log.1', 'log.2']);
  t.match(readFileSync(path, 'utf8'), /line 0059\n$/);
});
