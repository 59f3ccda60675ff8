// Runs conformance cases of peers, on machines that may be busy.
import type { Test } from 'tap';
import {
  type CaseResult,
  loadSuite,
  type PreparedSuite,
  runSuite,
} from '../../../clients/conformance/index.js';
import { cli } from '../../helpers/cli.js';

/** Milliseconds for a case that passes: no case of a correct peer comes near it. */
export const PATIENCE_MS = 60_000;
/** The same limit for `harvest conformance`. */
const PATIENTLY = ['--timeout', String(PATIENCE_MS / 1000)];
/**
 * Milliseconds for a case of a peer with defects, one limit after the other: a silent peer costs the first, a
 * busy machine gets more.
 */
const LIMITS_MS = [2_000, 10_000, PATIENCE_MS];

/** Runs the prepared cases. @param only patterns of the cases; default: all */
export async function resultsOf(
  prepared: PreparedSuite,
  {
    only = [],
    timeoutMs = PATIENCE_MS,
  }: { readonly only?: readonly string[]; readonly timeoutMs?: number } = {},
): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  for await (const result of runSuite(prepared, { only, timeoutMs })) results.push(result);
  return results;
}

/** Runs the cases of a suite about servers with these arguments of the suite. */
export async function runCases(
  suiteName: string,
  args: readonly string[],
  only: readonly string[] = [],
): Promise<CaseResult[]> {
  const suite = await loadSuite(suiteName);
  await using prepared = await suite.prepare(args, { timeoutMs: PATIENCE_MS });
  return await resultsOf(prepared, { only });
}

/**
 * Runs a peer that fails some cases, with longer limits until the expected ones fail and no others.
 * @param run returns the ids of the failing cases with a limit in milliseconds
 * @returns the ids of the failing cases of the last run
 */
export async function failuresOf(
  expected: readonly string[],
  run: (timeoutMs: number) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  let failed: readonly string[] = [];
  for (const timeoutMs of LIMITS_MS) {
    failed = await run(timeoutMs);
    if (failed.join() === expected.join()) break;
  }
  return failed;
}

/**
 * Runs `harvest conformance` with a client as a program; all of its cases that are not skipped must pass.
 * Returns its output.
 */
export async function programPasses(
  t: Test,
  suite: string,
  only: readonly string[],
  command: readonly string[],
): Promise<string> {
  const selected = only.flatMap((pattern) => ['--only', pattern]);
  const found = await cli('conformance', suite, '--strict', ...PATIENTLY, ...selected, ...command);
  t.equal(found.code, 0, found.stdout + found.stderr);
  return found.stdout;
}
