// Benchmark `fairness`: the median time of a cheap query of a Broker beside 19 clients, by the time of the query alone.
// The clients have expensive queries, refusals, short connections, pages and JSON (fairness-kinds.ts), from one address and from
// one each. Also prints the processor time of the server's thread meanwhile, which other programs of the machine do
// not change.
//   npm run bench -- fairness [--kinds PATTERN] [--addresses one|many] [--clients N] [--seconds N]
// The ratio of an equal share is printed beside: that of a query which gets as much of the thread as each other address. It
// is above what is aimed at for clients that work in the thread only, such as with the cheap query itself.
// Needs /proc (Linux).
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ask, startBrokerProcess, wordOf } from '../attacks/broker-process.js';
import type { FairnessFlood } from './fairness-flood.js';
import { FAIRNESS_KINDS } from './fairness-kinds.js';
import { print, writeResult } from './harness.js';

const FLOOD = fileURLToPath(new URL('fairness-flood.js', import.meta.url));
/** The ratio that is aimed at, for every kind. */
const MOST = 5;
const HONEST = '127.0.0.100';
const CHEAP = `#USER #opaque #index maxfiles 10 #END ${wordOf(2500)}`;
/** Milliseconds between two queries, and before and after the clients work. */
const PAUSE_MS = 5;
const SETTLE_MS = 700;

/** Milliseconds of some queries, ascending. */
interface Sample {
  readonly clock: readonly number[];
  readonly thread: readonly number[];
}

/** Runs the comparison; see the head of the file. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      kinds: { type: 'string', default: '' },
      addresses: { type: 'string', default: 'both' },
      clients: { type: 'string', default: '19' },
      seconds: { type: 'string', default: '3' },
    },
  });
  const clients = Number(values.clients);
  const milliseconds = Number(values.seconds) * 1000;
  const pattern = new RegExp(values.kinds, 'i');
  const teardowns: (() => unknown)[] = [];
  const owner = { teardown: (end: () => unknown) => void teardowns.push(end) };
  try {
    const { port, web, pid } = await startBrokerProcess(owner, { objects: 4000, words: 40, pages: true });
    const flood = fork(FLOOD);
    owner.teardown(() => stop(flood));
    const sample = (forMs: number) => measure(port, pid, forMs);
    await sample(milliseconds);
    const results: Record<string, Readonly<Record<string, number>>> = {};
    for (const addresses of values.addresses === 'both' ? ['one', 'many'] : [values.addresses])
      for (const [name, kind] of Object.entries(FAIRNESS_KINDS)) {
        if (!pattern.test(name)) continue;
        const orders: FairnessFlood = { port, web, clients, many: addresses === 'many' };
        const alone = await sample(milliseconds / 2);
        flood.send({ ...orders, kind });
        await sleep(SETTLE_MS);
        const beside = await sample(milliseconds);
        flood.send(orders);
        await sleep(SETTLE_MS);
        const others = addresses === 'many' ? clients : 1;
        results[`${name}, ${addresses}`] = report(name, addresses, others, alone, beside);
      }
    await writeResult('fairness', { setup: { clients, milliseconds }, results });
  } finally {
    for (const end of teardowns.reverse()) await end();
  }
}

async function measure(port: number, pid: number, forMs: number): Promise<Sample> {
  const clock: number[] = [];
  const thread: number[] = [];
  for (const end = performance.now() + forMs; performance.now() < end; await sleep(PAUSE_MS)) {
    const [began, worked] = [performance.now(), threadTime(pid)];
    await ask(port, CHEAP, HONEST);
    clock.push(performance.now() - began);
    thread.push(threadTime(pid) - worked);
  }
  return { clock: clock.sort((a, b) => a - b), thread: thread.sort((a, b) => a - b) };
}

/** Processor milliseconds of the main thread of a process. */
function threadTime(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').split(' ')[0]) / 1e6;
}

function quantile(times: readonly number[], share: number): number {
  return times[Math.floor(times.length * share)] ?? 0;
}

/** @param others addresses that ask besides */
function report(name: string, addresses: string, others: number, alone: Sample, beside: Sample) {
  const [before, after] = [quantile(alone.clock, 0.5), quantile(beside.clock, 0.5)];
  const [idle, busy] = [quantile(alone.thread, 0.5), quantile(beside.thread, 0.5)];
  const ratio = after / before;
  const equal = Math.max(1, ((others + 1) * idle - PAUSE_MS) / before);
  const late = quantile(beside.clock, 0.9);
  print(
    `${ratio > MOST ? '!' : ' '} ${addresses.padEnd(4)} ${name.padEnd(42)} ${before.toFixed(2)} -> ${after.toFixed(2)} ms (${ratio.toFixed(1)}), p90 ${late.toFixed(1)}; thread ${idle.toFixed(2)} -> ${busy.toFixed(2)} ms (${(busy / idle).toFixed(1)}); equal share ${equal.toFixed(1)}`,
  );
  return {
    alone: before,
    beside: after,
    ratio,
    equalShare: equal,
    p90: late,
    threadAlone: idle,
    threadBeside: busy,
  };
}

async function stop(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
