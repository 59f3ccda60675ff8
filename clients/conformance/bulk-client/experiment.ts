import { setTimeout } from 'node:timers/promises';
import { type ConformanceCase, check, Mismatch, NotApplicable } from '../case.js';
import type { Address, ClientEnd, ClientUnderTest } from '../client-under-test.js';
import { printable } from '../printable.js';
import { Recorder } from '../recorder.js';
import { type ClientSession, type Delivery, type Script, ScriptedServer } from '../scripted-server.js';
import { Transcript } from '../transcript.js';
import { bytes, full, GREETING, group, type Kind, type Sent, SUCCESS, updated, urlOf } from './replies.js';

export type BulkClientCase = ConformanceCase<ClientContext>;

/** Most bytes of output that are kept: replies of scripts are far smaller. */
const MAX_OUTPUT = 8 << 20;
/** Milliseconds in which a client that closes its side early would have done so. */
const WATCH_MS = 150;

/** How the scripted Broker plays its part. */
export interface Part {
  /** Everything behind the greeting, a character a byte; the connection ends behind it. */
  readonly reply: string;
  /** Default {@link GREETING}. */
  readonly greeting?: string;
  readonly delivery?: Delivery;
  /** Breaks the connection off instead of closing it. */
  readonly reset?: boolean;
  /** Waits a moment before the reply, to see whether the client closes its side. */
  readonly watch?: boolean;
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

/** The ordinary transfer: something in each group. What the client shows of it is what other cases look for. */
const ORDINARY: Part = {
  reply:
    SUCCESS +
    group('DELETE', full('walrus')) +
    group('REFRESH', full('penguin')) +
    group('UPDATE', full('puffin') + full('gannet')),
  watch: true,
};
export const ORDINARY_TEXTS: readonly Sent[] = [
  { kind: 'delete', text: urlOf('walrus') },
  { kind: 'refresh', text: urlOf('penguin') },
  ...updated('puffin', 'gannet'),
];

/** The client that is judged, and its ordinary run, at which several cases look. */
export class Bench {
  readonly #client: ClientUnderTest;
  #ordinary: Promise<Observation> | undefined;

  constructor(client: ClientUnderTest) {
    this.#client = client;
  }

  /** Runs the client against a Broker that plays this part. */
  async observe(part: Part, { transcript, signal }: ClientContext): Promise<Observation> {
    const recorder = new Recorder(transcript);
    recorder.note('the client is started');
    let closedEarly = false;
    const script: Script = async (peer) => {
      const { delivery = 'whole', greeting = GREETING } = part;
      await peer.send(bytes(greeting), delivery);
      const line = await peer.line();
      if (line !== undefined) {
        if (part.watch === true) closedEarly ||= await closes(peer, signal);
        await peer.send(bytes(part.reply), delivery);
      }
      if (part.reset === true) peer.reset();
      else peer.end();
    };
    await using server = await ScriptedServer.start(script, recorder, signal);
    let output = '';
    const take = (piece: Uint8Array) => {
      if (output.length < MAX_OUTPUT) output += Buffer.from(piece).toString('latin1');
    };
    const end = await this.#client.run(server.address, take, signal);
    await server.settled();
    const status = end.status === undefined ? 'ended by a signal' : `exit status ${end.status}`;
    recorder.note(`${status}${end.diagnostics === '' ? '' : `; it says: ${end.diagnostics.trim()}`}`);
    return { ...end, sessions: server.sessions, output, recorder, closedEarly };
  }

  /** Runs the client where nobody listens. */
  async observeNobody({ transcript, signal }: ClientContext): Promise<ClientEnd> {
    const address: Address = await ScriptedServer.unusedPort();
    transcript.note('nobody listens on the port that the client is given');
    return this.#client.run(address, () => {}, signal);
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

  /** What of a transfer the client shows. A client that shows nothing of UPDATE is judged by that once. */
  async shows(context: ClientContext): Promise<ReadonlySet<Kind>> {
    const { output } = await this.ordinary(besides(context));
    const kinds = ORDINARY_TEXTS.filter(({ text }) => output.includes(text)).map(({ kind }) => kind);
    if (!kinds.includes('update')) throw new NotApplicable('the client shows no objects: see session/plain');
    return new Set(kinds);
  }

  /** @throws NotApplicable the client does not ask for the interface of 1995, so nobody may send it (BP-29) */
  async asksForProposed(context: ClientContext): Promise<void> {
    const { sessions } = await this.ordinary(besides(context));
    const asks = sessions.some(({ lines }) =>
      lines.some(({ text }) => /#interface\s+2\b.*#end\b/i.test(text)),
    );
    if (!asks) throw new NotApplicable('the client does not ask for #interface 2');
  }
}

/** The same, with a transcript that nobody reads. */
function besides(context: ClientContext): ClientContext {
  return { ...context, transcript: new Transcript(context.transcript) };
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
    check(!kinds.has(kind) || output.includes(text), `a part is lost: ${kind}`, {
      expected: printable(text),
      received: printable(output.slice(-200)),
    });
  }
}

/** Nothing of what is no object is shown as one. @throws Mismatch */
export function showsNone({ output }: Observation, texts: readonly string[]): void {
  for (const text of texts) {
    check(!output.includes(text), 'something is shown that is no object of the transfer', {
      expected: `not ${printable(text)}`,
      received: printable(output.slice(-200)),
    });
  }
}

/** The client takes the transfer for complete. @throws Mismatch */
export async function succeeds({ status, diagnostics }: ClientEnd, context: ClientContext): Promise<void> {
  const ordinary = await context.bench.ordinary(besides(context));
  // A client whose status never says anything is judged for that once, by `session/exit-status`.
  check(
    status === 0 || (ordinary.status !== 0 && status !== undefined),
    'the client says that a good transfer failed',
    {
      expected: 'exit status 0',
      received: `exit status ${status ?? 'none'}: ${printable(diagnostics.trim())}`,
    },
  );
}
