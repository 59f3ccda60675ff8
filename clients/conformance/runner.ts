import { ConnectionError, KitError } from '../../protocols/errors.js';
import { type CaseDescription, Mismatch, NotApplicable } from './case.js';
import { Transcript, type TranscriptEntry } from './transcript.js';

/** Milliseconds a case may take unless told otherwise. */
export const CASE_TIMEOUT_MS = 10_000;

/** The result of one case. */
export interface CaseResult extends Omit<CaseDescription, 'timeoutMs'> {
  readonly suite: string;
  readonly verdict: 'pass' | 'fail' | 'skip';
  /** Why it failed or was skipped. */
  readonly message?: string;
  readonly expected?: string;
  readonly received?: string;
  readonly transcript: readonly TranscriptEntry[];
  readonly milliseconds: number;
}

/** A case that is bound to its target. */
export interface BoundCase extends CaseDescription {
  /** As {@link ConformanceCase.run}; stops soon after the signal, which is aborted when its time is over. */
  run(transcript: Transcript, signal: AbortSignal): Promise<void>;
}

/** Options that every suite takes in addition to its own words. */
export interface SuiteOptions {
  /** Milliseconds for one case. Default {@link CASE_TIMEOUT_MS}. */
  readonly timeoutMs?: number;
  /** Aborts preparing and all prepared cases. */
  readonly signal?: AbortSignal;
}

/** A suite that is bound to the target in its words. */
export interface PreparedSuite extends AsyncDisposable {
  readonly suite: string;
  /** The target, for the report: `localhost:8500`. */
  readonly target: string;
  readonly cases: readonly BoundCase[];
}

/** The cases for one kind of peer. Each subfolder of `clients/conformance` exports one as `suite` from `suite.ts`. */
export interface Suite {
  /** The name of its folder, and what the command line calls it. */
  readonly name: string;
  /** One line. */
  readonly title: string;
  /** Its own words on the command line, e.g. `HOST[:PORT]`. */
  readonly usage: string;
  /** All cases, for a list without a peer. */
  readonly cases: readonly CaseDescription[];
  /**
   * Reads its words and binds the cases. Rejects with UsageError (wrong words) or ConnectionError (no server
   * listens).
   */
  prepare(words: readonly string[], options: SuiteOptions): Promise<PreparedSuite>;
}

export interface RunOptions {
  /** Only cases whose id or one of whose rules matches one of these ({@link matchesPattern}). */
  readonly only?: readonly string[];
  /** Milliseconds for one case. Default {@link CASE_TIMEOUT_MS}. */
  readonly timeoutMs?: number;
  /** Stops the run, also inside a case; the iteration throws its reason. */
  readonly signal?: AbortSignal;
}

/**
 * Runs the cases one after the other. A case that takes too long fails; a defect of the kit itself is thrown.
 *
 * A silent peer must not cost the time-out of every case. The rest is skipped, with the reason, after a case that timed out
 * without a byte from the peer, if the peer has not sent a byte in any case before, or after two such cases in a row.
 */
export async function* runSuite(
  prepared: PreparedSuite,
  options: RunOptions = {},
): AsyncGenerator<CaseResult, void, undefined> {
  const { only = [], timeoutMs = CASE_TIMEOUT_MS, signal } = options;
  const silence = new Silence();
  for (const bound of selectCases(prepared.cases, only)) {
    signal?.throwIfAborted();
    if (silence.reason !== undefined) {
      yield skipped(prepared.suite, bound, silence.reason);
      continue;
    }
    const transcript = new Transcript();
    const result = await runCase(prepared.suite, bound, transcript, timeoutMs, signal);
    signal?.throwIfAborted();
    silence.after(bound, result, transcript);
    yield result;
  }
}

/** Detects a peer that has stopped answering. */
class Silence {
  /** Why the cases that follow are skipped. */
  reason: string | undefined;
  #everHeard = false;
  #before: string | undefined;

  after({ id }: CaseDescription, { verdict }: CaseResult, { heard, silent }: Transcript): void {
    this.#everHeard ||= heard;
    const inVain = verdict === 'fail' && silent && !heard;
    if (inVain && (!this.#everHeard || this.#before !== undefined)) {
      this.reason = `the peer sent nothing in ${[this.#before, id].filter((one) => one !== undefined).join(' and ')}`;
    }
    this.#before = inVain ? id : undefined;
  }
}

function skipped(suite: string, bound: BoundCase, message: string): CaseResult {
  const { id, title, rules, source, level } = bound;
  return {
    suite,
    id,
    title,
    rules,
    source,
    level,
    verdict: 'skip',
    message,
    transcript: [],
    milliseconds: 0,
  };
}

/** The cases that match one of the patterns; all if there are no patterns. */
export function selectCases<Case extends CaseDescription>(
  cases: readonly Case[],
  only: readonly string[],
): readonly Case[] {
  if (only.length === 0) return cases;
  const named = ({ id, rules }: CaseDescription) =>
    only.some((pattern) => [id, ...rules].some((name) => matchesPattern(name, pattern)));
  return cases.filter(named);
}

/** Whether a pattern matches the whole name, ignoring case; `*` matches any characters. */
export function matchesPattern(name: string, pattern: string): boolean {
  const parts = pattern.toLowerCase().split('*');
  const text = name.toLowerCase();
  const first = parts[0] ?? '';
  const last = parts.at(-1) ?? '';
  if (parts.length === 1) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - at >= last.length && text.endsWith(last);
}

async function runCase(
  suite: string,
  bound: BoundCase,
  transcript: Transcript,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<CaseResult> {
  const { id, title, rules, source, level } = bound;
  const started = performance.now();
  const outcome = await judge(bound, transcript, Math.max(timeoutMs, bound.timeoutMs ?? 0), signal);
  const milliseconds = Math.round(performance.now() - started);
  return { suite, id, title, rules, source, level, ...outcome, transcript: transcript.entries, milliseconds };
}

type Outcome = Pick<CaseResult, 'verdict' | 'message' | 'expected' | 'received'>;

/** Runs one case with its time limit. A case that ignores its signal is abandoned. */
async function judge(
  bound: BoundCase,
  transcript: Transcript,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  const stop = new AbortController();
  const late = new ConnectionError(`no verdict within ${timeoutMs} ms`);
  const abort = () => stop.abort(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(() => {
    transcript.silence(late.message);
    stop.abort(late);
  }, timeoutMs);
  try {
    await Promise.race([bound.run(transcript, stop.signal), aborted(stop.signal)]);
    return { verdict: 'pass' };
  } catch (error) {
    if (stop.signal.aborted) return { verdict: 'fail', message: late.message };
    return outcomeOf(error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    // The signal closes everything that the case left open.
    stop.abort(late);
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/** The outcome for an error of a case. An error that is neither of the peer nor of the rules is a defect of the kit. */
function outcomeOf(error: unknown): Outcome {
  if (error instanceof NotApplicable) return { verdict: 'skip', message: error.message };
  if (error instanceof Mismatch) {
    const { message, expected, received } = error;
    return { verdict: 'fail', message, expected, received };
  }
  if (error instanceof KitError) return { verdict: 'fail', message: error.message };
  throw error;
}
