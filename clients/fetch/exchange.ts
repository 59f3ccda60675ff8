// One request on a connection, and its response, as far as it can be understood.
import type { IncomingHttpHeaders } from 'node:http';
import { type Clock, IdleTimer } from '../../protocols/clock.js';
import { ConnectionError, messageOf, ProtocolError } from '../../protocols/errors.js';
import {
  type HttpEvent,
  type HttpHead,
  type HttpResponseLimits,
  HttpResponseReader,
} from '../../protocols/http/index.js';
import { asConnectionError, EARLY_END } from '../connection/index.js';
import { type BodyCollector, BoundedBody } from './bounded-body.js';
import type { ConnectionUser, HttpConnection } from './http-connection.js';
import type { Received } from './receive-watch.js';
import { SpooledBody } from './spooled-body.js';
import { type BodyBytes, closeBodies } from './stored-body.js';
import type { BodySpool, LenientReading } from './types.js';
import { type KeepWire, MAX_FRAMING, type WireResponse, WireTap } from './wire-tap.js';

export interface RawResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Status line and header as they were sent, to the empty line; empty for HTTP/0.9. */
  readonly head: Uint8Array;
  /** Still encoded. The caller closes what is on disk. */
  readonly body: BodyBytes;
  readonly truncated: boolean;
  /** Codings that the transfer added to the body (RFC 9112 7), in the order of their application. */
  readonly transferCodings: readonly string[];
  /** Absent for a message by the rules. */
  readonly lenient?: LenientReading | undefined;
  /** Why the rest of the body did not arrive in time. */
  readonly late?: string | undefined;
  /** The bytes of the messages; present if they are kept. */
  readonly wire?: (WireResponse & { readonly request: Uint8Array }) | undefined;
}

/** Options of one exchange. */
export interface HttpExchangeOptions {
  /** Name of the server, for errors. */
  readonly host: string;
  readonly maxBytes: number;
  /** Milliseconds until the head is complete, and then between two pieces of the body (G-85). */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly keepWire?: KeepWire | undefined;
  /** For the body, with {@link keepWire}. */
  readonly spool?: BodySpool | undefined;
  /** Limits on what a response has besides its body. */
  readonly limits?: HttpResponseLimits | undefined;
}

/**
 * A rest of this size above the body limit is read and dropped, which keeps the connection usable. A longer
 * rest closes the connection.
 */
const DRAIN_BYTES = 64 * 1024;

/**
 * Sends one request on a connection and collects the response up to a size. The connection stays open only after
 * a message by the rules, whose end is certain: what follows another one could be its rest.
 */
export class HttpExchange implements ConnectionUser {
  readonly response: Promise<RawResponse>;
  readonly #options: HttpExchangeOptions;
  readonly #connection: HttpConnection;
  readonly #bytesBefore: number;
  readonly #reader: HttpResponseReader;
  /** Bytes of the body that are kept. */
  readonly #maxBytes: number;
  readonly #body: BodyCollector;
  readonly #tap: WireTap | undefined;
  readonly #idleTimer: IdleTimer;
  readonly #sent: string;
  #settle!: { resolve: (response: RawResponse) => void; reject: (error: unknown) => void };
  #head: HttpHead | undefined;
  #isOver = false;
  #isPaused = false;
  #hasBytes = false;

  /** Sends the request. @param request its whole message, in Latin-1 */
  constructor(connection: HttpConnection, request: string, options: HttpExchangeOptions) {
    this.#options = options;
    this.#connection = connection;
    this.#bytesBefore = connection.bytesRead;
    this.#sent = request;
    this.#reader = new HttpResponseReader(options.limits);
    this.#maxBytes = (options.keepWire && options.spool)?.maxBytes ?? options.maxBytes;
    this.#body = this.#collector(this.#maxBytes);
    this.#idleTimer = new IdleTimer(options.clock, () => this.#onIdle());
    if (options.keepWire !== undefined)
      this.#tap = new WireTap(options.keepWire, () => this.#collector(this.#maxBytes + MAX_FRAMING));
    this.response = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.#idleTimer.start(options.timeoutMs);
    connection.use(request, this);
  }

