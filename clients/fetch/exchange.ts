// Receives one HTTP response from undici, up to a size.
import { channel } from 'node:diagnostics_channel';
import type { IncomingHttpHeaders } from 'node:http';
import { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import { type Clock, IdleTimer } from '../../protocols/clock.js';
import { ConnectionError } from '../../protocols/errors.js';
import { EARLY_END } from '../connection/index.js';
import { BoundedBody } from './bounded-body.js';
import type { Received } from './receive-watch.js';
import type { LenientReading } from './types.js';
import { type KeepWire, type WireResponse, WireTap } from './wire-tap.js';

export interface RawResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Still encoded. */
  readonly body: Uint8Array;
  readonly truncated: boolean;
  /** Codings that the transfer added to the body (RFC 9112 7), in the order of their application. */
  readonly transferCodings?: readonly string[];
  readonly lenient?: LenientReading;
  /** Why the rest of the body did not arrive in time. */
  readonly late?: string | undefined;
  /** The bytes of the messages; present if they are kept and have a head. */
  readonly wire?: (WireResponse & { readonly request: Uint8Array }) | undefined;
}

/** Options of one exchange, for either reader of the response. */
export interface HttpExchangeOptions {
  /** Name of the server, for errors. */
  readonly host: string;
  readonly maxBytes: number;
  /**
   * Milliseconds until the head is complete, and then between two pieces of the body; of the lenient reader
   * without a byte (G-85).
   */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly keepWire?: KeepWire | undefined;
}

/**
 * A rest of this size above the body limit is read and dropped, which keeps the connection usable. A longer
 * rest closes the connection.
 */
const DRAIN_BYTES = 64 * 1024;

/**
 * The exchange whose request is being written. undici calls `onRequestStart` and publishes the socket in the
 * same turn, one request after the other; nothing else says which socket a request uses.
 */
let starting: HttpExchange | undefined;

channel('undici:client:sendHeaders').subscribe((message) => {
  const exchange = starting;
  starting = undefined;
  if (typeof message !== 'object' || message === null || !('socket' in message)) return;
  if (!(message.socket instanceof Socket)) return;
  const sent = 'headers' in message && typeof message.headers === 'string' ? message.headers : '';
  exchange?.useSocket(message.socket, sent);
});

/** The taps of connections whose reads are observed; undefined between the requests that want one. */
const taps = new WeakMap<Socket, { current: WireTap | undefined }>();

/**
 * Gives a connection's bytes to a tap from now on. undici reads by `read` alone, so nothing else sees them on
 * their way.
 */
function observe(socket: Socket, tap: WireTap | undefined): void {
  const known = taps.get(socket);
  if (known !== undefined) known.current = tap;
  else if (tap !== undefined) {
    const observed: { current: WireTap | undefined } = { current: tap };
    taps.set(socket, observed);
    const read = socket.read.bind(socket);
    socket.read = (size?: number) => {
      const chunk: unknown = read(size);
      if (chunk instanceof Uint8Array) observed.current?.push(chunk);
      return chunk;
    };
  }
}

/** Collects one HTTP response up to a size: a handler for undici, a promise for the caller. */
export class HttpExchange implements Dispatcher.DispatchHandler {
  readonly response: Promise<RawResponse>;
  readonly #maxBytes: number;
  readonly #body: BoundedBody;
  #settle!: { resolve: (response: RawResponse) => void; reject: (error: unknown) => void };
  #controller: Dispatcher.DispatchController | undefined;
  #failure: Error | undefined;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #socket: Socket | undefined;
  /** Bytes that earlier responses brought on the same connection. */
  #bytesBefore = 0;
  readonly #tap: WireTap | undefined;
  readonly #timeoutMs: number;
  /** Instead of undici's own time-outs, which know no other clock. */
  readonly #idleTimer: IdleTimer;
  /** Request line and header as they were sent. */
  #sent = '';

  constructor({ host, maxBytes, timeoutMs, clock, keepWire }: HttpExchangeOptions) {
    this.#maxBytes = maxBytes;
    this.#timeoutMs = timeoutMs;
    this.#idleTimer = new IdleTimer(clock, () => {
      const problem = this.#status === 0 ? 'did not answer in time' : 'stopped sending';
      this.abort(new ConnectionError(`${host}: the server ${problem}`));
    });
    this.#body = new BoundedBody(maxBytes);
    if (keepWire !== undefined) this.#tap = new WireTap(maxBytes, keepWire);
    this.response = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
  }

  /** What arrived so far. TLS counts as far as it is decrypted. */
  get received(): Received {
    const bytes = this.#socket === undefined ? 0 : this.#socket.bytesRead - this.#bytesBefore;
    return { bytes, bodyBytes: this.#body.length };
  }

  /**
   * Counts, and if they are wanted keeps, the bytes of this connection from now on. @param sent request line
   * and header, without the empty line
   */
  useSocket(socket: Socket, sent: string): void {
    this.#socket = socket;
    this.#sent = sent;
    observe(socket, this.#tap);
    this.#bytesBefore = socket.bytesRead;
  }

  /** Ends the exchange immediately, even while it is queued for a connection. */
  abort(reason: Error): void {
    this.#idleTimer.stop();
    this.#settle.reject(reason);
    this.#failure ??= reason;
    this.#controller?.abort(reason);
  }

  /** Ends the exchange with the part of the body that has arrived; {@link abort} if no head has arrived. */
  cut(reason: Error): void {
    if (this.#status >= 200) this.#finish(reason.message);
    this.abort(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#failure !== undefined) {
      controller.abort(this.#failure);
      return;
    }
    starting = this;
    this.#idleTimer.start(this.#timeoutMs);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#idleTimer.touch();
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#idleTimer.touch();
    this.#body.push(chunk);
    if (!this.#body.truncated) return;
    const { length } = this.#body;
    const announced = Number(this.#headers['content-length'] ?? Number.NaN);
    const rest = announced >= length ? announced - length : 0;
    if (length - this.#maxBytes + rest <= DRAIN_BYTES) return;
    this.#finish();
    this.#failure = new Error('the body limit is reached');
    controller.abort(this.#failure);
  }

  onResponseEnd(): void {
    this.#idleTimer.stop();
    this.#finish();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#idleTimer.stop();
    // undici's error does not say whether a part of the response had arrived.
    const isCut = this.received.bytes > 0 && error.message === 'other side closed';
    // After #finish this has no effect: the promise is settled.
    this.#settle.reject(isCut ? earlyEnd(error) : error);
  }

  #wire(): Pick<RawResponse, 'wire'> {
    const response = this.#tap?.response();
    if (response === undefined) return {};
    return { wire: { ...response, request: Buffer.from(`${this.#sent}\r\n`, 'latin1') } };
  }

  #finish(late?: string): void {
    this.#settle.resolve({
      status: this.#status,
      headers: this.#headers,
      body: this.#body.bytes(),
      truncated: this.#body.truncated || late !== undefined,
      late,
      ...this.#wire(),
    });
  }
}

/** The server closed the connection in order, within the response. */
function earlyEnd(cause: Error): Error {
  const error = new Error('the server closed the connection within the response', { cause });
  return Object.assign(error, { code: EARLY_END });
}
