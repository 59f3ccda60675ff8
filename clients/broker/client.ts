// The client of a Broker: queries, administrative commands, other messages.
import {
  type AdminCommand,
  BrokerClientSession,
  type BrokerClientSessionOptions,
  type BrokerHit,
  type ClientEvent,
  formatMessage,
  frameMessage,
  RESULT_CODE,
  ResultDecoder,
  type ResultItem,
} from '../../protocols/broker/index.js';
import { ConnectionError, PeerError, StateError } from '../../protocols/errors.js';
import {
  ABORT_OPTIONS,
  checkArgument,
  checkOptions,
  limit,
  milliseconds,
  oneOf,
  optional,
  PEER_OPTIONS,
  record,
  type Shape,
  secret,
  textOrBytes,
} from '../connection/arguments.js';
import { type AbortOptions, exchange, type PeerOptions } from '../connection/index.js';
import { checkCommand } from './arguments.js';
import {
  type OpaqueMode,
  QUERY_OPTIONS,
  type QueryInput,
  type QueryRequest,
  queryMessage,
} from './request.js';

/** What every client of a Broker takes for its connections. */
export interface BrokerPeerOptions extends Omit<PeerOptions, 'signal'> {
  /**
   * Longest silence of the Broker in milliseconds. Default 120 000, and for a query with a `lifetime` at
   * least ten seconds more than that, because a Broker may search that long before it answers.
   */
  readonly timeoutMs?: number | undefined;
}

export interface BrokerClientOptions extends BrokerPeerOptions {
  /** How this Broker reads `#opaque` (BRK-3.2). Default `suppress`. */
  readonly opaqueMode?: OpaqueMode;
  /** Limits on what the Broker may send. */
  readonly limits?: BrokerClientSessionOptions;
}

const { signal: _signal, ...PEER } = PEER_OPTIONS;

export const BROKER_PEER_OPTIONS: Shape<BrokerPeerOptions> = { ...PEER, timeoutMs: optional(milliseconds) };

const LIMITS: Shape<BrokerClientSessionOptions> = {
  maxLineBytes: optional(limit),
  maxValueBytes: optional(limit),
  maxHitBytes: optional(limit),
  maxNoticeBytes: optional(limit),
};

const BROKER_CLIENT_OPTIONS: Shape<BrokerClientOptions> = {
  ...BROKER_PEER_OPTIONS,
  opaqueMode: optional(oneOf('suppress', 'show')),
  limits: optional(record(LIMITS)),
};

/** BRK-1.2 */
export const DEFAULT_BROKER_PORT = 8501;
const DEFAULT_TIMEOUT_MS = 120_000;
const LIFETIME_MARGIN_MS = 10_000;

/** The objects of one reply, as they arrive. It can be iterated once. */
export interface BrokerResults extends AsyncIterable<BrokerHit> {
  /** The Broker's `101` messages so far. */
  readonly messages: readonly string[];
  /** The Broker's `103` errors so far; they do not end the results. */
  readonly errors: readonly string[];
}

/**
 * Queries a Broker. Every call opens its own connection (BRK-1.6) when its result is first awaited or iterated.
 * The client holds no resources between calls and needs no close.
 */
export class BrokerClient {
  readonly host: string;
  readonly port: number;
  readonly #options: BrokerClientOptions;

  /** @throws UsageError for options that it does not know or take */
  constructor(options: BrokerClientOptions) {
    checkOptions('BrokerClient', options, BROKER_CLIENT_OPTIONS);
    this.host = options.host;
    this.port = options.port ?? DEFAULT_BROKER_PORT;
    this.#options = options;
  }

