import { setTimeout } from 'node:timers/promises';
import { type CaseDescription, type ConformanceCase, check, NotApplicable } from './case.js';
import { type ClientContext, type ClientRun, notCrashed, noteEnd, SharedRuns } from './client-bench.js';
import type { Address, ClientEnd, ClientUnderTest } from './client-under-test.js';
import { printable } from './printable.js';
import { type Delivery, Recorder } from './recorder.js';
import { type ClientLine, type Script, ScriptedServer } from './scripted-server.js';
import { Transcript } from './transcript.js';

/** Bytes of output that are kept: replies of scripts are far smaller. */
const MAX_OUTPUT = 8 << 20;
/** Milliseconds in which a client that closes its side early would have done so. */
const WATCH_MS = 150;

/** First line of a scripted Broker (BRK-1.3). */
export const GREETING = '200 - HARVEST Broker 1.0\n';

/** How a scripted Broker plays its part; `Reply` is everything after the greeting, then the connection ends. */
export interface BrokerPart<Reply> {
  readonly reply: Reply;
  /** Default {@link GREETING}. */
  readonly greeting?: string;
  readonly delivery?: Delivery;
  /** Resets the connection instead of closing it. */
  readonly reset?: boolean;
  /** Waits a moment before the reply, to see whether the client closes its side. */
  readonly watch?: boolean;
}

/** A text that was sent, and as what: every text of a script is one plain word or URL, so that it is found in any output. */
export interface Sent<Kind extends string = string> {
  readonly kind: Kind;
  readonly text: string;
}

/** What a run against a scripted Broker leaves to judge. */
export interface BrokerRun extends ClientRun {
  /** Standard output, a character a byte. */
  readonly output: string;
  /** Whether the client closed its side before it had its reply; only known when the part watches. */
  readonly closedEarly: boolean;
}

/** Runs a client against scripted Brokers. The ordinary run is made once, and several cases judge it. */
export abstract class BrokerBench<
  Task extends Address,
  Part extends BrokerPart<unknown>,
  Kind extends string = string,
> {
  /** The ordinary reply. What the client shows of it is what other cases look for. */
  protected abstract readonly ordinaryPart: Part;
  /** The texts of the ordinary reply. */
  abstract readonly ordinaryTexts: readonly Sent<Kind>[];
  /** What a client has to show to be judged by what it shows. */
  protected abstract readonly essential: { readonly kind: Kind; readonly name: string };
  readonly #client: ClientUnderTest<Task>;
  readonly #shared = new SharedRuns<Part, BrokerRun>();

  constructor(client: ClientUnderTest<Task>) {
    this.#client = client;
  }

  /** What the client is told. @param part undefined: no server listens */
  protected abstract taskOf(address: Address, part: Part | undefined): Task;

  /** The reply to the client's message, a character a byte. */
  protected abstract replyTo(part: Part, message: string): string;

  /** Runs the client against a Broker that plays this part. */
  async observe(part: Part, { transcript, signal }: ClientContext<unknown>): Promise<BrokerRun> {
    const recorder = new Recorder(transcript);
    let closedEarly = false;
    const script: Script = async (peer) => {
      const { delivery = 'whole', greeting = GREETING } = part;
      await peer.send(bytes(greeting), delivery);
      const line = await peer.line();
      if (line !== undefined) {
        if (part.watch === true) closedEarly ||= await closes(peer, signal);
        await peer.send(bytes(this.replyTo(part, line.text)), delivery);
      }
      if (part.reset === true) peer.reset();
      else peer.end();
    };
    await using server = await ScriptedServer.start(script, recorder, signal);
    let output = '';
    const take = (piece: Uint8Array) => {
      if (output.length < MAX_OUTPUT) output += Buffer.from(piece).toString('latin1');
    };
    const end = await this.#client.run(this.taskOf(server.address, part), take, signal);
    await server.settled();
    noteEnd(recorder, end);
    return { ...end, sessions: server.sessions, output, recorder, closedEarly };
  }

  /** Runs the client with the address of a port on which no server listens. */
  async observeNoServer({ transcript, signal }: ClientContext<unknown>): Promise<ClientEnd> {
    const address = await ScriptedServer.unusedPort();
    transcript.note('no server listens on the port that the client is given');
    return this.#client.run(this.taskOf(address, undefined), () => {}, signal);
  }

  /** The ordinary run, made once for all cases. */
  ordinary(context: ClientContext<unknown>): Promise<BrokerRun> {
    const part = this.ordinaryPart;
    return this.#shared.get(part, context.transcript, () => this.observe(part, context));
  }

  /** The ordinary run, without showing it in the report of the case. */
  ordinaryUnshown(context: ClientContext<unknown>): Promise<BrokerRun> {
    return this.ordinary({ ...context, transcript: new Transcript(context.transcript) });
  }

  /** The kinds of texts that the client shows. @throws NotApplicable not even the essential one, which `session/plain` judges */
  async shows(context: ClientContext<unknown>): Promise<ReadonlySet<Kind>> {
    const { output } = await this.ordinaryUnshown(context);
    const shown = this.ordinaryTexts.filter(({ text }) => output.includes(text));
    const kinds = new Set(shown.map(({ kind }) => kind));
    const { kind, name } = this.essential;
    if (!kinds.has(kind)) throw new NotApplicable(`the client shows no ${name}: see session/plain`);
    return kinds;
  }

  /** Everything that was sent is shown, of the kinds that the client shows at all. @throws Mismatch */
  async showsAll(
    { output }: BrokerRun,
    texts: readonly Sent<Kind>[],
    context: ClientContext<unknown>,
  ): Promise<void> {
    const kinds = await this.shows(context);
    for (const { kind, text } of texts) {
      check(!kinds.has(kind) || output.includes(text), `a text is lost: ${kind}`, {
        expected: printable(text),
        received: printable(output.slice(-200)),
      });
    }
  }

  /** The client takes the reply for complete. @throws Mismatch */
  async succeeds(end: ClientEnd, context: ClientContext<unknown>): Promise<void> {
    notCrashed(end);
    const { status, diagnostics } = end;
    const ordinary = await this.ordinaryUnshown(context);
    // A client whose status never says anything is judged for that once, by `session/exit-status`.
    check(status === 0 || ordinary.status !== 0, 'the client says that a good reply failed', {
      expected: 'exit status 0',
      received: `exit status ${status}: ${printable(diagnostics.trim())}`,
    });
  }
}

