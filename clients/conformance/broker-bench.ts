import { withTimeout } from '../../protocols/clock.js';
import { untilAborted } from '../../protocols/linked-abort.js';
import { monotonicClock } from '../connection/monotonic-clock.js';
import { check, NotApplicable, type Procedure } from './case.js';
import { type ClientContext, type ClientRun, checkExited, runAgainst, SharedRuns } from './client-context.js';
import type { Address, ClientEnd, ClientUnderTest } from './command-client.js';
import { bytes, printable } from './printable.js';
import { type ClientLine, type Script, ScriptedServer } from './scripted-server.js';
import { type Delivery, Transcript } from './transcript.js';

/*
 * Shared by the suites about clients of a Broker: runs a client against a scripted Broker, and the checks of
 * such a run.
 */

/** Bytes of output that are kept; the replies of scripts are far smaller. */
const MAX_OUTPUT = 8 << 20;
/** A client that closes its side early does so within this time. */
const WATCH_MS = 150;

/** First line of a scripted Broker (BRK-1.3). */
export const GREETING = '200 - HARVEST Broker 1.0\n';

/**
 * Behavior of a scripted Broker. `Reply` is everything after the greeting; then the Broker closes the
 * connection.
 */
export interface BrokerBehavior<Reply> {
  readonly reply: Reply;
  /** Default {@link GREETING}. */
  readonly greeting?: string;
  readonly delivery?: Delivery;
  /** Sends nothing and closes at once, whether the client sends first or waits for the greeting (BRK-1.3). */
  readonly closesAtOnce?: boolean;
  /** Resets the connection instead of closing it. */
  readonly reset?: boolean;
  /** Waits a moment before the reply, to see whether the client closes its side. */
  readonly watch?: boolean;
}

/**
 * A text in a reply, with its kind. Every text of a script is one plain word or URL, so that it is found in any
 * output.
 */
export interface SentText<Kind extends string = string> {
  readonly kind: Kind;
  readonly text: string;
}

/** A behavior of a Broker, and what the client must make of it. */
export interface ReplyCheck<Behavior, Kind extends string> {
  readonly behavior: Behavior;
  /** Texts that the output must have, if the client shows texts of their kind. */
  readonly shownTexts?: readonly SentText<Kind>[];
  /** Texts that must not be shown. */
  readonly hiddenTexts?: readonly string[];
  /** A word that standard output or standard error must have. */
  readonly shownMessage?: string;
  /** The required outcome of the run; not checked if undefined. */
  readonly outcome?: 'success' | 'failure';
}

/** The observable results of a run against a scripted Broker. */
export interface BrokerRun extends ClientRun {
  /** Standard output; each character is a byte. */
  readonly output: string;
  /** Whether the client closed its side before it had its reply; only known if the behavior has `watch`. */
  readonly closedEarly: boolean;
}

/** Runs a client against scripted Brokers. The ordinary run is made once, and several cases check it. */
export abstract class BrokerBench<
  Task extends Address,
  Behavior extends BrokerBehavior<unknown>,
  Kind extends string = string,
