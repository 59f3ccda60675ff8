// A program ends within its limit after SIGTERM, whatever it waits for: a promise, its event loop, a file operation.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { PLAIN_NODE } from '../helpers/plain-node.js';

const HOST = new URL('../../servers/host/index.js', import.meta.url).href;
const LIMIT_MS = 2500;

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly milliseconds: number;
  readonly stderr: string;
}

/** Runs a module with a StopSignal named `stop`, whose limit is {@link LIMIT_MS}, until it prints `ready`. */
async function start(code: string): Promise<{ readonly child: ChildProcess; readonly stderr: () => string }> {
  const source = `
    import { StopSignal } from ${JSON.stringify(HOST)};
    const stop = new StopSignal({ limit: { program: 'example', limitMs: ${LIMIT_MS} } });
    const ready = () => console.log('ready');
    // The thread of the limit needs a moment to start.
    await new Promise((resolve) => setTimeout(resolve, 500));
    ${code}`;
  const child = spawn('env', [...PLAIN_NODE, '--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  await once(child.stdout, 'data');
  return { child, stderr: () => stderr };
}

async function stop(code: string): Promise<Ended> {
  const { child, stderr } = await start(code);
  await pause(100);
  const begin = performance.now();
  child.kill('SIGTERM');
  const [exitCode, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { code: exitCode, signal, milliseconds: performance.now() - begin, stderr: stderr() };
}

/** The limit, and what a busy machine adds. */
const IN_TIME = LIMIT_MS + 2000;

t.test('a program that waits for ever says what it waits for, and ends with status 1', async (t) => {
  const ended = await stop(`
    stop.waitsFor(() => ['a collection from host:8500', '3 connections']);
    setInterval(() => {}, 1000);
    ready();
    await stop.stopped;
    await new Promise(() => {});`);
  t.match(ended, {
    code: 1,
    signal: null,
    stderr: /^example: stopped after 2\.5 s while waiting for: a collection from host:8500, 3 connections/,
  });
  t.ok(ended.milliseconds < IN_TIME, `${ended.milliseconds} ms`);
});

t.test('a program whose event loop was blocked before the signal ends, too', async (t) => {
  const ended = await stop('ready(); setTimeout(() => { for (;;); }, 20);');
  t.match(ended, {
    code: null,
    signal: 'SIGKILL',
    stderr: /^example: killed 2\.5 s after .* event loop is blocked\n$/,
  });
  t.ok(ended.milliseconds < IN_TIME, `${ended.milliseconds} ms`);
});

t.test('a program that blocks its event loop while it stops ends, too', async (t) => {
  const ended = await stop(`
    setInterval(() => {}, 1000);
    stop.signal.addEventListener('abort', () => { for (;;); });
    ready();`);
  t.match(ended, { code: null, signal: 'SIGKILL', stderr: /event loop is blocked\n$/ });
  t.ok(ended.milliseconds < IN_TIME, `${ended.milliseconds} ms`);
});

t.test('a file operation that never returns does not hold the exit', async (t) => {
  // The reader of a named pipe waits for a writer, in the thread pool, which the exit waits for.
  const ended = await stop(`
    const { execFileSync } = await import('node:child_process');
    const { mkdtempSync, open, rmSync } = await import('node:fs');
    const directory = mkdtempSync('/tmp/harvest-test-');
    execFileSync('mkfifo', [directory + '/pipe']);
    open(directory + '/pipe', 'r', () => {});
    setTimeout(() => rmSync(directory, { recursive: true }), 50);
    setTimeout(ready, 100);
    await stop.stopped;
    await new Promise(() => {});`);
  t.not(ended.code, 0);
  t.match(ended.stderr, /^example: stopped after 2\.5 s while waiting for: .*FSReqCallback/);
  t.ok(ended.milliseconds < IN_TIME, `${ended.milliseconds} ms`);
});

t.test('a program that ends in time is not touched; a second signal ends it at once', async (t) => {
  const inTime = await stop('ready(); setInterval(() => {}, 1000); await stop.stopped; process.exit(7);');
  t.match(inTime, { code: 7, signal: null, stderr: '' });
  const { child } = await start('setInterval(() => {}, 1000); ready();');
  const begin = performance.now();
  child.kill('SIGTERM');
  await pause(300);
  child.kill('SIGTERM');
  t.same(await once(child, 'close'), [null, 'SIGTERM']);
  t.ok(performance.now() - begin < LIMIT_MS, 'the second signal ended it');
});
