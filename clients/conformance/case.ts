// A conformance case: its description, and the errors by which it fails or is skipped.
import { printable } from './printable.js';

/**
 * MUST: a peer that fails the case does not speak the protocol. SHOULD: it does, but other programs must work
 * around the failure.
 */
export type Level = 'MUST' | 'SHOULD';

/** The description of a case, which lists it without a peer. */
export interface CaseDescription {
  /** Unique in its suite: an area, a slash, a topic: `update/end-line-in-value`. */
  readonly id: string;
  /** What a conforming peer does: one sentence without a full stop. */
  readonly title: string;
  /** Numbers of the specification's rules, e.g. `GATHERD-3.7`. */
  readonly rules: readonly string[];
  /** The sources of the rules: source keys of the specification (`beckett; roads`), or `project choice`. */
  readonly source: string;
  readonly level: Level;
  /** Minimum time limit of this case in milliseconds; a run with a larger limit applies its own. */
  readonly timeoutMs?: number;
}

/** A case, which runs against a context of its suite. */
export interface ConformanceCase<Context> extends CaseDescription {
  /** Resolves if the peer passes. Rejects with {@link Mismatch}, {@link NotApplicable} or a KitError. */
  run(context: Context): Promise<unknown>;
}

/** What a case does: {@link ConformanceCase.run}. */
export interface Procedure<Context> {
  (context: Context): Promise<unknown>;
  /** {@link CaseDescription.timeoutMs} of a case that does this. */
  readonly timeoutMs?: number;
}

/** A procedure that may take this many milliseconds. */
export function within<Context>(
  timeoutMs: number,
  run: (context: Context) => Promise<unknown>,
): Procedure<Context> {
  return Object.assign(run, { timeoutMs });
}

/** A description that needs a title and what the case does: `must(...).title(...).run(...)`. */
class CaseBuilder {
  #described: Omit<CaseDescription, 'title'>;
  #title = '';

  constructor(described: Omit<CaseDescription, 'title'>) {
    this.#described = described;
  }

  title(title: string): this {
    this.#title = title;
    return this;
  }

  /** Sets the minimum time limit. */
  within(timeoutMs: number): this {
    this.#described = { ...this.#described, timeoutMs };
    return this;
  }

  /** The case with a procedure of its own. */
  run<Context>(run: Procedure<Context>): ConformanceCase<Context> {
    const { timeoutMs } = run;
    return { ...(timeoutMs === undefined ? {} : { timeoutMs }), ...this.#described, title: this.#title, run };
  }

  /** The case with a procedure that others share, and the data or the function that it takes. */
  does<Context, Data extends readonly unknown[]>(
    procedure: (...data: Data) => Procedure<Context>,
    ...data: Data
  ): ConformanceCase<Context> {
    return this.run(procedure(...data));
  }
}

/** Describes a case that is a MUST. @param rules numbers of rules, separated by blanks */
export function must(id: string, rules: string, source: string): CaseBuilder {
  return new CaseBuilder({ id, rules: rules.split(' '), source, level: 'MUST' });
}

/** As {@link must}, for a SHOULD. */
export function should(id: string, rules: string, source: string): CaseBuilder {
  return new CaseBuilder({ id, rules: rules.split(' '), source, level: 'SHOULD' });
}

/** The peer broke the rule: the case fails. Both sides are printable text. */
export class Mismatch extends Error {
  readonly code = 'ERR_CONFORMANCE_MISMATCH';
  readonly expected: string;
  readonly received: string;

  constructor(message: string, details: { readonly expected: string; readonly received: string }) {
    super(message);
    this.name = 'Mismatch';
    this.expected = details.expected;
    this.received = details.received;
  }
}

/** The case cannot be decided with this peer, for the reason in the message: the case is skipped. */
export class NotApplicable extends Error {
  readonly code = 'ERR_CONFORMANCE_NOT_APPLICABLE';

  constructor(reason: string) {
    super(reason);
    this.name = 'NotApplicable';
  }
}

/** Passes if the condition is true. @throws Mismatch */
export function check(
  condition: boolean,
  message: string,
  details: { readonly expected: string; readonly received: string },
): asserts condition {
  if (!condition) throw new Mismatch(message, details);
}

/** Passes if both are equal. @param show formats either @throws Mismatch */
export function checkEqual<Value>(
  received: Value,
  expected: Value,
  message: string,
  show: (value: Value) => string = String,
): void {
  check(received === expected, message, { expected: show(expected), received: show(received) });
}

/** Formats a number of objects. */
export function objectCount(objects: number): string {
  return `${objects} objects`;
}

/** Passes if nothing was found that breaks the rule. @param show formats what was found @throws Mismatch */
export function checkNone<Found>(
  found: Found | undefined,
  message: string,
  expected: string,
  show: (found: Found) => string = String,
): void {
  if (found !== undefined) throw new Mismatch(message, { expected, received: show(found) });
}

/** Passes if the text matches the pattern. @throws Mismatch */
export function checkMatches(text: string, pattern: RegExp, message: string, expected: string): void {
  check(pattern.test(text), message, { expected, received: printable(text) });
}
