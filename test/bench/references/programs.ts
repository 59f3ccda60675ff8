// Compiles and runs the programs of benchmark `references`.
import { execFile, execFileSync, type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PROGRAM } from '../../helpers/cli.js';

const execute = promisify(execFile);
const SOURCES = join(dirname(fileURLToPath(import.meta.resolve('#package.json'))), 'test/bench/references');
const MAX_OUTPUT_BYTES = 1 << 20;
/** Time limit of one program; loading twenty million links takes longest. */
const TIMEOUT_MS = 1_800_000;

/** Returns the command line of a `harvest` command. */
export function harvest(...args: readonly string[]): readonly [string, ...string[]] {
  return harvestOf(PROGRAM, ...args);
}

/** Returns the command line of a `harvest` command of another version, whose `harvest.js` is `program`. */
export function harvestOf(program: string, ...args: readonly string[]): readonly [string, ...string[]] {
  return [process.execPath, program, ...args];
}

/** Whether a program can be started. */
export function canRun(program: string, ...args: readonly string[]): boolean {
  const { error }: SpawnSyncReturns<Buffer> = spawnSync(program, args, { stdio: 'ignore' });
  return error === undefined;
}

/**
 * Compiles one of the C programs in this folder.
 *
 * @returns its path, or undefined if it does not compile
 */
export function compile(work: string, name: string, ...libraries: readonly string[]): string | undefined {
  const program = join(work, name);
  const args = ['-O3', '-o', program, join(SOURCES, `${name}.c`), ...libraries.map((each) => `-l${each}`)];
  return spawnSync('gcc', args, { stdio: 'ignore' }).status === 0 ? program : undefined;
}

/** The cost of a run. */
export interface Cost {
  readonly seconds: number;
  /** Processor time of all threads. */
  readonly cpuSeconds: number;
  /** The largest resident set, bytes. */
  readonly maxRss: number;
}

/**
 * Runs programs in sequence under the cost meter. Returns the sum of their times and the maximum of their
 * memory.
 */
export function runMeasured(
  costMeter: string,
  work: string,
  ...programs: readonly (readonly string[])[]
): Cost {
  const report = join(work, `cost-${process.hrtime.bigint()}`);
  for (const words of programs) {
    execFileSync(costMeter, [report, ...words], {
      timeout: TIMEOUT_MS,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
  const costs = readFileSync(report, 'utf8')
    .trim()
    .split('\n')
    .map((line): Cost => JSON.parse(line));
  return {
    seconds: costs.reduce((sum, { seconds }) => sum + seconds, 0),
    cpuSeconds: costs.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
    maxRss: Math.max(...costs.map(({ maxRss }) => maxRss)),
  };
}

/** The output of the load client and of the local reader. */
export interface Count {
  readonly replies: number;
  /** Number of rows; 0 if not counted. */
  readonly elements: number;
  readonly bytes?: number;
  readonly seconds: number;
  /** Processor time of the program. */
  readonly cpuSeconds: number;
}

/** Runs a program that prints a {@link Count}. */
export async function runCounting(program: string, args: readonly (string | number)[]): Promise<Count> {
  const { stdout } = await execute(program, args.map(String), {
    timeout: TIMEOUT_MS,
    maxBuffer: MAX_OUTPUT_BYTES,
  });
  return JSON.parse(stdout);
}