> {
  /** The ordinary reply. Other cases look for the kinds of texts that the client shows of it. */
  protected abstract readonly ordinaryBehavior: Behavior;
  /** The texts of the ordinary reply. */
  abstract readonly ordinaryTexts: readonly SentText<Kind>[];
  /** The kind of text that every client must show. */
  protected abstract readonly essential: { readonly kind: Kind; readonly name: string };
  readonly #client: ClientUnderTest<Task>;
  readonly #shared = new SharedRuns<Behavior, BrokerRun>();

  constructor(client: ClientUnderTest<Task>) {
    this.#client = client;
  }

  /** Returns the client's task. @param behavior undefined: no server listens */
  protected abstract taskOf(address: Address, behavior: Behavior | undefined): Task;

  /** Returns the reply to the client's message; each character is a byte. */
  protected abstract replyTo(behavior: Behavior, message: string): string;

  /** Runs the client against a Broker with this behavior. */
  async observe(behavior: Behavior, context: ClientContext<unknown>): Promise<BrokerRun> {
    const { signal } = context;
    let closedEarly = false;
    const script: Script = async (peer) => {
      const { delivery = 'whole', greeting = GREETING } = behavior;
      if (behavior.closesAtOnce === true) {
        peer.end();
        return;
      }
      await peer.send(bytes(greeting), delivery);
      const line = await peer.line();
      if (line !== undefined) {
        if (behavior.watch === true) closedEarly ||= await closesSoon(peer, signal);
        await peer.send(bytes(this.replyTo(behavior, line.text)), delivery);
      }
      if (behavior.reset === true) peer.reset();
      else peer.end();
    };
    let output = '';
    const take = (piece: Uint8Array) => {
      if (output.length < MAX_OUTPUT) output += Buffer.from(piece).toString('latin1');
    };
    const run = await runAgainst(script, context, (address) =>
      this.#client.run(this.taskOf(address, behavior), take, signal),
    );
    return { ...run, output, closedEarly };
  }

  /** Runs the client with the address of a port on which no server listens. */
  async observeNoServer({ transcript, signal }: ClientContext<unknown>): Promise<ClientEnd> {
    const address = await ScriptedServer.unusedPort();
    transcript.note('no server listens on the port that the client is given');
    return this.#client.run(this.taskOf(address, undefined), () => {}, signal);
  }

  /** Returns the ordinary run, which is made once for all cases. */
  ordinary(context: ClientContext<unknown>): Promise<BrokerRun> {
    const behavior = this.ordinaryBehavior;
    return this.#shared.get(behavior, context.transcript, () => this.observe(behavior, context));
  }

  /** Returns the ordinary run, without showing it in the report of the case. */
  ordinaryUnshown(context: ClientContext<unknown>): Promise<BrokerRun> {
    return this.ordinary({ ...context, transcript: new Transcript(context.transcript) });
  }

  /**
   * Returns the kinds of texts that the client shows.
   * @throws NotApplicable if it does not even show the essential kind, which `session/plain` checks
   */
  async shownKinds(context: ClientContext<unknown>): Promise<ReadonlySet<Kind>> {
    const { output } = await this.ordinaryUnshown(context);
    const shown = this.ordinaryTexts.filter(({ text }) => output.includes(text));
    const kinds = new Set(shown.map(({ kind }) => kind));
    const { kind, name } = this.essential;
    if (!kinds.has(kind)) throw new NotApplicable(`the client shows no ${name}: see session/plain`);
    return kinds;
  }

  /** Checks that the client shows all these texts, except the kinds that it never shows. @throws Mismatch */
  async checkShowsAll(
    { output }: BrokerRun,
    texts: readonly SentText<Kind>[],
    context: ClientContext<unknown>,
  ): Promise<void> {
    const kinds = await this.shownKinds(context);
    for (const { kind, text } of texts) {
      check(!kinds.has(kind) || output.includes(text), `a text is lost: ${kind}`, {
        expected: printable(text),
        received: printable(output.slice(-200)),
      });
    }
  }

  /** Runs the client against a Broker with a behavior and checks its output. @throws Mismatch */
  async checkReply(
    { behavior, shownTexts = [], hiddenTexts = [], shownMessage, outcome }: ReplyCheck<Behavior, Kind>,
    context: ClientContext<unknown>,
  ): Promise<void> {
    const run = await this.observe(behavior, context);
    if (shownTexts.length > 0) await this.checkShowsAll(run, shownTexts, context);
    checkShowsNone(run, hiddenTexts);
    if (shownMessage !== undefined) checkShowsMessage(run, shownMessage);
    if (outcome === 'success') await this.checkSucceeds(run, context);
    if (outcome === 'failure') checkReportsFailure(run);
  }

  /** Checks that the client reports success. @throws Mismatch */
  async checkSucceeds(end: ClientEnd, context: ClientContext<unknown>): Promise<void> {
    checkExited(end);
    const { status, diagnostics } = end;
    const ordinary = await this.ordinaryUnshown(context);
    // A client whose exit status is never 0 fails only once for that, in `session/exit-status`.
    check(status === 0 || ordinary.status !== 0, 'the client reports a failure after a good reply', {
      expected: 'exit status 0',
      received: `exit status ${status}: ${printable(diagnostics.trim())}`,
    });
  }
}