  /** What arrived so far. The reader limits the header itself, so it counts as a part of the document. */
  get received(): Received {
    const bytes = this.#connection.bytesRead - this.#bytesBefore;
    return { bytes, bodyBytes: this.#body.length + this.#reader.headBytes };
  }

  /** Ends the exchange immediately. */
  abort(reason: Error): void {
    if (this.#isOver) return;
    this.#end(false);
    this.#settle.reject(reason);
    void this.#drop();
  }

  /** Ends the exchange with the part of the body that has arrived; {@link abort} if no head has arrived. */
  cut(reason: Error): void {
    if (this.#head === undefined) this.abort(reason);
    else this.#finish({ late: reason.message });
  }

  onData(chunk: Uint8Array): void {
    this.#hasBytes = true;
    // A head has one span of time, however it drips.
    if (this.#head !== undefined) this.#idleTimer.touch();
    this.#read(() => this.#reader.push(chunk), chunk.length, 'unspecified');
    if (this.#isOver || this.#isPaused || !this.#isFull) return;
    // The disk is slower than the server, whose silence is then no sign.
    this.#isPaused = true;
    this.#idleTimer.stop();
    this.#connection.pause();
  }

  onEnd(): void {
    // A kept connection may end before it brings a response.
    if (this.#hasBytes) this.#read(() => this.#reader.end(), 0, 'disconnect');
  }

  onClose(error: Error | undefined): void {
    if (this.#isOver) return;
    if (this.#head !== undefined)
      this.#finish({ problem: 'the server broke the connection', cut: 'disconnect' });
    else this.abort(asConnectionError(this.#options.host, error ?? earlyEnd('the server closed it')));
  }

  #onIdle(): void {
    if (this.#head !== undefined) this.#finish({ problem: 'the server stopped sending', cut: 'time' });
    else this.abort(new ConnectionError(`${this.#options.host}: the server did not answer in time`));
  }

  /** @param cut what it means if the body ends within these events and is not complete */
  #read(events: () => Iterable<HttpEvent>, size: number, cut: NonNullable<LenientReading['cut']>): void {
    if (this.#isOver) return;
    const before = this.#reader.bytesRead;
    let end: (HttpEvent & { kind: 'end' }) | undefined;
    try {
      for (const event of events()) {
        if (event.kind === 'end') end = event;
        this.#take(event);
        if (this.#isOver) return;
      }
    } catch (error) {
      const { host } = this.#options;
      this.abort(
        error instanceof ProtocolError
          ? new ConnectionError(`${host}: the answer is not HTTP: ${messageOf(error)}`, { cause: error })
          : asConnectionError(host, error),
      );
      return;
    }
    if (end === undefined) return;
    const hasMore = this.#reader.bytesRead - before < size;
    this.#finish({ problem: end.problem, cut, isReusable: !hasMore && this.#reader.keepsConnection });
  }

  #take(event: HttpEvent): void {
    this.#tap?.take(event);
    if (event.kind === 'head' && !event.isInterim) {
      this.#head = event;
      this.#idleTimer.touch();
    } else if (event.kind === 'data') {
      this.#body.push(event.raw);
      if (!this.#body.truncated) return;
      const above = this.#body.length - this.#maxBytes;
      const rest = this.#reader.announcedRest - event.raw.length;
      if (above + Math.max(0, rest) > DRAIN_BYTES) this.#finish({});
    }
  }

  #finish({
    problem,
    cut,
    late,
    isReusable = false,
  }: {
    readonly problem?: string | undefined;
    readonly cut?: LenientReading['cut'];
    readonly late?: string;
    readonly isReusable?: boolean;
  }): void {
    if (this.#isOver) return;
    this.#end(isReusable);
    const { status, fields, raw, transferCodings } = this.#head!;
    const { deviations } = this.#reader;
    const isLenient = deviations.length > 0 || problem !== undefined;
    const response = {
      status,
      headers: headersOf(fields),
      head: raw,
      transferCodings,
      truncated: this.#body.truncated || late !== undefined,
      late,
      ...(isLenient
        ? { lenient: { deviations, head: raw, problem, ...(problem === undefined ? {} : { cut }) } }
        : {}),
    };
    void this.#resolve(response);
  }

  async #resolve(response: Omit<RawResponse, 'body' | 'wire'>): Promise<void> {
    try {
      const kept = await this.#tap?.response();
      const body = await this.#body.finish();
      const wire = kept && { ...kept, request: Buffer.from(this.#sent, 'latin1') };
      this.#settle.resolve({ ...response, body, wire });
    } catch (error) {
      this.#settle.reject(error);
      await this.#drop();
    }
  }

  async #drop(): Promise<void> {
    await this.#body.drop();
    await this.#tap?.drop();
  }

  get #isFull(): boolean {
    return this.#body.isFull || this.#tap?.isFull === true;
  }

  #collector(maxBytes: number): BodyCollector {
    const { spool, keepWire } = this.#options;
    if (spool === undefined || keepWire === undefined) return new BoundedBody(maxBytes);
    return new SpooledBody({
      maxBytes,
      open: spool.open,
      onRoom: () => this.#onRoom(),
      onFailure: (error) => this.abort(error),
    });
  }

  #onRoom(): void {
    if (!this.#isPaused || this.#isOver || this.#isFull) return;
    this.#isPaused = false;
    this.#idleTimer.start(this.#options.timeoutMs);
    this.#connection.resume();
  }

  #end(isReusable: boolean): void {
    this.#isOver = true;
    this.#idleTimer.stop();
    if (this.#isPaused) this.#connection.resume();
    const keepAlive = this.#head?.fields.find(({ name }) => name.toLowerCase() === 'keep-alive')?.value;
    this.#connection.release(keepAlive);
    if (!isReusable) this.#connection.close();
  }
}

/** Gives the disk space of a response back that is not used. */
export async function closeResponse({ body, wire }: RawResponse): Promise<void> {
  await closeBodies({ wire: wire && { ...wire, body } });
}

/** An error of a message that ends too soon. */
export function earlyEnd(problem: string): Error {
  return Object.assign(new Error(problem), { code: EARLY_END });
}

/** Collects fields by name in lower case; the values of repeated ones are a list. */
function headersOf(fields: HttpHead['fields']): IncomingHttpHeaders {
  const values = new Map<string, string | string[]>();
  for (const { name, value } of fields) {
    const key = name.toLowerCase();
    const known = values.get(key);
    if (known === undefined) values.set(key, value);
    else if (typeof known === 'string') values.set(key, [known, value]);
    else known.push(value);
  }
  // Not by assignment: a server may name a field __proto__.
  return Object.fromEntries(values);
}
