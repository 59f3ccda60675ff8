/** MUST: a peer that fails it does not speak the protocol. SHOULD: it speaks it, but others will have to make up for it. */
export type Level = 'MUST' | 'SHOULD';

/** What a case is about; enough to list it without a peer. */
export interface CaseDescription {
  /** Unique in its suite: an area, a slash, what is looked at: `update/end-line-in-value`. */
  readonly id: string;
  /** What a good peer does, one sentence without a full stop. */
  readonly title: string;
  /** Numbers of the specification's rules, e.g. `GATHERD-3.7`. */
  readonly rules: readonly string[];
  /** Where the rules come from: the source keys of the specification (`beckett; roads`), or `project choice`. */
  readonly source: string;
  readonly level: Level;
  /** Milliseconds this case needs at least; it gets more when the run allows more to every case. */
  readonly timeoutMs?: number;
}

/** A case, run against whatever its suite calls a context. */
export interface ConformanceCase<Context> extends CaseDescription {
  /** Resolves when the peer passes. Rejects with {@link Mismatch}, {@link NotApplicable} or a KitError. */
  run(context: Context): Promise<void>;
}

/** The peer did something else than the rule says: the case fails. Both sides as printable text. */
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

/** The case cannot be decided with this peer, and the message says why: the case is skipped. */
export class NotApplicable extends Error {
  readonly code = 'ERR_CONFORMANCE_NOT_APPLICABLE';

  constructor(reason: string) {
    super(reason);
    this.name = 'NotApplicable';
  }
}

/** Passes when the condition holds. @throws Mismatch */
export function check(
  condition: boolean,
  message: string,
  details: { readonly expected: string; readonly received: string },
): asserts condition {
  if (!condition) throw new Mismatch(message, details);
}
