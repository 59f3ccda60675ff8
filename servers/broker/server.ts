// The Broker's port (BRK-1).

import { monotonicClock } from '../../clients/connection/monotonic-clock.js';
import {
  type BrokerMessage,
  BrokerServerSession,
  encodeResult,
  errorSentence,
  interfaceSteps,
  messageSteps,
  REPLY,
  type ServerEvent,
  VERSION_TEXT,
} from '../../protocols/broker/index.js';
import { BULK_ERROR, BulkReplyEncoder, encodeBulkError } from '../../protocols/bulk/index.js';
import { ConnectionError, ProtocolError } from '../../protocols/errors.js';
import {
  addressGroup,
  type HostConnection,
  HostedServer,
  type HostOptions,
  type LastWords,
  type PeerLimits,
  TcpHost,
} from '../host/index.js';
import { RefusalBrake } from '../host/refusal-brake.js';
import { administer } from './admin-commands.js';
import type { Broker } from './broker.js';
import { ObjectList } from './bulk/object-list.js';
import { answerBulk } from './bulk/reply.js';
import { ClientWatch } from './query/client-watch.js';
import { cutReply, encodeItems, type PageItem, writeSegments } from './query/page-items.js';
import type { RequestContext } from './query/request-context.js';
import type { SearchSummary } from './query/search.js';

/** How a query ended. */
export type QueryEnd = 'answered' | 'incomplete' | 'busy' | 'disconnected';

/** Counters of a Broker's port; they only grow. */
export interface BrokerCounts {
  /** Messages, by kind: `user`, `bulk`, `admin`, `malformed`. */
  readonly messages: Map<string, number>;
  readonly queries: Map<QueryEnd, number>;
  /** Objects in the replies to queries. */
  objects: number;
  /** Seconds from a query's message to the end of its reply, all together. */
  querySeconds: number;
}

/** Options of {@link BrokerServer.listen}. */
export interface BrokerServerOptions extends Omit<HostOptions, 'name' | 'idleTimeoutMs' | 'lastWords'> {
  readonly broker: Broker;
  /** Time in which a message must arrive, default 60 000 (BRK-1.8). */
  readonly messageTimeoutMs?: number | undefined;
  /** Time without output after which the version line is repeated, default 15 000 (BRK-1.5). */
  readonly repeatVersionMs?: number;
  /**
   * Longest interval at which a query finds out whether its client has closed the connection, default 1000 (see
   * {@link ClientWatch}). A client that has ended its direction gets the version line once more: one that is gone
   * resets the connection, one that still reads ignores the line (BRK-1.5).
   */
  readonly probeMs?: number;
  /** Time for which a query waits for a slot when `Max-Queries` are running, default 10 000 (BRK-4.18). */
  readonly queueWaitMs?: number;
  /**
   * Longest time for which a refusal is held back, default 1000; 0 holds none. An address that was refused several
   * times within seconds waits for its next refusal while others are served (see {@link RefusalBrake}).
   */
  readonly refusalHoldMs?: number;
  /** Time for which the reply to a deleting or adding command waits for its outcome, default 2000 (BRK-5.4). */
  readonly adminPatienceMs?: number;
  /** Called on `#shutdown`. Default: closes this server, then the broker. */
  readonly shutdown?: () => void;
}

/** Default of `messageTimeoutMs` (BRK-1.8). */
const MESSAGE_TIMEOUT_MS = 60_000;

/**
 * The limits of a program as those of the Broker's port. A message must arrive within a minute (BRK-1.8), or
 * sooner.
 */
export function portLimits({ timeoutMs, ...limits }: PeerLimits = {}): Partial<BrokerServerOptions> {
  if (timeoutMs === undefined) return limits;
  return {
    ...limits,
    messageTimeoutMs: Math.min(timeoutMs, MESSAGE_TIMEOUT_MS),
    drainTimeoutMs: timeoutMs,
  };
}

/** The cost of parsing a byte of a message, in milliseconds of processor time. */
const PARSING_COST_MS = 0.0001;

/** The same of a query of a page, at least: its objects are read and shown in this thread, too. */
const PAGE_QUERY_COST_MS = 2;

/** A longer message is cut in the log. */
const MAX_LOGGED_BYTES = 500;

const encoder = new BulkReplyEncoder();

/** BP-23: the refusal in the interface of 1995. */
const TOO_BUSY = encoder.trailer({
  kind: 'error',
  number: BULK_ERROR.busy,
  text: 'Broker is too busy, try again later',
});

