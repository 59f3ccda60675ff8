// Runs comparisons and writes their results; every benchmark uses it.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const MACHINE = { node: process.version, processor: cpus()[0]?.model ?? 'unknown' };
/** Kernel ticks of processor time in a second. */
const TICKS_PER_SECOND = 100;

/**
 * Seconds of processor time of the child processes that have ended, with their own (Linux only; elsewhere 0).
 */
export function childCpuSeconds(): number {
  if (!existsSync('/proc/self/stat')) return 0;
  const fields = readFileSync('/proc/self/stat', 'latin1').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
}

/** One side of a comparison. `run` does the whole work once and returns its amount. */
export interface Contestant {
  readonly label: string;
  run(): Work | Promise<Work>;
}

/** The amount of work of one run. `check` must be equal in all runs of a contestant. */
export interface Work {
  readonly bytes: number;
  readonly records: number;
  readonly check: number;
}

export interface Comparison {
  /** Names the result file, `test/bench/results/NAME.json`. */
  readonly name: string;
  readonly ours: Contestant;
  readonly rival: Contestant;
  /** Variants of `ours`, measured in the same rounds. */
  readonly variants?: readonly Contestant[];
  /**
   * Number of measured rounds, at least 1; in each, every contestant runs once, in alternating order. Default
   * 5.
   */
  readonly runs?: number;
  /** Number of unmeasured rounds before them; default 1. */
  readonly warmUp?: number;
  /** Written into the result file. */
  readonly setup?: Readonly<Record<string, string | number>>;
}

/** The measured runs of one contestant. */
export interface Measured {
  readonly label: string;
  readonly bytes: number;
  readonly records: number;
  readonly milliseconds: readonly number[];
  /** Processor time of the process with all its threads: less variable than the clock on a busy machine. */
  readonly cpuMilliseconds: readonly number[];
  readonly bytesPerSecond: number;
  readonly recordsPerSecond: number;
  readonly bytesPerCpuSecond: number;
  /** (slowest - fastest) / median. */
  readonly spread: number;
  /** Largest resident set after a run, bytes. */
  readonly maxRss: number;
  /** Largest used heap after a run, bytes. */
  readonly maxHeapUsed: number;
}

export interface ComparisonResult {
  readonly ours: Measured;
  readonly rival: Measured;
  readonly variants: readonly Measured[];
  /** Median bytes per second, ours / rival. */
  readonly ratio: number;
  /** The same ratio by processor time. */
  readonly cpuRatio: number;
}

/**
 * Runs the contestants in alternation, prints a table with medians and spread, and writes the results as JSON.
 */
export async function compare(comparison: Comparison): Promise<ComparisonResult> {
  const { name, ours, rival, variants = [], runs = 5, warmUp = 1, setup = {} } = comparison;
  const lanes = [ours, rival, ...variants].map((contestant) => new Lane(contestant));
  for (let round = 0; round < warmUp; round++) for (const lane of lanes) await lane.run(false);
  for (let round = 0; round < runs; round++) {
    const order = round % 2 === 0 ? lanes : [...lanes].reverse();
    for (const lane of order) await lane.run(true);
  }
  const measured = lanes.map((lane) => lane.measured());
  const [first, second, ...others] = measured as [Measured, Measured, ...Measured[]];
  const ratio = first.bytesPerSecond / second.bytesPerSecond;
  const { node, processor } = MACHINE;
  print(`${name}: median of ${runs} alternating runs each; node ${node}, ${processor}`);
  for (const each of measured) print(formatRow(each));
  for (const each of [first, ...others]) {
    const clock = (each.bytesPerSecond / second.bytesPerSecond).toFixed(2);
    const cpu = (each.bytesPerCpuSecond / second.bytesPerCpuSecond).toFixed(2);
    print(`  ${each.label} / ${second.label}: ${clock} by the clock, ${cpu} by processor time`);
  }
  const cpuRatio = first.bytesPerCpuSecond / second.bytesPerCpuSecond;
  const result: ComparisonResult = { ours: first, rival: second, variants: others, ratio, cpuRatio };
  await writeResult(name, { runs, setup, ...result });
  return result;
}

