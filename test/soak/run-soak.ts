// Runs all servers under mixed clients and measures whether anything grows.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../protocols/errors.js';
import { badClients, type Ports } from './bad-clients.js';
import { ChangingSite } from './changing-site.js';
import { GOOD_CLIENTS } from './good-clients.js';
import type { FromChild, Measurement, ServerAddresses, ToChild } from './messages.js';

export interface SoakOptions {
  readonly minutes: number;
  /** Clients at one time, good and bad. Default 24. */
  readonly clients?: number;
  /** Seed of all random choices. Default 1. */
  readonly seed?: number;
  /** Measurements, evenly distributed. Default 12. */
  readonly measurements?: number;
  readonly onProgress?: (line: string) => void;
}

export interface SoakResult {
  readonly minutes: number;
  readonly seed: number;
  readonly measurements: readonly Measurement[];
  /** Uses of the servers by name, and what went wrong in well-behaved ones. */
  readonly uses: Readonly<Record<string, UseCounts>>;
  /** Why the servers are not in order; empty if everything stayed flat and every good client got its answer. */
  readonly problems: readonly string[];
}

interface UseCounts {
  readonly count: number;
  readonly failures: readonly string[];
}

type Uses = Record<string, { count: number; failures: string[] }>;

/** Time that connections which the clients have left may take to end, in milliseconds. */
const QUIET_MS = 5000;
const MAX_FAILURES_KEPT = 5;

/** Runs the soak. Rejects only when the servers cannot be started. */
export async function runSoak(options: SoakOptions): Promise<SoakResult> {
  const { minutes, clients = 24, seed = 1, measurements: count = 12, onProgress = () => {} } = options;
  const random = mulberry32(seed);
  await using site = await ChangingSite.start();
  const directory = await mkdtemp(join(tmpdir(), 'harvest-soak-'));
  const servers = new ServerProcess(directory, site.url);
  const measurements: Measurement[] = [];
  const uses: Uses = {};
  try {
    const addresses = await servers.ready;
    onProgress(`servers are ready: ${addresses.objects} objects, ${clients} clients, seed ${seed}`);
    const end = performance.now() + minutes * 60_000;
    for (let n = 0; n < count; n++) {
      const until = end - ((count - 1 - n) * minutes * 60_000) / count;
      const turns = setInterval(() => {
        site.round += 1;
      }, 5000);
      await Promise.all(Array.from({ length: clients }, () => runClient(addresses, until, random, uses)));
      clearInterval(turns);
      const measurement = await servers.measure();
      measurements.push(measurement);
      onProgress(formatMeasurement((n + 1) * (minutes / count), measurement));
    }
  } finally {
    await servers.stop();
    await rm(directory, { recursive: true, force: true });
  }
  return { minutes, seed, measurements, uses, problems: findProblems(measurements, uses, servers.exit) };
}

/** Uses the servers, well or badly, until the time is over. */
async function runClient(
  addresses: ServerAddresses,
  until: number,
  random: () => number,
  uses: Uses,
): Promise<void> {
  const good = Object.entries(GOOD_CLIENTS);
  const targets: readonly (keyof Ports)[] = ['gatherd', 'broker', 'web', 'references'];
  while (performance.now() < until) {
    if (random() < 0.4) {
      const [name, action] = good[Math.floor(random() * good.length)]!;
      const use = countUse(uses, name);
      await action(addresses, random).catch((error: unknown) => {
        if (use.failures.length < MAX_FAILURES_KEPT) use.failures.push(messageOf(error));
      });
    } else {
      const target = targets[Math.floor(random() * targets.length)]!;
      const attacks = Object.entries(badClients(target));
      const [name, attack] = attacks[Math.floor(random() * attacks.length)]!;
      countUse(uses, `${target}: a client ${name}`);
      await attack(addresses[target], random);
    }
  }
}

/** Counts one use and returns its counts. */
function countUse(uses: Uses, name: string): Uses[string] {
  const use = uses[name] ?? { count: 0, failures: [] };
  use.count += 1;
  uses[name] = use;
  return use;
}