/** The client reports a failure. @throws Mismatch */
export function saysFailed({ status, diagnostics }: ClientEnd): void {
  check(status !== undefined && status !== 0, 'the client does not say that it failed', {
    expected: 'an exit status other than 0',
    received: status === undefined ? `ended by a signal: ${printable(diagnostics.trim())}` : 'exit status 0',
  });
}

/** What the cases about the ordinary run need of a bench. */
interface OrdinaryBench {
  readonly ordinaryTexts: readonly Sent[];
  ordinary(context: ClientContext<unknown>): Promise<BrokerRun>;
}

/** A case about the ordinary run. */
export function ordinary(
  description: CaseDescription,
  judge: (run: BrokerRun, bench: OrdinaryBench) => void,
): ConformanceCase<ClientContext<OrdinaryBench>> {
  return {
    ...description,
    run: async (context) => judge(await context.bench.ordinary(context), context.bench),
  };
}

/** Every text of a kind in the ordinary reply is shown. @throws Mismatch */
export function showsEvery(kind: string) {
  return ({ output }: BrokerRun, { ordinaryTexts }: OrdinaryBench): void => {
    for (const sent of ordinaryTexts) {
      check(sent.kind !== kind || output.includes(sent.text), 'an object is not shown', {
        expected: sent.text,
        received: printable(output),
      });
    }
  };
}

/** @throws Mismatch */
export function keepsOpen({ closedEarly }: BrokerRun): void {
  check(!closedEarly, 'the client closes its side after the message', {
    expected: 'an open connection',
    received: 'end of input',
  });
}

/** One line on each connection. @throws Mismatch */
export function sendsOneMessage({ sessions }: BrokerRun): void {
  check(sessions.length > 0, 'the client does not connect', { expected: 'a connection', received: 'none' });
  for (const { lines } of sessions) {
    check(lines.length === 1, 'not one message', {
      expected: 'one line',
      received: printable(lines.map(({ text }) => text).join('\n')) || 'nothing',
    });
  }
}

/** @throws Mismatch */
export function endInCrLf(lines: readonly ClientLine[]): void {
  for (const { end, text } of lines) {
    check(end === '\r\n', 'another line end', { expected: 'CR LF', received: printable(text + end) });
  }
}

/** Bytes of a text whose characters are bytes (0x00 to 0xff). */
export function bytes(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

/** Whether the client closes its direction within a moment. */
async function closes(peer: { line(): Promise<unknown> }, signal: AbortSignal): Promise<boolean> {
  const stop = new AbortController();
  const closed = peer.line().then((line) => line === undefined);
  const waited = setTimeout(WATCH_MS, false, { signal: AbortSignal.any([signal, stop.signal]) });
  waited.catch(() => {});
  try {
    return await Promise.race([closed, waited]);
  } finally {
    stop.abort();
  }
}
