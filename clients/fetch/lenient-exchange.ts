// Requests one document on a connection of its own, and reads the response leniently.
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { IdleTimer } from '../../protocols/clock.js';
import { ConnectionError, errorCode, messageOf, ProtocolError } from '../../protocols/errors.js';
import {
  type HttpEvent,
  type HttpHead,
  type HttpResponseLimits,
  HttpResponseReader,
} from '../../protocols/http/index.js';
import { asConnectionError } from '../connection/index.js';
import { BoundedBody } from './bounded-body.js';
import type { HttpExchangeOptions, RawResponse } from './exchange.js';
import type { Received } from './receive-watch.js';
import { WireTap } from './wire-tap.js';

/**
 * Sends one request and collects the response up to a size. The connection is closed afterwards, so that bytes
 * after a message whose length is ambiguous are never the response to another request.
 */
export class LenientExchange {
  readonly response: Promise<RawResponse>;
  readonly #options: HttpExchangeOptions;
  readonly #reader: HttpResponseReader;
  readonly #body: BoundedBody;
  readonly #abort = new AbortController();
  #settle!: { resolve: (response: RawResponse) => void; reject: (error: unknown) => void };
  readonly #tap: WireTap | undefined;
  readonly #idleTimer: IdleTimer;
  #sent = '';
  #socket: Socket | undefined;
  #head: HttpHead | undefined;

  constructor(options: HttpExchangeOptions, limits?: HttpResponseLimits) {
    this.#options = options;
    this.#reader = new HttpResponseReader(limits);
    this.#body = new BoundedBody(options.maxBytes);
    this.#idleTimer = new IdleTimer(options.clock, () => this.#onIdle());
    if (options.keepWire !== undefined) this.#tap = new WireTap(options.maxBytes, options.keepWire);
    this.response = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
  }

  /** What arrived so far. The reader limits the header itself, so it counts as a part of the document. */
  get received(): Received {
    const bytes = this.#socket?.bytesRead ?? 0;
    return { bytes, bodyBytes: this.#body.length + this.#reader.headBytes };
  }

  /** Ends the exchange immediately, even while it connects. */
  abort(reason: Error): void {
    this.#settle.reject(reason);
    this.#abort.abort(reason);
    this.#socket?.destroy();
  }

  /** Ends the exchange with the part of the body that has arrived; {@link abort} if no head has arrived. */
  cut(reason: Error): void {
    if (this.#head !== undefined) this.#finish(undefined, reason.message);
    this.abort(reason);
  }

  /** Connects and sends the request; {@link response} is the result. */
  async start(open: (signal: AbortSignal) => Promise<Socket>, request: string): Promise<void> {
    this.#sent = request;
    try {
      const socket = await open(this.#abort.signal);
      this.#socket = socket;
      socket.on('error', (error) => this.#onError(error));
      if (this.#abort.signal.aborted) {
        socket.destroy();
        return;
      }
      socket.on('data', (chunk: Uint8Array) => {
        this.#idleTimer.touch();
        this.#read(() => this.#reader.push(chunk));
      });
      socket.on('end', () => this.#read(() => this.#reader.end()));
      socket.on('close', () => {
        this.#idleTimer.stop();
        this.#settle.reject(this.#failure('the server broke the connection'));
      });
      this.#idleTimer.start(this.#options.timeoutMs);
      socket.write(request, 'latin1');
    } catch (error) {
      this.#settle.reject(error);
    }
  }

  /** A reset ends a body that only the end of the connection ends, as in undici. */
  #onError(error: Error): void {
    if (errorCode(error) === 'ECONNRESET' && this.#reader.endsWithConnection)
      this.#finish('the server broke the connection');
    else this.#settle.reject(error);
  }

  /** A body that only the end of the connection ends is kept if the server does not end it. */
  #onIdle(): void {
    if (this.#reader.endsWithConnection) this.#finish('the server stopped sending');
    else
      this.#stop(
        this.#failure(
          this.#head === undefined ? 'the server did not answer in time' : 'the server stopped sending',
        ),
      );
  }

  get #isOver(): boolean {
    return this.#socket?.destroyed === true;
  }

  #read(events: () => Iterable<HttpEvent>): void {
    if (this.#isOver) return;
    try {
      for (const event of events()) {
        this.#take(event);
        if (this.#isOver) return;
      }
    } catch (error) {
      const { host } = this.#options;
      this.#stop(
        error instanceof ProtocolError
          ? new ConnectionError(`${host}: the answer is not HTTP: ${messageOf(error)}`, { cause: error })
          : asConnectionError(host, error),
      );
    }
  }

  #take(event: HttpEvent): void {
    this.#tap?.take(event);
    if (event.kind === 'head' && !event.isInterim) this.#head = event;
    else if (event.kind === 'data') {
      this.#body.push(event.raw);
      if (this.#body.truncated) this.#finish(undefined);
    } else if (event.kind === 'end') this.#finish(event.problem);
  }

  #finish(problem: string | undefined, late?: string): void {
    const { status, fields, raw, transferCodings } = this.#head!;
    const wire = this.#tap?.response();
    this.#settle.resolve({
      status,
      headers: headersOf(fields),
      transferCodings,
      body: this.#body.bytes(),
      truncated: this.#body.truncated || late !== undefined,
      late,
      wire: wire === undefined ? undefined : { ...wire, request: Buffer.from(this.#sent, 'latin1') },
      lenient: {
        deviations: this.#reader.deviations,
        head: raw,
        problem,
      },
    });
    this.#socket?.destroy();
  }

  #stop(error: Error): void {
    this.#settle.reject(error);
    this.#socket?.destroy();
  }

  #failure(problem: string): ConnectionError {
    return new ConnectionError(`${this.#options.host}: ${problem}`);
  }
}

/** Collects fields by name in lower case; the values of repeated ones are a list. */
function headersOf(fields: HttpHead['fields']): IncomingHttpHeaders {
  const values = new Map<string, string[]>();
  for (const { name, value } of fields) {
    const key = name.toLowerCase();
    const known = values.get(key);
    if (known === undefined) values.set(key, [value]);
    else known.push(value);
  }
  // Not by assignment: a server may name a field __proto__.
  return Object.fromEntries(Array.from(values, ([name, all]) => [name, all.length === 1 ? all[0]! : all]));
}
