import { UsageError } from '../../protocols/errors.js';
import { type ConformanceCase, check, Mismatch } from './case.js';
import type { ClientEnd } from './client-under-test.js';
import { printable } from './printable.js';
import type { Recorder } from './recorder.js';
import type { BoundCase, PreparedSuite } from './runner.js';
import type { ClientSession } from './scripted-server.js';
import type { Transcript } from './transcript.js';

/** What a case about a client works with. */
export interface ClientContext<Bench> {
  readonly bench: Bench;
  readonly transcript: Transcript;
  readonly signal: AbortSignal;
}

/** What a run of the client leaves to judge. */
export interface ClientRun extends ClientEnd {
  readonly sessions: readonly ClientSession[];
  readonly recorder: Recorder;
}

/** Binds the cases of a suite to clients. */
export function prepareClients<Bench>(
  suite: string,
  target: string,
  cases: readonly ConformanceCase<ClientContext<Bench>>[],
  bench: Bench,
): PreparedSuite {
  const bound = cases.map(
    ({ run, ...description }): BoundCase => ({
      ...description,
      run: (transcript, signal) => run({ bench, transcript, signal }),
    }),
  );
  // Every run ends its own server and process.
  return { suite, target, cases: bound, async [Symbol.asyncDispose]() {} };
}

/** The client's command in the words `-- COMMAND [ARG...]` of a suite. @throws UsageError if it is missing */
export function commandOf(suite: string, words: readonly string[]): readonly string[] {
  const command = words[0] === '--' ? words.slice(1) : words;
  if (command.length === 0 || (words[0] !== '--' && (command[0] ?? '').startsWith('-'))) {
    throw new UsageError(`the command of the client is missing: ${suite} -- COMMAND [ARG...]`);
  }
  return command;
}

/** Runs that several cases judge: each is made once, and its transcript is shown in every case that judges it. */
export class SharedRuns<Part, Run extends ClientRun> {
  readonly #runs = new Map<Part, Promise<Run>>();
  readonly #ended = new Map<Part, Run>();

  /** The run of a part. @throws Mismatch when an earlier case has run it and it did not end */
  async get(part: Part, transcript: Transcript, start: () => Promise<Run>): Promise<Run> {
    const known = this.#runs.get(part);
    if (known === undefined) {
      const run = start();
      this.#runs.set(part, run);
      const ended = await run;
      this.#ended.set(part, ended);
      return ended;
    }
    const run = await known.catch(() => undefined);
    if (run === undefined) {
      throw new Mismatch('the client did not end', { expected: 'a run that ends', received: 'none' });
    }
    run.recorder.replay(transcript);
    return run;
  }

  /** The run of a part that has ended; nothing is started. */
  ended(part: Part): Run | undefined {
    return this.#ended.get(part);
  }
}

/** Notes in the transcript how the client ended. */
export function noteEnd(recorder: Recorder, { status, diagnostics }: ClientEnd): void {
  const ending = status === undefined ? 'ended by a signal' : `exit status ${status}`;
  recorder.note(diagnostics === '' ? ending : `${ending}; it says: ${diagnostics.trim()}`);
}

/** The client ended by itself. @throws Mismatch */
export function notCrashed({ status, diagnostics }: ClientEnd): void {
  check(status !== undefined, 'a signal ended the client', {
    expected: 'an exit status',
    received: printable(diagnostics.trim()),
  });
}

/** The client reports success. @throws Mismatch */
export function saysDone({ status, diagnostics }: ClientEnd): void {
  check(status === 0, 'the exit status says that something failed', {
    expected: 'exit status 0',
    received: `exit status ${status ?? 'none'}: ${printable(diagnostics.trim())}`,
  });
}
