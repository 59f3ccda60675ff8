import { execFile, execFileSync, type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PROGRAM } from '../../helpers/cli.js';
import { PLAIN_NODE } from '../../helpers/plain-node.js';

const execute = promisify(execFile);
const SOURCES = join(dirname(fileURLToPath(import.meta.resolve('#package.json'))), 'test/bench/references');
const MAX_OUTPUT = 1 << 20;
/** Time limit of one program in milliseconds; a load of twenty million links takes longest. */
const PATIENCE = 1_800_000;

/** Command line prefix of a `harvest` command. */
export function harvest(...args: readonly string[]): readonly [string, ...string[]] {
  return ['env', ...PLAIN_NODE, PROGRAM, ...args];
}

/** Whether a program can be started. */
export function isThere(program: string, ...args: readonly string[]): boolean {
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

/** Cost of a program run. */
export interface Cost {
  readonly seconds: number;
  /** Of all its threads. */
  readonly cpuSeconds: number;
  /** The largest resident set, bytes. */
  readonly maxRss: number;
}

/** Runs programs in sequence under `measured`; returns the sum of their times and the maximum of their memory. */
export function runMeasured(
  measured: string,
  work: string,
  ...programs: readonly (readonly string[])[]
): Cost {
  const report = join(work, `cost-${process.hrtime.bigint()}`);
  for (const words of programs) {
    execFileSync(measured, [report, ...words], {
      timeout: PATIENCE,
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

/** Output of the load client and the local reader. */
export interface Count {
  readonly replies: number;
  /** Number of rows, if counted. */
  readonly elements: number;
  readonly bytes?: number;
  readonly seconds: number;
  /** Of the program itself. */
  readonly cpuSeconds: number;
}

/** Runs a program that prints a {@link Count}. */
export async function runCounting(program: string, args: readonly (string | number)[]): Promise<Count> {
  const { stdout } = await execute(program, args.map(String), { timeout: PATIENCE, maxBuffer: MAX_OUTPUT });
  return JSON.parse(stdout);
}
