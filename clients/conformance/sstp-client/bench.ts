// Runs a client of the References Server against a scripted server.

import type { ConformanceCase } from '../case.js';
import { check, NotApplicable, type Procedure } from '../case.js';
import {
  type ClientContext,
  type ClientRun,
  checkExited,
  checkReportsSuccess,
  runAgainst,
  SharedRuns,
} from '../client-context.js';
import type { Address, ClientEnd, ClientUnderTest } from '../command-client.js';
import { bytes, printable } from '../printable.js';
import { type ClientLine, type Script, ScriptedServer, type ServerSide } from '../scripted-server.js';
import { type Delivery, Transcript } from '../transcript.js';
import { IDS, type LinkRequest, linkReply, message, nothingFound } from './replies.js';

export type SstpClientContext = ClientContext<Bench>;
export type SstpClientCase = ConformanceCase<SstpClientContext>;

/** What a client is asked to do: to print the IDs of the documents that link to a URL. */
export interface LinkTask extends Address {
  readonly url: string;
}

/** The URL of a {@link LinkTask}. */
const ASKED_URL = 'http://walrus.example.org/a%20b?c=d';

/** How the scripted server answers. */
export interface Behavior {
  /** The reply to the request with this number on its connection. */
  readonly reply: string | ((request: LinkRequest, number: number) => string);
  readonly delivery?: Delivery;
  /** What the server does after a reply. Default: it keeps the connection open (S-39). */
  readonly after?: 'close' | 'reset';
}

/** The lines of one request. */
export interface SentRequest extends LinkRequest {
  readonly start: ClientLine;
  readonly lines: readonly ClientLine[];
}

/** The observable results of a run against the scripted server. */
export interface SstpRun extends ClientRun {
  /** The numbers of standard output that are as long as those of the scripts. */
  readonly ids: readonly number[];
  readonly output: string;
  /** The requests, in the order of their arrival. */
  readonly requests: readonly SentRequest[];
}

/** Bytes of output that are kept; the replies of scripts are far smaller. */
const MAX_OUTPUT = 8 << 20;
/** Requests of one connection; a client that asks for a page again and again ends here. */
const MAX_REQUESTS = 1024;

const ORDINARY: Behavior = { reply: (request) => linkReply(request) };
const EMPTY: Behavior = { reply: nothingFound };

/** Runs the client under test. The ordinary and the empty run are made once, and several cases check them. */
export class Bench {
  readonly #client: ClientUnderTest<LinkTask>;
  readonly #shared = new SharedRuns<Behavior, SstpRun>();

  constructor(client: ClientUnderTest<LinkTask>) {
    this.#client = client;
  }

  /** Runs the client against a server with this behavior. */
  async observe(behavior: Behavior, context: ClientContext<unknown>): Promise<SstpRun> {
    const requests: SentRequest[] = [];
    let output = '';
    const take = (piece: Uint8Array) => {
      if (output.length < MAX_OUTPUT) output += Buffer.from(piece).toString('latin1');
    };
    const run = await runAgainst(scriptOf(behavior, requests), context, (address) =>
      this.#client.run({ ...address, url: ASKED_URL }, take, context.signal),
    );
    const ids = Array.from(output.matchAll(/\d{6,}/g), ([digits]) => Number(digits));
    return { ...run, ids, output, requests };
  }

  /** Returns the run with five links, which is made once for all cases. */
  ordinary(context: ClientContext<unknown>): Promise<SstpRun> {
    return this.#get(ORDINARY, context);
  }

  /** Returns the run with an empty result, which is made once for all cases. */
  empty(context: ClientContext<unknown>): Promise<SstpRun> {
    return this.#get(EMPTY, context);
  }

  /** Runs the client with the address of a port on which no server listens. */
  async observeNoServer({ transcript, signal }: ClientContext<unknown>): Promise<ClientEnd> {
    const address = await ScriptedServer.unusedPort();
    transcript.note('no server listens on the port that the client is given');
    return this.#client.run({ ...address, url: ASKED_URL }, () => {}, signal);
  }