/** BRK-1.3, BRK-1.13: a client without a place gets the greeting first, which tells it that it has found a Broker. */
const LAST_WORDS: LastWords = {
  refused: Buffer.concat([new BrokerServerSession().greeting(), encodeResult(REPLY.busy())]),
  evicted: encodeResult(REPLY.busy()),
};

/**
 * The Broker's port: user queries, administration, bulk transfers (BRK-1.1). Each connection carries one
 * message (BRK-1.6).
 */
export class BrokerServer extends HostedServer {
  private constructor(
    host: TcpHost,
    /** Since the start. */
    readonly counts: BrokerCounts,
  ) {
    super(host);
  }

  /** @throws ConnectionError when the port is not available */
  static async listen(options: BrokerServerOptions): Promise<BrokerServer> {
    const { broker, messageTimeoutMs = MESSAGE_TIMEOUT_MS, refusalHoldMs: maxHoldMs, clock } = options;
    const counts = zeroCounts();
    const brake = new RefusalBrake({ maxHoldMs, clock });
    const host = await TcpHost.listen(
      {
        ...options,
        name: 'broker',
        lastWords: LAST_WORDS,
        // Longer than the deadline of the message, so that the client gets a reply.
        idleTimeoutMs: messageTimeoutMs * 2,
      },
      (connection) => serveConnection(connection, { ...options, messageTimeoutMs, counts, brake }),
    );
    const server = new BrokerServer(host, counts);
    void broker.shutdownRequested.then(() => {
      if (options.shutdown !== undefined) options.shutdown();
      else void server.close().then(() => broker.close());
    });
    return server;
  }
}

/** Options of {@link serveConnection}. */
export interface SessionOptions extends BrokerServerOptions {
  readonly messageTimeoutMs: number;
  /** Default: nothing is counted. */
  readonly counts?: BrokerCounts;
  /** Default: refusals are sent immediately. */
  readonly brake?: RefusalBrake;
}

/**
 * Runs the session of one connection: greeting, one message, its reply (BRK-1.3, 1.6). Tests call it with
 * connections that fail.
 */
export async function serveConnection(connection: HostConnection, options: SessionOptions): Promise<void> {
  const { debug } = options.broker;
  debug(78, 9, () => `${connection.peer.address}: connected`);
  const session = new BrokerServerSession();
  try {
    await serveSession(connection, session, options);
  } finally {
    session.close();
  }
}

async function serveSession(
  connection: HostConnection,
  session: BrokerServerSession,
  options: SessionOptions,
): Promise<void> {
  if ((await options.brake?.beforeSession(connection.peer.address, connection.signal)) === false) {
    await connection.write(LAST_WORDS.refused);
    return connection.end();
  }
  // BRK-1.3: the Broker speaks first.
  await connection.write(session.greeting());
  const event = await readMessage(connection, session, options);
  if (event === undefined) return connection.end();
  const caller = callerOf(connection, options);
  if (caller !== connection.peer.address) {
    connection.share.workFor(caller);
    connection.share.charge(PAGE_QUERY_COST_MS);
  }
  options.brake?.noteMessage(caller);
  if (event.kind === 'error') {
    await beforeRefusal(connection, options);
    await connection.write(
      event.interface === 2 ? refuseProposed(errorSentence(event.item.text)) : encodeResult(event.item),
    );
    return connection.end();
  }
  let message: BrokerMessage;
  try {
    message = await inTurns(messageSteps(event.line), event.line, connection);
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    countMessage(options, 'malformed');
    const requested = await inTurns(interfaceSteps(event.line), event.line, connection);
    await beforeRefusal(connection, options);
    await connection.write(refuseMalformed(event.line, error, requested));
    return connection.end();
  }
  countMessage(options, message.kind);
  let isAnswered = false;
  try {
    await answer(connection, session, message, event.line, options);
    isAnswered = !connection.signal.aborted;
    // BRK-4.12: the end of the reply is the end of the connection.
    await connection.end();
  } finally {
    if (!isAnswered && connection.signal.aborted) options.brake?.noteAbandoned(caller);
  }
}

async function answer(
  connection: HostConnection,
  session: BrokerServerSession,
  message: BrokerMessage,
  line: Uint8Array,
  options: SessionOptions,
): Promise<void> {
  switch (message.kind) {
    case 'user':
      await answerQuery(connection, session, message, line, options);
      break;
    case 'bulk': {
      using request = beginRequest(connection, options);
      const sent = answerBulk(connection, message, messageText(line), options.broker, request);
      // Its reply has no other version line.
      await watchOf(connection, undefined, options).during(sent);
      break;
    }
    case 'admin':
      await answerCommand(connection, message, options);
      break;
  }
}

