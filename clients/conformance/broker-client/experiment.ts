import { setTimeout } from 'node:timers/promises';
import { check, Mismatch, NotApplicable } from '../case.js';
import type { Address, ClientEnd, ClientUnderTest } from '../client-under-test.js';
import { printable } from '../printable.js';
import { Recorder } from '../recorder.js';
import { type ClientSession, type Delivery, type Script, ScriptedServer } from '../scripted-server.js';
import { Transcript } from '../transcript.js';
import { type Asked, askedBy, bytes, full, fullTexts, GREETING, type Kind, type Sent } from './replies.js';

/** Most bytes of output that are kept: replies of scripts are far smaller. */
const MAX_OUTPUT = 8 << 20;
/** Milliseconds in which a client that closes its side early would have done so. */
const WATCH_MS = 150;

/** What a client is told: where the Broker is, and what to ask. */
export interface QueryTask extends Address {
  readonly query: string;
}

/** How the scripted Broker plays its part. */
export interface Part {
  /** Everything behind the greeting; the connection ends behind it. */
  readonly reply: (asked: Asked) => string;
  /** Default {@link GREETING}. */
  readonly greeting?: string;
  readonly delivery?: Delivery;
  /** Breaks the connection off instead of closing it. */
  readonly reset?: boolean;
  /** Waits a moment before the reply, to see whether the client closes its side. */
  readonly watch?: boolean;
  /** What the client is to ask. Default a word. */
  readonly query?: string;
}

/** What there is to judge after a run of the client. */
export interface Observation extends ClientEnd {
  readonly sessions: readonly ClientSession[];
  /** Standard output, a character a byte. */
  readonly output: string;
  readonly recorder: Recorder;
  /** Whether the client closed its side before it had its reply; only known when the part watches. */
  readonly closedEarly: boolean;
}

/** What the cases work with. */
export interface ClientContext {
  readonly bench: Bench;
  readonly transcript: Transcript;
  readonly signal: AbortSignal;
}

/** The ordinary reply: two objects with everything. What the client shows of it is what other cases look for. */
const ORDINARY: Part = {
  reply: (asked) => full('walrus', asked) + full('penguin', asked),
  watch: true,
};
export const ORDINARY_TEXTS = fullTexts('walrus', 'penguin');
export const QUERY = 'lighthouse';

/** The client that is judged, and its ordinary run, at which several cases look. */
export class Bench {
  readonly #client: ClientUnderTest<QueryTask>;
  #ordinary: Promise<Observation> | undefined;

  constructor(client: ClientUnderTest<QueryTask>) {
    this.#client = client;
  }

  /** Runs the client against a Broker that plays this part. */
  async observe(part: Part, { transcript, signal }: ClientContext): Promise<Observation> {
    const recorder = new Recorder(transcript);
    let closedEarly = false;
    const script: Script = async (peer) => {
      const { delivery = 'whole', greeting = GREETING } = part;
      await peer.send(bytes(greeting), delivery);
      const line = await peer.line();
      if (line !== undefined) {
        if (part.watch === true) closedEarly ||= await closes(peer, signal);
        await peer.send(bytes(part.reply(askedBy(line.text))), delivery);
      }
      if (part.reset === true) peer.reset();
      else peer.end();
    };
    await using server = await ScriptedServer.start(script, recorder, signal);
    let output = '';
    const take = (piece: Uint8Array) => {
      if (output.length < MAX_OUTPUT) output += Buffer.from(piece).toString('latin1');
    };
    const task = { ...server.address, query: part.query ?? QUERY };
    const end = await this.#client.run(task, take, signal);
    await server.settled();
    const status = end.status === undefined ? 'ended by a signal' : `exit status ${end.status}`;
    recorder.note(`${status}${end.diagnostics === '' ? '' : `; it says: ${end.diagnostics.trim()}`}`);
    return { ...end, sessions: server.sessions, output, recorder, closedEarly };
  }

  /** Runs the client where nobody listens. */
  async observeNobody({ transcript, signal }: ClientContext): Promise<ClientEnd> {
    const address = await ScriptedServer.unusedPort();
    transcript.note('nobody listens on the port that the client is given');
    return this.#client.run({ ...address, query: QUERY }, () => {}, signal);
  }

  /** The ordinary run, once for all cases. */
  async ordinary(context: ClientContext): Promise<Observation> {
    if (this.#ordinary === undefined) {
      this.#ordinary = this.observe(ORDINARY, context);
      return this.#ordinary;
    }
    const observation = await this.#ordinary.catch(() => undefined);
    if (observation === undefined) {
      throw new Mismatch('the client did not end', { expected: 'a run that ends', received: 'none' });
    }
    observation.recorder.replay(context.transcript);
    return observation;
  }

  /** What of an object the client shows. A client that shows no URL of the ordinary reply is judged by that once. */
  async shows(context: ClientContext): Promise<ReadonlySet<Kind>> {
    const { output } = await this.ordinary({ ...context, transcript: new Transcript() });
    const kinds = ORDINARY_TEXTS.filter(({ text }) => output.includes(text)).map(({ kind }) => kind);
    if (!kinds.includes('url')) throw new NotApplicable('the client shows no URLs: see session/plain');
    return new Set(kinds);
  }
}

/** Whether the client says within a moment that it will send nothing more. */
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

/** All that was sent is shown, of the kinds that the client shows at all. @throws Mismatch */
export async function showsAll(
  { output }: Observation,
  texts: readonly Sent[],
  context: ClientContext,
): Promise<void> {
  const kinds = await context.bench.shows(context);
  for (const { kind, text } of texts) {
    check(!kinds.has(kind) || output.includes(text), `a ${kind} is lost`, {
      expected: printable(text),
      received: printable(output.slice(-200)),
    });
  }
}

/** The client takes the reply for complete. @throws Mismatch */
export async function succeeds(observation: ClientEnd, context: ClientContext): Promise<void> {
  const { status, diagnostics } = observation;
  check(status !== undefined, 'a signal ended the client', {
    expected: 'an exit status',
    received: printable(diagnostics.trim()),
  });
  const ordinary = await context.bench.ordinary({ ...context, transcript: new Transcript() });
  // A client whose status never says anything is judged for that once, by `session/exit-status`.
  check(status === 0 || ordinary.status !== 0, 'the client says that a good reply failed', {
    expected: 'exit status 0',
    received: `exit status ${status}: ${printable(diagnostics.trim())}`,
  });
}

/** The client says that it failed. @throws Mismatch */
export function saysFailed({ status, diagnostics }: ClientEnd): void {
  check(status !== undefined && status !== 0, 'the client does not say that it failed', {
    expected: 'an exit status other than 0',
    received: status === undefined ? `ended by a signal: ${printable(diagnostics.trim())}` : 'exit status 0',
  });
}
