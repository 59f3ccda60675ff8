// Signals that stop a program, and signals that it handles.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import t from 'tap';
import { StopSignal } from '../../../servers/host/index.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Emits a signal to the listeners of this process. */
function deliver(signal: NodeJS.Signals): void {
  process.emit(signal, signal);
}

/** Returns the number of listeners of each signal. */
function countListeners(): readonly number[] {
  return [...SIGNALS, 'SIGUSR1'].map((signal) => process.listenerCount(signal));
}

t.test('each of the three signals aborts with its name; disposing removes the listeners', async (t) => {
  const before = countListeners();
  for (const signal of SIGNALS) {
    using stop = new StopSignal();
    t.equal(stop.signal.aborted, false);
    deliver(signal);
    t.equal(stop.signal.aborted, true);
    t.match(stop.signal.reason, new Error(`stopped by ${signal}`));
    t.equal(await stop.stopped, signal);
    t.same(countListeners(), before, 'a second signal has its default action');
  }
  new StopSignal({ held: ['SIGUSR1'] })[Symbol.dispose]();
  t.same(countListeners(), before);
});

t.test('a handled signal does not stop the program; a held one is delivered to its handler', (t) => {
  const before = countListeners();
  using stop = new StopSignal({ held: ['SIGHUP', 'SIGUSR1'], secondExits: false });
  const arrived: string[] = [];
  deliver('SIGHUP');
  deliver('SIGUSR1');
  deliver('SIGHUP');
  stop.on('SIGHUP', () => arrived.push('hangup'));
  t.same(arrived, ['hangup', 'hangup']);
  stop.on('SIGUSR1', () => arrived.push('finish'));
  deliver('SIGHUP');
  t.same(arrived, ['hangup', 'hangup', 'finish', 'hangup']);
  t.equal(stop.signal.aborted, false);
  deliver('SIGTERM');
  deliver('SIGINT');
  t.match(stop.signal.reason, new Error('stopped by SIGTERM'));
  t.equal(process.listenerCount('SIGTERM'), (before[1] ?? 0) + 1, 'secondExits off: it is ignored');
  t.end();
});

t.test('a program can set the reason of the abort', (t) => {
  using stop = new StopSignal({ reason: (by) => `no more: ${by}` });
  deliver('SIGINT');
  t.equal(stop.signal.reason, 'no more: SIGINT');
  t.end();
});

t.test('a second signal of any kind ends the process immediately', async (t) => {
  const host = new URL('../../../servers/host/index.js', import.meta.url).href;
  const program = `
    import { StopSignal } from ${JSON.stringify(host)};
    const stop = new StopSignal();
    void stop.stopped.then((name) => console.log(name));
    setInterval(() => {}, 1000);
    console.log('up');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => void child.kill('SIGKILL'));
  child.stdout.setEncoding('utf8');
  t.equal(String(await once(child.stdout, 'data')), 'up\n');
  child.kill('SIGINT');
  t.equal(String(await once(child.stdout, 'data')), 'SIGINT\n');
  child.kill('SIGTERM');
  t.same(await once(child, 'exit'), [null, 'SIGTERM']);
});
