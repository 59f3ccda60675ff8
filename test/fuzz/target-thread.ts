// The thread in which a target runs. Its process watches it (target-process.ts).
import { parentPort, workerData } from 'node:worker_threads';
import { Random } from '../helpers/random.js';
import { branchCount } from './coverage.js';
import { Fuzzer } from './fuzzer.js';
import { tryLongInputs } from './long-inputs.js';
import { seedsOf } from './seeds.js';
import {
  BRANCHES,
  CORPUS,
  COUNT_HIGH,
  COUNT_LOW,
  EDGES,
  executions,
  type FuzzMessage,
  type FuzzOptions,
  LENGTH,
  MAX_INPUT,
  PHASE,
  RUNNING,
  STOP,
  sharedState,
} from './shared.js';

/** Share of the time for long inputs; of the executions, too, when their number is given. */
const LONG_SHARE = 0.12;

const { options, memory }: { options: FuzzOptions; memory: SharedArrayBuffer } = workerData;
const state = sharedState(memory);
const { control, input: shownInput } = state;
const send = (message: FuzzMessage): void => parentPort?.postMessage(message);

let stray: unknown;
/** Errors outside the promise of an execution count for the execution; others end the thread. */
const onStray = (error: unknown): void => {
  if (Atomics.load(control, RUNNING) === 0 && Atomics.load(control, PHASE) !== 2) {
    console.error(error);
    process.exit(1);
  }
  stray ??= error ?? new Error('rejected without a reason');
};
process.on('unhandledRejection', onStray);
process.on('uncaughtException', onStray);

const { loadTarget } = await import('./targets/index.js');
const target = await loadTarget(options.target);
Atomics.store(control, BRANCHES, branchCount());

const begin = performance.now();
let until = begin + options.seconds * 1000 * (target.linear === false ? 1 : 1 - LONG_SHARE);
let limit = options.runs === 0 ? Number.POSITIVE_INFINITY : options.runs;
let checks = 0;
let late = false;
const stopped = (): boolean => {
  if (Atomics.load(control, STOP) !== 0 || executions(state) >= limit) return true;
  // A look at the clock for every 16 questions is enough, but inputs may take long.
  if (late || checks++ % 16 === 0) late = performance.now() >= until;
  return late;
};

const fuzzer = new Fuzzer(target, options.seed, {
  starts: (input) => {
    const length = Math.min(input.length, MAX_INPUT);
    shownInput.set(length === input.length ? input : input.subarray(0, length));
    control[LENGTH] = length;
    const count = (control[COUNT_LOW] ?? 0) + 1;
    control[COUNT_LOW] = count % 0x4000_0000;
    if (count === 0x4000_0000) control[COUNT_HIGH] = (control[COUNT_HIGH] ?? 0) + 1;
    Atomics.store(control, RUNNING, 1);
  },
  ends: () => {
    Atomics.store(control, RUNNING, 0);
    control[EDGES] = fuzzer.coverage.edges;
    control[CORPUS] = fuzzer.corpus.length;
  },
  found: (finding) => send({ kind: 'finding', finding }),
  stopped,
  strayError: () => {
    const error = stray;
    stray = undefined;
    return error;
  },
});

Atomics.store(control, PHASE, 1);
await fuzzer.addSeeds(await seedsOf(options.target, target));
Atomics.store(control, PHASE, 2);
await fuzzer.run();
if (target.linear !== false && Atomics.load(control, STOP) === 0) {
  Atomics.store(control, PHASE, 3);
  late = false;
  if (options.runs > 0) limit = executions(state) + Math.ceil(options.runs * LONG_SHARE);
  until = performance.now() + options.seconds * 1000 * LONG_SHARE;
  await tryLongInputs(fuzzer, new Random(options.seed), stopped, (finding) =>
    send({ kind: 'finding', finding }),
  );
}
Atomics.store(control, PHASE, 4);
late = false;
until = performance.now() + 60_000;
limit = Number.POSITIVE_INFINITY;
send({ kind: 'done', corpus: await fuzzer.minimized(options.corpusBytes) });
