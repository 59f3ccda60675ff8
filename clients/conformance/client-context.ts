// Shared by the suites about clients: the context of a case, runs that several cases check, checks of the exit
// status.
import { UsageError } from '../../protocols/errors.js';
import { type ConformanceCase, check, Mismatch } from './case.js';
import type { Address, ClientEnd } from './command-client.js';
import { printable } from './printable.js';
import type { BoundCase, PreparedSuite } from './runner.js';
import { type ClientSession, type Script, ScriptedServer } from './scripted-server.js';
import { Recorder, type Transcript } from './transcript.js';

/** Context of a case about a client. Its `bench` runs the client against the scripted servers of the suite. */
export interface ClientContext<Bench> {
  readonly bench: Bench;
  readonly transcript: Transcript;
  readonly signal: AbortSignal;
}

/** The observable results of a run of the client. */
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

/**
 * Reads the client's command from the arguments `-- COMMAND [ARG...]` of a suite. @throws UsageError if it is
 * missing
 */
export function commandOf(suite: string, args: readonly string[]): readonly string[] {
  const command = args[0] === '--' ? args.slice(1) : args;
  if (command.length === 0 || (args[0] !== '--' && (command[0] ?? '').startsWith('-'))) {
    throw new UsageError(`the command of the client is missing: ${suite} -- COMMAND [ARG...]`);
  }
  return command;
}

/**
 * Runs that several cases check. Each is made once, and its transcript is shown in every case that checks it.
 */
export class SharedRuns<Behavior, Run extends ClientRun> {
  readonly #runs = new Map<Behavior, Promise<Run>>();
  readonly #ended = new Map<Behavior, Run>();

  /**
   * Returns the run with a behavior, which the first case starts.
   * @throws Mismatch when an earlier case has started it and it did not end
   */
  async get(behavior: Behavior, transcript: Transcript, start: () => Promise<Run>): Promise<Run> {
    const known = this.#runs.get(behavior);
    if (known === undefined) {
      const run = start();
      this.#runs.set(behavior, run);
      const ended = await run;
      this.#ended.set(behavior, ended);
      return ended;
    }
    const run = await known.catch(() => undefined);
    if (run === undefined) {
      throw new Mismatch('the client did not end', { expected: 'a run that ends', received: 'none' });
    }
    run.recorder.replay(transcript);
    return run;
  }

  /** Returns the run with a behavior if it has ended; starts nothing. */
  ended(behavior: Behavior): Run | undefined {
    return this.#ended.get(behavior);
  }
}

/** Runs a client against a scripted server. @param run starts the client with the server's address */
export async function runAgainst(
  script: Script,
  { transcript, signal }: ClientContext<unknown>,
  run: (address: Address) => Promise<ClientEnd>,
): Promise<ClientRun> {
  const recorder = new Recorder(transcript);
  await using server = await ScriptedServer.start(script, recorder, signal);
  const end = await run(server.address);
  // The client has ended, so its connections end; their buffered data is read.
  await server.settled();
  noteEnd(recorder, end);
  return { ...end, sessions: server.sessions, recorder };
}

/** Notes in the transcript how the client ended. */
function noteEnd(recorder: Recorder, { status, diagnostics }: ClientEnd): void {
  const ending = status === undefined ? 'ended by a signal' : `exit status ${status}`;
  recorder.note(diagnostics === '' ? ending : `${ending}; standard error: ${diagnostics.trim()}`);
}

/** Checks that the client ended itself. @throws Mismatch if a signal did */
export function checkExited({ status, diagnostics }: ClientEnd): void {
  check(status !== undefined, 'a signal ended the client', {
    expected: 'an exit status',
    received: printable(diagnostics.trim()),
  });
}

/** Checks that the client reports success. @throws Mismatch */
export function checkReportsSuccess({ status, diagnostics }: ClientEnd): void {
  check(status === 0, 'the exit status reports a failure', {
    expected: 'exit status 0',
    received: `exit status ${status ?? 'none'}: ${printable(diagnostics.trim())}`,
  });
}
