// Suites, and the runner that executes their cases one after the other.
import { setMaxListeners } from 'node:events';
import { readdir } from 'node:fs/promises';
import { ConnectionError, KitError, UsageError } from '../../protocols/errors.js';
import { BASES, type Basis } from '../../protocols/specification/index.js';
import { type CaseDescription, Mismatch, NotApplicable } from './case.js';
import { statementsOf } from './rule-book.js';
import { basisOfSource, nameSource } from './sources.js';
import { Transcript, type TranscriptEntry } from './transcript.js';

/** Default time limit of a case. */
export const CASE_TIMEOUT_MS = 10_000;

/** The result of one case. */
export interface CaseResult extends Omit<CaseDescription, 'timeoutMs'> {
  readonly suite: string;
  /** What the verdict rests on. */
  readonly basis: Basis;
  readonly verdict: 'pass' | 'fail' | 'skip';
  /** Why it failed or was skipped. */
  readonly message?: string;
  readonly expected?: string;
  readonly received?: string;
  /** Of a failed case: what its rules say, `GATHERD-3.7: A sentence.` */
  readonly statements?: readonly string[];
  readonly transcript: readonly TranscriptEntry[];
  readonly milliseconds: number;
}

/** A case that is bound to its target. */
export interface BoundCase extends CaseDescription {
  /**
   * As {@link ConformanceCase.run}. It must stop soon after the signal is aborted, which happens at its time
   * limit.
   */
  run(transcript: Transcript, signal: AbortSignal): Promise<unknown>;
}

/** Options that every suite has in addition to its own arguments. */
export interface SuiteOptions {
  /** Milliseconds for one case. Default {@link CASE_TIMEOUT_MS}. */
  readonly timeoutMs?: number;
  /** Aborts preparing and all prepared cases. */
  readonly signal?: AbortSignal;
}

/** A suite that is bound to the target in its arguments. */
export interface PreparedSuite extends AsyncDisposable {
  readonly suite: string;
  /** The target, for the report: `localhost:8500`. */
  readonly target: string;
  readonly cases: readonly BoundCase[];
}

/**
 * The cases for one kind of peer. Each subfolder of `clients/conformance` exports one as `suite` from
 * `suite.ts`.
 */
export interface Suite {
  /** The name of its folder, by which the command line selects it. */
  readonly name: string;
  /** One line. */
  readonly title: string;
  /** Its own arguments on the command line, e.g. `HOST[:PORT]`. */
  readonly usage: string;
  /** What a command under test must do, and what its options mean: lines of at most 96 characters. */
  readonly requirements?: readonly string[];
  /** All cases, for a list without a peer. */
  readonly cases: readonly CaseDescription[];
  /**
   * Reads the arguments and binds the cases. Rejects with UsageError for wrong arguments, with ConnectionError
   * when no server listens.
   */
  prepare(args: readonly string[], options: SuiteOptions): Promise<PreparedSuite>;
}

export interface RunOptions {
  /** Only cases whose id or one of whose rules matches one of these ({@link matchesPattern}). */
  readonly only?: readonly string[];
  /** Cases whose verdict rests on less are skipped, e.g. on a choice of this project. Default `choice`: none. */
  readonly basis?: Basis;
  /** Milliseconds for one case. Default {@link CASE_TIMEOUT_MS}. */
  readonly timeoutMs?: number;
  /** Stops the run, also inside a case; the iteration throws its reason. */
  readonly signal?: AbortSignal;
}

/**
 * Runs the cases one after the other. A case that takes too long fails; a defect of the kit itself is thrown.
 *
 * A silent peer must not cost the timeout of every case. If a case times out without a byte from the peer, the
 * remaining cases are skipped with the reason, provided that the peer has never sent a byte or that this
 * happens in two cases in a row.
 */
export async function* runSuite(
  prepared: PreparedSuite,
  options: RunOptions = {},
): AsyncGenerator<CaseResult, void, undefined> {
  const { only = [], basis = 'choice', timeoutMs = CASE_TIMEOUT_MS, signal } = options;
  const silence = new SilenceDetector();
  for (const bound of selectCases(prepared.cases, only)) {
    signal?.throwIfAborted();
    const reason = silence.reason ?? reasonOfBasis(basisOfSource(bound.source), basis);
    if (reason !== undefined) {
      yield {
        ...describeCase(prepared.suite, bound),
        verdict: 'skip',
        message: reason,
        transcript: [],
        milliseconds: 0,
      };
      continue;
    }
    const transcript = new Transcript();
    const result = await runCase(prepared.suite, bound, transcript, timeoutMs, signal);
    signal?.throwIfAborted();
    silence.observe(bound, result, transcript);
    yield result;
  }
}