/** The address that a connection is for. */
function callerOf({ peer }: HostConnection, { broker }: SessionOptions): string {
  return broker.callers.addressOf(peer);
}

/** Waits until a refusal may be sent. */
async function beforeRefusal(connection: HostConnection, options: SessionOptions): Promise<void> {
  await options.brake?.beforeRefusal(callerOf(connection, options), connection.signal);
}

/** Runs the steps of a parser over a message, each in a turn of the session, which pays before. */
async function inTurns<T>(
  steps: Generator<void, T, void>,
  { length }: Uint8Array,
  { share, signal }: Pick<HostConnection, 'share' | 'signal'>,
): Promise<T> {
  share.charge(length * PARSING_COST_MS);
  for (;;) {
    if (!share.mayContinue()) await share.turn(signal);
    signal.throwIfAborted();
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Begins the request of a message: from here to the engine it is one object. */
function beginRequest(connection: HostConnection, options: SessionOptions): RequestContext {
  const { broker, queueWaitMs } = options;
  return broker.queries.begin({
    client: addressGroup(callerOf(connection, options)),
    signal: connection.signal,
    waitMs: queueWaitMs,
    beforeRefusal: () => beforeRefusal(connection, options),
    share: connection.share,
    cut: (reason) => cutReply(connection, reason),
  });
}

/**
 * BRK-4.18: a bulk transfer has its own code for errors (BT-10), and so has the interface of 1995 (BP-23,
 * BP-29).
 */
function refuseMalformed(line: Uint8Array, error: ProtocolError, requested: 1 | 2): Uint8Array {
  const text = `Malformed message: ${error.message}`;
  if (requested === 2) return refuseProposed(text);
  return isBulk(line) ? encodeBulkError(text) : encodeResult(REPLY.malformed(error));
}

function refuseProposed(text: string): Uint8Array {
  const trailer = encoder.trailer({ kind: 'error', number: BULK_ERROR.malformed, text });
  return Buffer.concat([encoder.version(VERSION_TEXT), trailer]);
}

function isBulk(line: Uint8Array): boolean {
  return /^\s*#bulk\b/i.test(messageText(line));
}

/** Returns a message as the log shows it, cut if it is long. */
function messageText(line: Uint8Array): string {
  const text = Buffer.from(line.subarray(0, MAX_LOGGED_BYTES)).toString('utf8');
  return `${text}${line.length > MAX_LOGGED_BYTES ? '...' : ''}`;
}

/**
 * Reads the message of the connection (BRK-1.7, 1.8). Returns undefined if the peer closed the connection
 * without one.
 */
async function readMessage(
  connection: HostConnection,
  session: BrokerServerSession,
  { messageTimeoutMs, clock = monotonicClock }: SessionOptions,
): Promise<ServerEvent | undefined> {
  let cancelTimer: (() => void) | undefined;
  const timedOut = new Promise<'timeout'>((resolve) => {
    cancelTimer = clock.setTimer(() => resolve('timeout'), messageTimeoutMs);
  });
  const chunks = connection.chunks()[Symbol.asyncIterator]();
  try {
    for (;;) {
      // The deadline is for the whole message: single bytes do not extend it.
      const next = await Promise.race([chunks.next(), timedOut]);
      if (next === 'timeout') return session.timeout()[0];
      const [event] = next.done === true ? session.end() : session.push(next.value);
      if (event !== undefined) return event;
      if (next.done === true) return undefined;
    }
  } finally {
    cancelTimer?.();
  }
}

/**
 * Answers a user query. Whatever ends the reply - the client, a failing write, an error - ends the search too,
 * which holds its slot only while it computes a page.
 */
async function answerQuery(
  connection: HostConnection,
  session: BrokerServerSession,
  message: BrokerMessage & { readonly kind: 'user' },
  line: Uint8Array,
  options: SessionOptions,
): Promise<void> {
  const { broker } = options;
  const started = performance.now();
  const list = message.flags.interface === 2 ? new ObjectList() : undefined;
  let summary: SearchSummary;
  try {
    // BP-29: the reply in the other interface follows the shipped greeting.
    if (list !== undefined) await connection.write(list.head(VERSION_TEXT, await broker.description()));
    summary = await sendPages(connection, session, message, list, options);
  } catch (error) {
    countQuery(options, 'disconnected', started);
    if (error instanceof ConnectionError) logQuery(connection, options, line, 'client disconnected');
    throw error;
  }
  if (summary.reason === 'busy') {
    countQuery(options, 'busy', started);
    logQuery(connection, options, line, 'refused, too many queries');
    await connection.write(list === undefined ? encodeResult(REPLY.busy()) : TOO_BUSY);
    return;
  }
  if (list !== undefined) await connection.write(list.end());
  countQuery(options, summary.complete ? 'answered' : 'incomplete', started, summary.objects);
  const milliseconds = Math.round(performance.now() - started);
  const ending = summary.complete ? '' : ` (${summary.reason ?? 'incomplete'})`;
  const counts = `${summary.objects} objects, ${summary.lines} lines`;
  logQuery(connection, options, line, `${counts}, ${milliseconds} ms${ending}`);
}

function countMessage({ counts }: SessionOptions, kind: string): void {
  if (counts !== undefined) counts.messages.set(kind, (counts.messages.get(kind) ?? 0) + 1);
}

function countQuery({ counts }: SessionOptions, end: QueryEnd, started: number, objects = 0): void {
  if (counts === undefined) return;
  counts.queries.set(end, (counts.queries.get(end) ?? 0) + 1);
  counts.objects += objects;
  counts.querySeconds += (performance.now() - started) / 1000;
}

/** @param version the line that may be repeated while the client waits */
function watchOf(
  connection: HostConnection,
  version: Uint8Array | undefined,
  { broker, clock = monotonicClock, repeatVersionMs = 15_000, probeMs = 1_000 }: SessionOptions,
): ClientWatch {
  const isContended = (): boolean => broker.queries.load.running + broker.queries.load.waiting > 1;
  return new ClientWatch({ connection, clock, version, repeatVersionMs, probeMs, isContended });
}

/** Sends the pages of a query. Each is searched for after the one before it is sent. */
async function sendPages(
  connection: HostConnection,
  session: BrokerServerSession,
  { query, flags }: BrokerMessage & { readonly kind: 'user' },
  list: ObjectList | undefined,
  options: SessionOptions,
): Promise<SearchSummary> {
  const { broker } = options;
  const address = callerOf(connection, options);
  // The other interface has no such line.
  const watch = watchOf(connection, list === undefined ? session.greeting() : undefined, options);
  await watch.begin();
  using request = beginRequest(connection, options);
  const pages = broker.queries.search(query, flags, request);
  try {
    for (;;) {
      const page = await watch.during(pages.next());
      if (page.done === true) return page.value;
      if (page.value.some(isRefusal)) await request.beforeRefusal();
      const segments = list?.push(page.value) ?? encodeItems(page.value);
      await writeSegments(connection, segments, request.pages);
      logReturned(broker, address, page.value);
      watch.noteOutput();
    }
  } finally {
    request.abort();
    await pages.return({ objects: 0, lines: 0, complete: false, reason: 'aborted' });
  }
}

function isRefusal({ kind }: PageItem): boolean {
  return kind === 'fatal';
}

/** BRK-5.7 `Query-Return`: logs one line for each object that was sent. */
function logReturned({ requests }: Broker, address: string, page: readonly PageItem[]): void {
  for (const item of page) if (item.kind === 'match') requests.returned(address, item.url);
}

/** BRK-5.7 `Query`: logs one line for each user query. */
function logQuery(
  { peer, id }: Pick<HostConnection, 'peer' | 'id'>,
  { broker }: SessionOptions,
  line: Uint8Array,
  outcome: string,
): void {
  if (!broker.events.isEnabled('Query')) return;
  broker.requests.query(broker.callers.addressOf(peer), `${messageText(line)}: ${outcome}`, id);
}

async function answerCommand(
  connection: HostConnection,
  { password, command }: BrokerMessage & { readonly kind: 'admin' },
  options: SessionOptions,
): Promise<void> {
  const { broker, adminPatienceMs } = options;
  const { address } = connection.peer;
  const patience = adminPatienceMs === undefined ? {} : { patienceMs: adminPatienceMs };
  for await (const item of administer(broker, { password, command, address }, patience)) {
    if (isRefusal(item)) await beforeRefusal(connection, options);
    await connection.write(encodeResult(item));
  }
}

function zeroCounts(): BrokerCounts {
  return { messages: new Map(), queries: new Map(), objects: 0, querySeconds: 0 };
}
