// A program ends within its limit after SIGTERM, whatever it waits for: a promise, its event loop, a file
// operation.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import t from 'tap';
import { temporaryDirectory } from '../helpers/temporary-directory.js';

const HOST = new URL('../../servers/host/index.js', import.meta.url).href;
const LIMIT_MS = 2500;

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

/** A program of the test; `closed` resolves when it has ended and all that it wrote is read. */
interface Program {
  readonly child: ChildProcess;
  readonly closed: Promise<Ended>;
}

/** Runs a module with a StopSignal named `stop` until it prints `ready`. */
async function start(code: string, limitMs = LIMIT_MS): Promise<Program> {
  const source = `
    import { StopSignal } from ${JSON.stringify(HOST)};
    const stop = new StopSignal({ limit: { program: 'example', limitMs: ${limitMs} } });
    const ready = () => console.log('ready');
    ${code}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const closed = once(child, 'close').then(([code, signal]) => ({ code, signal, stderr }) as Ended);
  await once(child.stdout, 'data');
  return { child, closed };
}

async function stop(code: string): Promise<Ended> {
  const { child, closed } = await start(code);
  child.kill('SIGTERM');
  return await closed;
}

/** Sends SIGTERM again and again until the program ends: a thread that has just started does not listen yet. */
async function stopRepeatedly({ child, closed }: Program): Promise<Ended> {
  const timer = setInterval(() => child.kill('SIGTERM'), 50);
  return await closed.finally(() => clearInterval(timer));
}

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
});

t.test('a program whose event loop was blocked before the signal ends, too', async (t) => {
  const ended = await stopRepeatedly(await start('ready(); for (;;);'));
  t.match(ended, {
    code: null,
    signal: 'SIGKILL',
    stderr: /^example: killed 2\.5 s after .* event loop is blocked\n$/,
  });
});

t.test('a program that blocks its event loop while it stops ends, too', async (t) => {
  const ended = await stop(`
    setInterval(() => {}, 1000);
    stop.signal.addEventListener('abort', () => { for (;;); });
    ready();`);
  t.match(ended, { code: null, signal: 'SIGKILL', stderr: /event loop is blocked\n$/ });
});

t.test('a file operation that never returns does not hold the exit', async (t) => {
  // The reader of a named pipe waits for a writer, in the thread pool, which the exit waits for.
  const pipe = join(await temporaryDirectory(t), 'pipe');
  execFileSync('mkfifo', [pipe]);
  const ended = await stop(`
    const { open } = await import('node:fs');
    open(${JSON.stringify(pipe)}, 'r', () => {});
    ready();
    await stop.stopped;
    await new Promise(() => {});`);
  t.not(ended.code, 0);
  t.match(ended.stderr, /^example: stopped after 2\.5 s while waiting for: .*FSReqCallback/);
});

t.test('a program that ends in time is not touched; a second signal ends it at once', async (t) => {
  const inTime = await stop('ready(); setInterval(() => {}, 1000); await stop.stopped; process.exit(7);');
  t.match(inTime, { code: 7, signal: null, stderr: '' });
  const running = await start('setInterval(() => {}, 1000); ready();', 3_600_000);
  t.match(await stopRepeatedly(running), { code: null, signal: 'SIGTERM', stderr: '' });
});
