// Runs a plan: two scripts at a time, the longest first, those that measure alone and last.
import type { Plan } from './plan.js';
import { type RunContext, runScript } from './run-script.js';
import type { Outcome, Script } from './script.js';

/** More flaky scripts than this are not chance. */
export const MAX_FLAKY = 2;

/** How a plan is run. */
export interface RunOptions {
  /** Scripts at the same time. */
  readonly jobs: number;
  /** Returns why a script cannot run here, undefined if it can. */
  readonly reasonToSkip: (script: Script) => string | undefined;
  /** Seconds until the last optional script must have ended; infinite if absent. */
  readonly secondsLeft?: () => number;
  readonly onOutcome: (outcome: Outcome) => void;
}

/** What became of a plan. */
export interface PlanResult {
  readonly outcomes: readonly Outcome[];
  /** Optional scripts that did not begin, because the time would not have sufficed. */
  readonly notRun: readonly string[];
}

/** Runs the scripts of a plan, and repeats failed ones of kind `timed` alone at the end. */
export async function runPlan(plan: Plan, context: RunContext, options: RunOptions): Promise<PlanResult> {
  const outcomes: Outcome[] = [];
  const repeats: { script: Script; first: Outcome }[] = [];
  const notRun = [...plan.postponed];
  const pace = new PaceOfMachine();

  const run = async (script: Script, isOptional: boolean): Promise<void> => {
    if (context.signal.aborted) return;
    const left = options.secondsLeft?.() ?? Number.POSITIVE_INFINITY;
    if (isOptional && pace.expect(script) > left) {
      notRun.push(script.name);
      return;
    }
    const reason = options.reasonToSkip(script);
    const outcome = reason === undefined ? await runScript(script, context) : skipped(script, reason);
    pace.add(script, outcome);
    if (outcome.status === 'failed' && script.kind === 'timed') {
      repeats.push({ script, first: outcome });
      return;
    }
    outcomes.push(outcome);
    options.onOutcome(outcome);
  };

  const scripts = [
    ...plan.required.map((script) => ({ script, isOptional: false })),
    ...plan.optional.map((script) => ({ script, isOptional: true })),
  ];
  const together = scripts.filter(({ script }) => script.kind !== 'measured');
  const alone = scripts.filter(({ script }) => script.kind === 'measured');
  await inParallel(together, options.jobs, ({ script, isOptional }) => run(script, isOptional));
  await inParallel(alone, 1, ({ script, isOptional }) => run(script, isOptional));
  for (const { script, first } of repeats) {
    const second = await runScript(script, context, 2);
    const status = second.status === 'passed' ? ('flaky' as const) : ('failed' as const);
    const outcome = { ...second, status, logs: [...first.logs, ...second.logs] };
    outcomes.push(outcome);
    options.onOutcome(outcome);
  }
  return { outcomes, notRun: notRun.sort() };
}

async function inParallel<T>(items: readonly T[], jobs: number, work: (item: T) => Promise<void>) {
  const queue = items[Symbol.iterator]();
  const lane = async (): Promise<void> => {
    for (const item of queue) await work(item);
  };
  // One iterator for all lanes: each item is taken once.
  await Promise.all(Array.from({ length: jobs }, lane));
}

function skipped({ name }: Script, reason: string): Outcome {
  const counts = { passed: 0, failed: 0, seconds: 0, processorSeconds: 0 };
  return { name, status: 'skipped', ...counts, remarks: [reason], logs: [] };
}

/** How many seconds by the clock this machine takes for a processor second of the manifest. */
class PaceOfMachine {
  #seconds = 0;
  #expected = 0;

  add({ seconds }: Script, outcome: Outcome): void {
    if (outcome.status === 'skipped') return;
    this.#seconds += outcome.seconds;
    this.#expected += seconds;
  }

  expect({ seconds }: Script): number {
    return this.#expected === 0 ? seconds : seconds * Math.max(0.5, this.#seconds / this.#expected);
  }
}