/** Writes `test/bench/results/NAME.json` below the current directory. */
export async function writeResult(name: string, result: object): Promise<void> {
  const directory = join(process.cwd(), 'test', 'bench', 'results');
  await mkdir(directory, { recursive: true });
  await writeFile(
    join(directory, `${name}.json`),
    `${JSON.stringify({ name, ...MACHINE, ...result }, undefined, 2)}\n`,
  );
}

/** The options of a benchmark that are numbers, with their defaults. */
export function readNumbers<N extends string>(
  args: string[],
  defaults: Record<N, number>,
): Record<N, number> {
  const options = Object.fromEntries(
    Object.keys(defaults).map((name) => [name, { type: 'string' as const }]),
  );
  const { values } = parseArgs({ args, options });
  const given = Object.entries(values).map(([name, value]) => [name, Number(value)]);
  return { ...defaults, ...Object.fromEntries(given) };
}

/** An empty directory, in memory if possible: on a disk, the duration of the same work varies by a factor. */
export function scratchDirectory(parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()) {
  const path = mkdtempSync(join(parent, 'harvest-bench-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** Prints a line to standard output. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The runs of one contestant. */
class Lane {
  readonly #milliseconds: number[] = [];
  readonly #cpuMilliseconds: number[] = [];
  #work: Work | undefined;
  #maxRss = 0;
  #maxHeapUsed = 0;
  readonly #contestant: Contestant;

  constructor(contestant: Contestant) {
    this.#contestant = contestant;
  }

  async run(isMeasured: boolean): Promise<void> {
    await nextTurn();
    const cpuBefore = process.cpuUsage();
    const before = process.hrtime.bigint();
    const work = await this.#contestant.run();
    const elapsed = Number(process.hrtime.bigint() - before) / 1e6;
    const cpu = process.cpuUsage(cpuBefore);
    if (this.#work !== undefined && this.#work.check !== work.check) {
      throw new Error(`${this.#contestant.label}: two runs did not do the same work`);
    }
    this.#work = work;
    if (!isMeasured) return;
    this.#milliseconds.push(elapsed);
    this.#cpuMilliseconds.push((cpu.user + cpu.system) / 1000);
    const { rss, heapUsed } = process.memoryUsage();
    this.#maxRss = Math.max(this.#maxRss, rss);
    this.#maxHeapUsed = Math.max(this.#maxHeapUsed, heapUsed);
  }

  measured(): Measured {
    const { bytes, records } = this.#work ?? { bytes: 0, records: 0 };
    const medianMs = median(this.#milliseconds);
    return {
      label: this.#contestant.label,
      bytes,
      records,
      milliseconds: this.#milliseconds,
      cpuMilliseconds: this.#cpuMilliseconds,
      bytesPerSecond: (bytes / medianMs) * 1000,
      recordsPerSecond: (records / medianMs) * 1000,
      bytesPerCpuSecond: (bytes / median(this.#cpuMilliseconds)) * 1000,
      spread: (Math.max(...this.#milliseconds) - Math.min(...this.#milliseconds)) / medianMs,
      maxRss: this.#maxRss,
      maxHeapUsed: this.#maxHeapUsed,
    };
  }
}

const MB = 1e6;

function formatRow(measured: Measured): string {
  const { label, bytes, bytesPerSecond, recordsPerSecond, spread, maxRss, maxHeapUsed } = measured;
  const columns = [
    `  ${label.padEnd(34)}`,
    `${(bytes / MB).toFixed(0).padStart(6)} MB`,
    `${(bytesPerSecond / MB).toFixed(0).padStart(6)} MB/s`,
    `${(measured.bytesPerCpuSecond / MB).toFixed(0).padStart(6)} MB/cpu s`,
    `${Math.round(recordsPerSecond).toLocaleString('en').padStart(11)} records/s`,
    `spread ${(spread * 100).toFixed(0).padStart(3)} %`,
    `rss ${(maxRss / MB).toFixed(0)} MB, heap ${(maxHeapUsed / MB).toFixed(0)} MB`,
  ];
  return columns.join('  ');
}