  /**
   * Checks that the client reports a failure: neither success nor what it reports of an empty result (S-41, S-42).
   * @throws Mismatch
   */
  async checkFails(end: ClientEnd, context: ClientContext<unknown>): Promise<void> {
    checkExited(end);
    const received = `exit status ${end.status}: ${printable(end.diagnostics.trim())}`;
    check(end.status !== 0, 'the client does not report the failure', {
      expected: 'an exit status other than 0',
      received,
    });
    const { status } = await this.empty(unshown(context));
    check(end.status !== status, 'the client reports the failure as an empty result', {
      expected: `an exit status other than ${status}`,
      received,
    });
  }

  #get(behavior: Behavior, context: ClientContext<unknown>): Promise<SstpRun> {
    return this.#shared.get(behavior, context.transcript, () => this.observe(behavior, context));
  }
}

/** The context with a transcript that the report of the case does not show. */
function unshown<Context extends ClientContext<unknown>>(context: Context): Context {
  return { ...context, transcript: new Transcript(context.transcript) };
}

/** Answers requests by a behavior; a client that tries HTTP first is told that there are no pages. */
function scriptOf({ reply, delivery, after }: Behavior, requests: SentRequest[]): Script {
  return async (peer) => {
    for (let number = 0; number < MAX_REQUESTS; number++) {
      const request = await readRequest(peer);
      if (request === undefined) return;
      if (!request.start.text.startsWith('SSTP/')) {
        await peer.send(bytes('HTTP/1.0 404 Not Found\r\nConnection: close\r\n\r\n'));
        return peer.end();
      }
      requests.push(request);
      await peer.send(bytes(typeof reply === 'string' ? reply : reply(request, number)), delivery);
      if (after === 'reset') return peer.reset();
      if (after === 'close') return peer.end();
    }
    peer.end();
  };
}

async function readRequest(peer: ServerSide): Promise<SentRequest | undefined> {
  const start = await peer.line();
  if (start === undefined) return undefined;
  const lines: ClientLine[] = [];
  const headers = new Map<string, string>();
  for (;;) {
    const line = await peer.line();
    if (line === undefined) return undefined;
    if (line.text === '') break;
    lines.push(line);
    const [, name = '', value = ''] = /^([^:]*):[ \t]*(.*?)[ \t]*$/.exec(line.text) ?? [];
    headers.set(name.toUpperCase(), value);
  }
  const code = /^SSTP\/\d+\.\d+ (\d{3})/.exec(start.text)?.[1] ?? '';
  return { code, headers, start, lines };
}

/** Checks that the output has exactly these IDs, in this order. @throws Mismatch */
export function checkShows({ ids, output }: SstpRun, expected: readonly number[] = IDS): void {
  const show = (list: readonly number[]) => `${list.length} IDs: ${list.slice(0, 10).join(' ')}`;
  check(ids.join() === expected.join(), 'the output has other IDs, or another order', {
    expected: show(expected),
    received: `${show(ids)}; ${printable(output.slice(0, 200))}`,
  });
}

/** Sends a reply that the client must read. */
export function reads(
  reply: Behavior['reply'],
  ids: readonly number[] = IDS,
  more: Partial<Behavior> = {},
): Procedure<SstpClientContext> {
  return async (context) => {
    await requireShown(context);
    const run = await context.bench.observe({ reply, ...more }, context);
    checkShows(run, ids);
    checkReportsSuccess(run);
  };
}

/** Sends a reply whose defect, or whose error, the client must report. */
export function fails(reply: Behavior['reply'], more: Partial<Behavior> = {}): Procedure<SstpClientContext> {
  return async (context) => {
    await requireShown(context);
    await context.bench.checkFails(await context.bench.observe({ reply, ...more }, context), context);
  };
}

/** Sends an error reply, after which the server closes if the rules say so. */
export function refused(status: string, after?: 'close'): Procedure<SstpClientContext> {
  return fails(message(`SSTP/1.0 ${status}`), after === undefined ? {} : { after });
}

/** @throws NotApplicable if the client does not show the ordinary reply, which `session/plain` checks */
export async function requireShown(context: SstpClientContext): Promise<SstpRun> {
  const run = await context.bench.ordinary(unshown(context));
  if (run.ids.join() !== IDS.join() || run.status !== 0)
    throw new NotApplicable('the client does not read the ordinary reply: see session/plain');
  return run;
}
