// Shared by the suites about servers: the connections of a case, and binding cases to a server.
import { type ConformanceCase, type Procedure, within } from './case.js';
import { type BoundCase, CASE_TIMEOUT_MS, type PreparedSuite, type SuiteOptions } from './runner.js';
import { Transcript } from './transcript.js';
import { type Target, targetText, Wire } from './wire.js';

/** Facts that the cases of a run against one server share. */
export interface ServerFacts {
  readonly target: Target;
  /** Milliseconds to wait for a byte. */
  readonly idleMs: number;
}

/** Context of one case against a server. Its connections are closed when the case ends. */
export class ServerContext<Facts extends ServerFacts> implements AsyncDisposable {
  readonly transcript: Transcript;
  /** Aborted at the time limit of the case. */
  readonly signal: AbortSignal;
  readonly shared: Facts;
  readonly #wires: Wire[] = [];
  readonly #abort = () => void this.close();

  constructor(shared: Facts, transcript: Transcript, signal: AbortSignal) {
    this.shared = shared;
    this.transcript = transcript;
    this.signal = signal;
    signal.addEventListener('abort', this.#abort, { once: true });
  }

  /** `HOST:PORT` of the server. */
  get target(): string {
    return targetText(this.shared.target);
  }

  /** Opens a connection and reads nothing. @param recorded false: the report does not show it */
  async connect(recorded = true, idleMs = this.shared.idleMs): Promise<Wire> {
    const transcript = recorded ? this.transcript : new Transcript(this.transcript);
    const wire = await Wire.open(this.shared.target, { transcript, signal: this.signal, idleMs });
    this.#wires.push(wire);
    return wire;
  }

  async close(): Promise<void> {
    this.signal.removeEventListener('abort', this.#abort);
    await Promise.all(this.#wires.map((wire) => wire.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/**
 * Binds the cases of a suite to one server. Each case gets its own context.
 * @param probe checks first whether the server can be tested at all; rejects with ConnectionError if it cannot
 */
export async function prepareServer<Facts extends ServerFacts, Context extends ServerContext<Facts>>(
  suite: string,
  cases: readonly ConformanceCase<Context>[],
  Context: new (shared: Facts, transcript: Transcript, signal: AbortSignal) => Context,
  shared: Facts,
  { signal = new AbortController().signal }: SuiteOptions,
  probe: (context: Context) => Promise<unknown>,
): Promise<PreparedSuite> {
  await using context = new Context(shared, new Transcript(), signal);
  await probe(context);
  const bound = cases.map(
    ({ run, ...description }): BoundCase => ({
      ...description,
      async run(transcript, stop) {
        await using own = new Context(shared, transcript, stop);
        await run(own);
      },
    }),
  );
  return { suite, target: targetText(shared.target), cases: bound, async [Symbol.asyncDispose]() {} };
}

/** Returns the facts that follow from the options of a run. */
export function factsOf(target: Target, { timeoutMs = CASE_TIMEOUT_MS }: SuiteOptions): ServerFacts {
  return { target, idleMs: timeoutMs };
}

/**
 * Returns a builder of what cases do that compare with a survey of the server's data. The first case that runs
 * takes the survey.
 * @param timeoutMs time limit of a case that may have to take it
 */
export function withSurvey<Survey, Context extends { survey(): Promise<Survey> }>(timeoutMs: number) {
  return (run: (survey: Survey, context: Context) => void | Promise<void>): Procedure<Context> =>
    within(timeoutMs, async (context) => run(await context.survey(), context));
}
