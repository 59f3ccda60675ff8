// The process of one target: starts its thread and watches time and memory of each execution. When one takes
// too much, the process reports the input and ends itself, because nothing else stops code that does not
// return.
import { setInterval } from 'node:timers';
import { Worker } from 'node:worker_threads';
import { messageOf } from '../../protocols/errors.js';
import {
  BRANCHES,
  CORPUS,
  EDGES,
  executions,
  type Finding,
  type FuzzMessage,
  type FuzzOptions,
  type FuzzStatistics,
  LENGTH,
  newSharedMemory,
  PHASE,
  PHASES,
  RUNNING,
  sharedState,
} from './shared.js';

const TICK = 50;
/** Processor time of one execution, microseconds. */
const MAX_CPU = 1_000_000;
/** Time of one execution that waits, milliseconds. */
const MAX_WAIT = 20_000;
const MIB = 1024 * 1024;
/** Growth of resident memory during one execution. */
const MAX_GROWTH = 300 * MIB;
/** Resident memory that no single execution explains. */
const MAX_RESIDENT = 1200 * MIB;

const options: FuzzOptions = JSON.parse(process.argv[2] ?? '{}');
const memory = newSharedMemory();
const state = sharedState(memory);
const { control, input } = state;
const thread = new Worker(new URL('target-thread.js', import.meta.url), {
  workerData: { options, memory },
  resourceLimits: { maxOldGenerationSizeMb: 640 },
});

const send = (message: unknown, sent = (): void => {}): void => {
  process.send?.(message, undefined, undefined, sent);
};
let ended = false;
let done = false;
const die = (finding: Finding): void => {
  if (ended) return;
  ended = true;
  sendStatistics();
  send({ kind: 'finding', finding }, () => process.kill(process.pid, 'SIGKILL'));
};
const current = (): Uint8Array => input.slice(0, control[LENGTH]);

let peak = 0;
function sendStatistics(): void {
  const statistics: FuzzStatistics = {
    executions: executions(state),
    edges: control[EDGES] ?? 0,
    branches: control[BRANCHES] ?? 0,
    corpus: control[CORPUS] ?? 0,
    phase: PHASES[control[PHASE] ?? 0] ?? '',
    peak: Math.round(peak / MIB),
  };
  send({ kind: 'statistics', statistics });
}

thread.on('message', (message: FuzzMessage) => {
  sendStatistics();
  done ||= message.kind === 'done';
  send(message, () => {
    if (done) process.exit(0);
  });
});
thread.on('error', (error: unknown) => {
  const kind = messageOf(error).includes('memory limit') ? 'memory' : 'death';
  die({ kind, key: `${kind} ${messageOf(error)}`, message: messageOf(error), input: current() });
});

thread.on('exit', (code) => {
  const message = `the thread ended with status ${code}`;
  if (!done) die({ kind: 'death', key: 'death', message, input: current() });
});

let count = -1;
let cpu = process.cpuUsage();
let since = performance.now();
let resident = process.memoryUsage.rss();
let ticks = 0;
setInterval(() => {
  const now = process.memoryUsage.rss();
  peak = Math.max(peak, now);
  if (ticks++ % 20 === 0) sendStatistics();
  const executing = executions(state);
  if (executing !== count || Atomics.load(control, RUNNING) === 0) {
    count = executing;
    cpu = process.cpuUsage();
    since = performance.now();
    resident = now;
    if (now > MAX_RESIDENT) {
      die({ kind: 'memory', key: 'all memory', message: `${Math.round(now / MIB)} MiB`, input: current() });
    }
    return;
  }
  const used = process.cpuUsage(cpu);
  const waited = performance.now() - since;
  if (used.user + used.system > MAX_CPU || waited > MAX_WAIT) {
    const message = `${((used.user + used.system) / 1e6).toFixed(1)} s of processor time in ${(waited / 1000).toFixed(1)} s`;
    die({ kind: 'hang', key: 'hang', message, input: current() });
  } else if (now - resident > MAX_GROWTH) {
    const message = `resident memory grew by ${Math.round((now - resident) / MIB)} MiB`;
    die({ kind: 'memory', key: 'memory', message, input: current() });
  }
}, TICK);
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