  /**
   * Sends a user query. Objects are yielded as they arrive; if the reader stops, backpressure stops the Broker.
   * The iteration throws PeerError (status 111) after the objects before it, ConnectionError if the Broker
   * cannot be reached, breaks the connection or is silent for too long, ProtocolError if it does not speak this
   * protocol.
   * @throws UsageError if the query is empty or does not close its quotes, or a number is out of range
   */
  query(query: QueryInput, options: QueryRequest & AbortOptions = {}): BrokerResults {
    checkOptions('query', options, QUERY_OPTIONS);
    const session = new BrokerClientSession(this.#options.limits);
    const request = session.request(queryMessage(query, options, this.#options.opaqueMode ?? 'suppress'));
    const chunks = this.#exchange(request, options.signal, options.lifetime);
    return new Results(session, chunks, options.signal);
  }

  /**
   * Sends an administrative command; resolves with the lines of its outcome (BRK-5.4).
   * @throws PeerError with the Broker's sentence if it refuses or fails
   */
  async admin(
    password: string,
    command: AdminCommand,
    options: AbortOptions = {},
  ): Promise<readonly string[]> {
    const session = new BrokerClientSession(this.#options.limits);
    checkArgument('the password', password, secret);
    checkCommand(command);
    checkOptions('admin', options, ABORT_OPTIONS);
    const request = session.request(formatMessage({ kind: 'admin', password, command }));
    const results = new Results(session, this.#exchange(request, options.signal), options.signal);
    for await (const _hit of results) {
      // An administrative reply has no objects.
    }
    return [...results.messages, ...results.errors];
  }

  /**
   * Sends any message line and yields the reply item by item, version lines and unknown codes included.
   * @throws UsageError if `line` is not one message line
   */
  message(line: string | Uint8Array, options: AbortOptions = {}): AsyncIterable<ResultItem> {
    checkLine(line);
    checkOptions('message', options, ABORT_OPTIONS);
    return readItems(
      this.#exchange(frameMessage(line), options.signal),
      new ResultDecoder(this.#options.limits),
      options.signal,
    );
  }

  /**
   * Sends any message line and yields the bytes of the reply, which the original's `brkclient` prints
   * (BRK-6.7).
   * @throws UsageError if `line` is not one message line
   */
  raw(line: string | Uint8Array, options: AbortOptions = {}): AsyncIterable<Uint8Array> {
    checkLine(line);
    checkOptions('raw', options, ABORT_OPTIONS);
    return this.#exchange(frameMessage(line), options.signal);
  }

  #exchange(request: Uint8Array, signal: AbortSignal | undefined, lifetime = 0): AsyncGenerator<Uint8Array> {
    const timeoutMs = Math.max(DEFAULT_TIMEOUT_MS, lifetime * 1000 + LIFETIME_MARGIN_MS);
    return exchangeWithBroker(request, {
      ...this.#options,
      timeoutMs: this.#options.timeoutMs ?? timeoutMs,
      signal,
    });
  }
}

function checkLine(line: string | Uint8Array): void {
  checkArgument('the message line', line, textOrBytes);
}

async function* readItems(
  chunks: AsyncIterable<Uint8Array>,
  decoder: ResultDecoder,
  signal: AbortSignal | undefined,
): AsyncGenerator<ResultItem> {
  for await (const chunk of chunks) yield* untilAborted(decoder.push(chunk), signal);
  yield* untilAborted(decoder.end(), signal);
}

/** Items received before an abort and not yet delivered are dropped. */
function* untilAborted<T>(items: Iterable<T>, signal: AbortSignal | undefined): Generator<T> {
  for (const item of items) {
    signal?.throwIfAborted();
    yield item;
  }
  signal?.throwIfAborted();
}

class Results implements BrokerResults {
  readonly messages: string[] = [];
  readonly errors: string[] = [];
  readonly #session: BrokerClientSession;
  readonly #chunks: AsyncGenerator<Uint8Array>;
  readonly #signal: AbortSignal | undefined;
  #started = false;

  constructor(
    session: BrokerClientSession,
    chunks: AsyncGenerator<Uint8Array>,
    signal: AbortSignal | undefined,
  ) {
    this.#session = session;
    this.#chunks = chunks;
    this.#signal = signal;
  }

  [Symbol.asyncIterator](): AsyncIterator<BrokerHit> {
    if (this.#started) throw new StateError('the results of a query can be iterated once');
    this.#started = true;
    return this.#hits();
  }

  async *#hits(): AsyncGenerator<BrokerHit> {
    for await (const chunk of this.#chunks)
      yield* untilAborted(this.#take(this.#session.push(chunk)), this.#signal);
    let last: readonly ClientEvent[];
    do {
      last = this.#end();
      yield* untilAborted(this.#take(last), this.#signal);
    } while (last.length > 0);
  }

  /** Ends the session; a reply that is cut off is an error of the connection, not of the protocol. */
  #end(): readonly ClientEvent[] {
    try {
      return this.#session.end();
    } catch (error) {
      if (!this.#session.truncated) throw error;
      throw new ConnectionError('the Broker closed the connection in the middle of its reply', {
        cause: error,
      });
    }
  }

  *#take(events: readonly ClientEvent[]): Generator<BrokerHit> {
    for (const event of events) {
      switch (event.kind) {
        case 'hit':
          yield event.hit;
          break;
        case 'message':
          this.messages.push(event.text);
          break;
        case 'error':
          this.errors.push(event.text);
          break;
        case 'fatal':
          throw new PeerError(event.text, RESULT_CODE.fatal);
      }
    }
  }
}

/**
 * Does one {@link exchange} with a Broker, with the defaults of {@link BrokerPeerOptions}. Its errors name
 * the Broker and the usual port.
 */
export function exchangeWithBroker(
  request: Uint8Array,
  options: BrokerPeerOptions & AbortOptions,
): AsyncGenerator<Uint8Array> {
  const { port = DEFAULT_BROKER_PORT, connectTimeoutMs = 20_000 } = options;
  const { timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const name = `broker at ${options.host}:${port}`;
  const hints = { ECONNREFUSED: 'a Broker listens on 8501 unless Broker-Port says otherwise' };
  return exchange(request, { ...options, port, connectTimeoutMs, idleTimeoutMs: timeoutMs, name, hints });
}
