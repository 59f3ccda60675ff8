// What a run prints, and the record of it.
import { readFileSync } from 'node:fs';
import { MAX_FLAKY, type PlanResult } from './run.js';
import type { Outcome } from './script.js';

/** Lines of the output of a failed script that are shown. */
const SHOWN_LINES = 60;

/** The numbers of a run. */
export interface Totals {
  readonly passed: number;
  readonly failed: number;
  readonly flaky: readonly string[];
  readonly skipped: readonly string[];
  readonly notRun: readonly string[];
}

/** Adds up the outcomes. Flaky scripts are failures when they are too many for chance. */
export function totalsOf({ outcomes, notRun }: PlanResult): Totals {
  const named = (status: Outcome['status']): string[] =>
    outcomes.filter((outcome) => outcome.status === status).map(({ name }) => name);
  const flaky = named('flaky');
  const passed = outcomes.reduce((sum, outcome) => sum + outcome.passed, 0);
  const failed = outcomes.reduce((sum, { status, failed }) => sum + (status === 'failed' ? failed : 0), 0);
  return {
    passed,
    failed: failed + (flaky.length > MAX_FLAKY ? flaky.length : 0),
    flaky,
    skipped: named('skipped'),
    notRun,
  };
}

/** The lines for one script that has ended. */
export function linesOf(outcome: Outcome): string[] {
  const { name, status, passed, failed, seconds, processorSeconds, remarks } = outcome;
  if (status === 'skipped') return [`skipped ${name}: ${remarks.join('; ')}`];
  const counts = `${passed} passed, ${failed} failed`;
  const time = `${seconds.toFixed(1)} s, ${processorSeconds.toFixed(1)} s of processor time`;
  const lines = [`${name}: ${counts}, ${time}`, ...remarks.map((remark) => `  ${name}: ${remark}`)];
  if (status === 'flaky') lines.push(`flaky ${name}: failed, and passed when it ran alone`);
  if (status === 'passed') return lines;
  return [...lines, ...outcome.logs.flatMap(failuresIn)];
}

/** The assertions that failed, and the end of the output. */
function failuresIn(log: string): string[] {
  const lines = readFileSync(log, 'latin1').split('\n');
  const failures = lines.filter((line) => /^ *not ok /.test(line)).slice(0, 20);
  return [`  -- ${log}`, ...failures, '  -- its end', ...lines.slice(-SHOWN_LINES)].map((line) =>
    line.slice(0, 400),
  );
}

/** The last lines of a run; the very last one counts assertions. */
export function closingLines(totals: Totals): string[] {
  const { passed, failed, flaky, skipped, notRun } = totals;
  return [
    ...(notRun.length === 0 ? [] : [`not run, for lack of time: ${notRun.join(', ')}`]),
    `${flaky.length} flaky, ${skipped.length} skipped, ${notRun.length} not run`,
    `${passed} passed, ${failed} failed`,
  ];
}
