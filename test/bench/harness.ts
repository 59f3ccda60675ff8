import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';

/** One side of a comparison. `run` does the whole work once and says how much it was. */
export interface Contestant {
  readonly label: string;
  run(): Work | Promise<Work>;
}

/** How much work one run did. `check` must be the same in every run of a contestant. */
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
  /** Further variants of ours, measured in the same rounds. */
  readonly variants?: readonly Contestant[];
  /** Measured rounds; in each, everybody runs once, in changing order. At least 1; default 5. */
  readonly runs?: number;
  /** Unmeasured rounds before; default 1. */
  readonly warmUp?: number;
  /** Written into the result file. */
  readonly setup?: Readonly<Record<string, string | number>>;
}

/** One contestant's measured runs. Rates are per second. */
export interface Measured {
  readonly label: string;
  readonly bytes: number;
  readonly records: number;
  readonly milliseconds: readonly number[];
  /** Processor time of the whole process, its helper threads too: steadier than the clock on a busy machine. */
  readonly cpuMilliseconds: readonly number[];
  readonly bytesPerSecond: number;
  readonly recordsPerSecond: number;
  readonly bytesPerCpuSecond: number;
  /** (slowest - fastest) / median. */
  readonly spread: number;
  /** Largest resident set seen after a run, and heap in use then, bytes. */
  readonly maxRss: number;
  readonly maxHeapUsed: number;
}

export interface ComparisonResult {
  readonly ours: Measured;
  readonly rival: Measured;
  readonly variants: readonly Measured[];
  /** Median bytes per second of ours over the rival's. */
  readonly ratio: number;
  /** The same by processor time. */
  readonly cpuRatio: number;
}

/** Alternating runs of two contestants; prints a table with medians and spread, and writes it as JSON. */
export async function compare(comparison: Comparison): Promise<ComparisonResult> {
  const { name, ours, rival, variants = [], runs = 5, warmUp = 1, setup = {} } = comparison;
  const everybody = [ours, rival, ...variants].map((contestant) => new Lane(contestant));
  for (let round = 0; round < warmUp; round++) for (const lane of everybody) await lane.run(false);
  for (let round = 0; round < runs; round++) {
    const order = round % 2 === 0 ? everybody : [...everybody].reverse();
    for (const lane of order) await lane.run(true);
  }
  const measured = everybody.map((lane) => lane.measured());
  const [first, second, ...others] = measured as [Measured, Measured, ...Measured[]];
  const ratio = first.bytesPerSecond / second.bytesPerSecond;
  const processor = cpus()[0]?.model ?? 'unknown';
  print(`${name}: median of ${runs} runs each, in turns; node ${process.version}, ${processor}`);
  for (const each of measured) print(row(each));
  for (const each of [first, ...others]) {
    const clock = (each.bytesPerSecond / second.bytesPerSecond).toFixed(2);
    const cpu = (each.bytesPerCpuSecond / second.bytesPerCpuSecond).toFixed(2);
    print(`  ${each.label} / ${second.label}: ${clock} by the clock, ${cpu} by processor time`);
  }
  const cpuRatio = first.bytesPerCpuSecond / second.bytesPerCpuSecond;
  const result: ComparisonResult = { ours: first, rival: second, variants: others, ratio, cpuRatio };
  await writeResult(name, { node: process.version, processor, runs, setup, ...result });
  return result;
}

/** Writes `test/bench/results/NAME.json` under the directory the bench was started in. */
export async function writeResult(name: string, result: object): Promise<void> {
  const directory = join(process.cwd(), 'test', 'bench', 'results');
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, `${name}.json`), `${JSON.stringify({ name, ...result }, undefined, 2)}\n`);
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

class Lane {
  private readonly milliseconds: number[] = [];
  private readonly cpuMilliseconds: number[] = [];
  private work: Work | undefined;
  private maxRss = 0;
  private maxHeapUsed = 0;

  constructor(private readonly contestant: Contestant) {}

  async run(counts: boolean): Promise<void> {
    await turn();
    const cpuBefore = process.cpuUsage();
    const before = process.hrtime.bigint();
    const work = await this.contestant.run();
    const elapsed = Number(process.hrtime.bigint() - before) / 1e6;
    const cpu = process.cpuUsage(cpuBefore);
    if (this.work !== undefined && this.work.check !== work.check) {
      throw new Error(`${this.contestant.label}: two runs did not read the same`);
    }
    this.work = work;
    if (!counts) return;
    this.milliseconds.push(elapsed);
    this.cpuMilliseconds.push((cpu.user + cpu.system) / 1000);
    const { rss, heapUsed } = process.memoryUsage();
    this.maxRss = Math.max(this.maxRss, rss);
    this.maxHeapUsed = Math.max(this.maxHeapUsed, heapUsed);
  }

  measured(): Measured {
    const { bytes, records } = this.work ?? { bytes: 0, records: 0 };
    const middle = median(this.milliseconds);
    return {
      label: this.contestant.label,
      bytes,
      records,
      milliseconds: this.milliseconds,
      cpuMilliseconds: this.cpuMilliseconds,
      bytesPerSecond: (bytes / middle) * 1000,
      recordsPerSecond: (records / middle) * 1000,
      bytesPerCpuSecond: (bytes / median(this.cpuMilliseconds)) * 1000,
      spread: (Math.max(...this.milliseconds) - Math.min(...this.milliseconds)) / middle,
      maxRss: this.maxRss,
      maxHeapUsed: this.maxHeapUsed,
    };
  }
}

const MB = 1e6;

function row(measured: Measured): string {
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
