// The server's end of an SSTP connection.
import { ProtocolError } from '../errors.js';
import { CODES } from './registry.js';
import type { ReplyBuffers } from './reply-buffers.js';
import { ReplyWriter } from './reply-writer.js';
import { RequestDecoder, type RequestDecoderOptions } from './request-decoder.js';
import type { SstpRequest } from './requests.js';

/** A malformed request. The session has answered it, and it is the last one (S-39). */
export interface MalformedRequest {
  readonly kind: 'malformed';
  /** 400, or 505 for the version (S-46). */
  readonly code: number;
  readonly error: ProtocolError;
}

export type ServerRequest = SstpRequest | MalformedRequest;

/**
 * The server's end of a connection (S-39 to S-46). {@link push} what arrives; take requests with {@link next}
 * and write the reply of each to {@link replies} before the next, which keeps the order; send `replies.take()`;
 * close when {@link closing} is true and everything is sent. For backpressure, stop calling {@link next}:
 * requests stay pending.
 */
export class SstpServerSession {
  readonly replies: ReplyWriter;
  readonly #decoder: RequestDecoder;
  #closing = false;
  #ended = false;

  /** @param buffers memory for replies; sessions may share it */
  constructor(options: RequestDecoderOptions = {}, buffers?: ReplyBuffers) {
    this.replies = new ReplyWriter(buffers);
    this.#decoder = new RequestDecoder(options);
  }

  /** Whether there are no more requests: close when the replies are sent. */
  get closing(): boolean {
    return this.#closing || this.replies.closes;
  }

  /** Whether no part of a request is held: the next octet begins one (S-45). */
  get idle(): boolean {
    return this.#decoder.idle;
  }

  push(chunk: Uint8Array): void {
    if (!this.closing && !this.#ended) this.#decoder.push(chunk);
  }

  /**
   * The next request; `undefined` when no request is complete. `malformed` (400, 505) and `unserved` (501,
   * S-46) requests are answered already and are returned for the log.
   */
  next(): ServerRequest | undefined {
    if (this.closing) return undefined;
    try {
      const request = this.#decoder.next();
      if (request?.kind === 'unserved') this.replies.writeError(CODES.notImplemented.number);
      if (request === undefined && this.#ended) this.#closing = true;
      return request;
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      const { number: code } = error.rule === 'S-46' ? CODES.versionNotSupported : CODES.badRequest;
      this.replies.writeError(code);
      return { kind: 'malformed', code, error };
    }
  }

  /**
   * The peer closed its side (S-39): {@link next} still returns complete requests, and after the last one the
   * session is {@link closing}. An incomplete request gets no reply.
   */
  end(): void {
    this.#ended = true;
  }
}