/** Checks that none of the texts is in the output. @throws Mismatch */
function checkShowsNone({ output }: BrokerRun, texts: readonly string[]): void {
  for (const text of texts) {
    check(!output.includes(text), 'the output has text that is not part of the transferred objects', {
      expected: `not ${printable(text)}`,
      received: printable(output.slice(-200)),
    });
  }
}

/** Checks that standard output or standard error has a message. @throws Mismatch */
function checkShowsMessage({ output, diagnostics }: BrokerRun, message: string): void {
  const all = output + diagnostics;
  check(all.includes(message), 'the message is not shown', { expected: message, received: printable(all) });
}

/** Checks that the client reports a failure. @throws Mismatch */
function checkReportsFailure({ status, diagnostics }: ClientEnd): void {
  check(status !== undefined && status !== 0, 'the client does not report the failure', {
    expected: 'an exit status other than 0',
    received: status === undefined ? `ended by a signal: ${printable(diagnostics.trim())}` : 'exit status 0',
  });
}

/** The members of a bench that the cases about the ordinary run use. */
interface OrdinaryBench {
  readonly ordinaryTexts: readonly SentText[];
  ordinary(context: ClientContext<unknown>): Promise<BrokerRun>;
}

/** Looks at the ordinary run. */
export function ordinary(
  verify: (run: BrokerRun, bench: OrdinaryBench) => void,
): Procedure<ClientContext<OrdinaryBench>> {
  return async (context) => verify(await context.bench.ordinary(context), context.bench);
}

/** Runs the client with the address of a port on which no server listens; it must report a failure. */
export const failsWithoutServer: Procedure<
  ClientContext<{ observeNoServer(context: ClientContext<unknown>): Promise<ClientEnd> }>
> = async (context) => checkReportsFailure(await context.bench.observeNoServer(context));

/** Returns a check that the client shows every text of a kind in the ordinary reply. */
export function checkShowsEvery(kind: string) {
  return ({ output }: BrokerRun, { ordinaryTexts }: OrdinaryBench): void => {
    for (const sent of ordinaryTexts) {
      check(sent.kind !== kind || output.includes(sent.text), 'an object is not shown', {
        expected: sent.text,
        received: printable(output),
      });
    }
  };
}

/** Checks that the client keeps its side open until it has the reply. @throws Mismatch */
export function checkKeepsOpen({ closedEarly }: BrokerRun): void {
  check(!closedEarly, 'the client closes its side after the message', {
    expected: 'an open connection',
    received: 'end of input',
  });
}

/** Checks that the client sends one line on each connection. @throws Mismatch */
export function checkOneMessage({ sessions }: BrokerRun): void {
  check(sessions.length > 0, 'the client does not connect', { expected: 'a connection', received: 'none' });
  for (const { lines } of sessions) {
    check(lines.length === 1, 'the client does not send exactly one message', {
      expected: 'one line',
      received: printable(lines.map(({ text }) => text).join('\n')) || 'nothing',
    });
  }
}

/** Checks that the lines end in CR LF. @throws Mismatch */
export function checkCrLf(lines: readonly ClientLine[]): void {
  for (const { end, text } of lines) {
    check(end === '\r\n', 'a line does not end in CR LF', {
      expected: 'CR LF',
      received: printable(text + end),
    });
  }
}

/** The URL of an object of a script. */
export function urlOf(name: string): string {
  return `http://${name}.example.org/`;
}

/** Whether the client closes its direction within a moment. */
async function closesSoon(peer: { line(): Promise<unknown> }, signal: AbortSignal): Promise<boolean> {
  const closed = peer.line().then((line) => line === undefined);
  return untilAborted(() => withTimeout(monotonicClock, WATCH_MS, closed, () => false), signal);
}
