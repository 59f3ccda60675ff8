// Receives one HTTP response from undici, up to a size.
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { joinBytes } from './decode-body.js';

export interface RawResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Still encoded. */
  readonly body: Uint8Array;
  readonly truncated: boolean;
}

/**
 * A rest of this size above the body limit is read and dropped, which keeps the connection usable. A longer rest closes the
 * connection.
 */
const DRAIN_BYTES = 64 * 1024;

/** Collects one HTTP response up to a size: a handler for undici, a promise for the caller. */
export class HttpExchange implements Dispatcher.DispatchHandler {
  readonly response: Promise<RawResponse>;
  readonly #maxBytes: number;
  readonly #chunks: Uint8Array[] = [];
  #settle!: { resolve: (response: RawResponse) => void; reject: (error: unknown) => void };
  #controller: Dispatcher.DispatchController | undefined;
  #failure: Error | undefined;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.response = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
  }

  /** Ends the exchange immediately, even while it is queued for a connection. */
  abort(reason: Error): void {
    this.#settle.reject(reason);
    this.#failure ??= reason;
    this.#controller?.abort(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#failure !== undefined) controller.abort(this.#failure);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#length < this.#maxBytes) this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length <= this.#maxBytes) return;
    const announced = Number(this.#headers['content-length'] ?? Number.NaN);
    const rest = announced >= this.#length ? announced - this.#length : 0;
    if (this.#length - this.#maxBytes + rest <= DRAIN_BYTES) return;
    this.#finish();
    this.#failure = new Error('the body limit is reached');
    controller.abort(this.#failure);
  }

  onResponseEnd(): void {
    this.#finish();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    // After #finish this has no effect: the promise is settled.
    this.#settle.reject(error);
  }

  #finish(): void {
    this.#settle.resolve({
      status: this.#status,
      headers: this.#headers,
      body: joinBytes(this.#chunks, Math.min(this.#length, this.#maxBytes)),
      truncated: this.#length > this.#maxBytes,
    });
  }
}