/** The process of the servers. */
export class ServerProcess {
  readonly #child;
  readonly ready: Promise<ServerAddresses>;
  readonly #exited: Promise<unknown>;
  /** How the process ended; undefined while it runs. */
  exit: { readonly code: number | null; readonly signal: NodeJS.Signals | null } | undefined;

  constructor(directory: string, root: string) {
    const program = fileURLToPath(new URL('./server-child.js', import.meta.url));
    this.#child = fork(program, [directory, root], { execArgv: ['--expose-gc'] });
    this.#exited = once(this.#child, 'exit').then(([code, signal]) => {
      this.exit = { code: code as number | null, signal: signal as NodeJS.Signals | null };
    });
    this.ready = this.#receive('ready');
  }

  /** Waits until the clients' connections have ended and no round of gathering runs, then measures. */
  async measure(): Promise<Measurement> {
    this.hold();
    await pause(QUIET_MS);
    const measurement = this.#receive('measurement');
    this.#send('measure');
    const received = await measurement;
    this.#send('resume');
    return received;
  }

  /** Starts no round of gathering until the next measurement is done. */
  hold(): void {
    this.#send('hold');
  }

  async stop(): Promise<void> {
    if (this.exit === undefined) this.#send('stop');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 20_000);
    await this.#exited;
    clearTimeout(timer);
  }

  #send(message: ToChild): void {
    this.#child.send(message);
  }

  async #receive<K extends keyof FromChild>(kind: K): Promise<NonNullable<FromChild[K]>> {
    return new Promise((resolve, reject) => {
      const onMessage = (message: FromChild): void => {
        const value = message[kind];
        if (value === undefined) return;
        this.#child.off('message', onMessage);
        resolve(value);
      };
      this.#child.on('message', onMessage);
      void this.#exited.then(() => reject(new Error(`the servers ended: ${JSON.stringify(this.exit)}`)));
    });
  }
}

const MB = 1e6;

/** Compares the last third of the measurements with the middle third; the first third is the warm-up. */
export function findProblems(
  measurements: readonly Measurement[],
  uses: SoakResult['uses'],
  exit: { readonly code: number | null; readonly signal: NodeJS.Signals | null } | undefined,
): string[] {
  const problems: string[] = [];
  const third = Math.ceil(measurements.length / 3);
  const middle = measurements.slice(third, -third);
  const last = measurements.slice(-third);
  const grown = (name: string, of: (m: Measurement) => number, factor: number, more: number): void => {
    const before = Math.max(...middle.map(of));
    const after = Math.min(...last.map(of));
    if (after > before * factor + more) problems.push(`${name} grew from ${before} to ${after}`);
  };
  grown('used heap (bytes)', (m) => m.heapUsed, 1.1, 4 * MB);
  grown('memory outside the heap (bytes)', (m) => m.external + m.arrayBuffers, 1.1, 4 * MB);
  grown('resident memory (bytes)', (m) => m.rss, 1.1, 32 * MB);
  grown('open files', (m) => m.files, 1, 4);
  const names = new Set(measurements.flatMap((m) => Object.keys(m.resources)));
  for (const name of names) grown(`resources ${name}`, (m) => m.resources[name] ?? 0, 1, 4);
  for (const [name, { failures }] of Object.entries(uses))
    for (const failure of failures) problems.push(`${name}: ${failure}`);
  if (exit !== undefined && exit.code !== 0)
    problems.push(`the servers ended with ${exit.code ?? exit.signal}`);
  return problems;
}

function formatMeasurement(
  minute: number,
  { rss, heapUsed, external, files, resources, cycles }: Measurement,
): string {
  const counts = Object.entries(resources).map(([name, count]) => `${count} ${name}`);
  const sizes = [rss, heapUsed, external].map((bytes) => (bytes / MB).toFixed(0));
  return `${minute.toFixed(1)} min: ${sizes[0]} MB resident, ${sizes[1]} heap, ${sizes[2]} external; ${files} files; ${cycles} rounds; ${counts.join(', ')}`;
}

/** A small generator of random numbers from a seed. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}