/** Detects a peer that has stopped answering. */
class SilenceDetector {
  /** Why the remaining cases are skipped; undefined while they are run. */
  reason: string | undefined;
  #hasPeerSent = false;
  /** The previous case, if it timed out without a byte from the peer. */
  #previous: string | undefined;

  observe({ id }: CaseDescription, { verdict }: CaseResult, { hasReceived, timedOut }: Transcript): void {
    this.#hasPeerSent ||= hasReceived;
    const isSilent = verdict === 'fail' && timedOut && !hasReceived;
    if (isSilent && (!this.#hasPeerSent || this.#previous !== undefined)) {
      const cases = [this.#previous, id].filter((one) => one !== undefined);
      this.reason = `the peer sent nothing in ${cases.join(' and ')}`;
    }
    this.#previous = isSilent ? id : undefined;
  }
}

/** Returns why a case that rests on `given` is not judged; undefined if that is enough. */
function reasonOfBasis(given: Basis, required: Basis): string | undefined {
  if (BASES.indexOf(given) <= BASES.indexOf(required)) return undefined;
  return `its verdict would rest on ${BASIS_NAMES[given]}`;
}

/** What a verdict rests on, in a sentence. */
export const BASIS_NAMES: Readonly<Record<Basis, string>> = {
  seed: 'a seed document',
  manual: 'a manual or note of the original system',
  client: 'a deployed client of the time',
  inferred: 'a conclusion, not on a record',
  choice: 'a choice of this project',
};

function describeCase(suite: string, { id, title, rules, source, level }: CaseDescription) {
  return { suite, id, title, rules, source: nameSource(source), basis: basisOfSource(source), level };
}

/** Returns the cases that match one of the patterns; all if there are no patterns. */
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
  const started = performance.now();
  const outcome = await runWithTimeout(bound, transcript, Math.max(timeoutMs, bound.timeoutMs ?? 0), signal);
  const milliseconds = Math.round(performance.now() - started);
  const described = { ...describeCase(suite, bound), ...outcome };
  const result = { ...described, transcript: transcript.entries, milliseconds };
  return outcome.verdict === 'fail' ? { ...result, statements: await statementsOf(bound.rules) } : result;
}

type Outcome = Pick<CaseResult, 'verdict' | 'message' | 'expected' | 'received'>;

/** Runs a case with its time limit. If the case ignores its signal, it is abandoned. */
async function runWithTimeout(
  bound: BoundCase,
  transcript: Transcript,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  const stop = new AbortController();
  // Each wait of a case listens, on every connection that the case has; Node takes more than ten listeners for
  // a leak.
  setMaxListeners(0, stop.signal);
  const timeout = new ConnectionError(`no verdict within ${timeoutMs} ms`);
  const abort = () => stop.abort(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(() => {
    transcript.noteTimeout(timeout.message);
    stop.abort(timeout);
  }, timeoutMs);
  try {
    await Promise.race([bound.run(transcript, stop.signal), aborted(stop.signal)]);
    return { verdict: 'pass' };
  } catch (error) {
    if (stop.signal.aborted) return { verdict: 'fail', message: timeout.message };
    return outcomeOf(error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    // The signal closes everything that the case left open.
    stop.abort(timeout);
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/**
 * Returns the outcome for an error of a case. An error that the peer or the rules do not explain is a defect of
 * the kit.
 */
function outcomeOf(error: unknown): Outcome {
  if (error instanceof NotApplicable) return { verdict: 'skip', message: error.message };
  if (error instanceof Mismatch) {
    const { message, expected, received } = error;
    return { verdict: 'fail', message, expected, received };
  }
  if (error instanceof KitError) return { verdict: 'fail', message: error.message };
  throw error;
}

/** Returns the names of all suites, which are the folders next to this module. A new folder adds a suite. */
export async function suiteNames(): Promise<string[]> {
  const entries = await readdir(new URL('.', import.meta.url), { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
}

/** Loads a suite by its name. Rejects with UsageError for an unknown name. */
export async function loadSuite(name: string): Promise<Suite> {
  const names = await suiteNames();
  if (!names.includes(name)) {
    throw new UsageError(`no suite is named "${name}"; the suites are: ${names.join(', ')}`);
  }
  const module: object = await import(new URL(`${name}/suite.js`, import.meta.url).href);
  if (!hasSuite(module)) throw new TypeError(`clients/conformance/${name}/suite exports no suite`);
  return module.suite;
}

function hasSuite(module: object): module is { readonly suite: Suite } {
  if (!('suite' in module)) return false;
  const { suite } = module;
  return typeof suite === 'object' && suite !== null && 'prepare' in suite && 'cases' in suite;
}
