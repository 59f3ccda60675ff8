import { ProtocolError } from '../errors.js';
import { CODES } from './registry.js';
import type { ReplyBuffers } from './reply-buffers.js';
import { ReplyWriter } from './reply-writer.js';
import { RequestDecoder, type RequestDecoderOptions } from './request-decoder.js';
import type { SstpRequest } from './requests.js';

/** A request that cannot be understood; the session has answered it, and it is the last one (S-39). */
export interface MalformedRequest {
  readonly kind: 'malformed';
  /** 400, or 505 for the version (S-46). */
  readonly code: number;
  readonly error: ProtocolError;
}

export type ServerRequest = SstpRequest | MalformedRequest;

/**
 * The server's end of a connection (S-39 to S-46). {@link push} what arrives; ask {@link next} for requests and answer each
 * into {@link replies} before the next, which keeps the order; write `replies.take()`; close when {@link closing} and
 * everything is written. Stop asking while enough is written: what is pending stays pending.
 */
export class SstpServerSession {
  readonly replies: ReplyWriter;
  readonly #decoder: RequestDecoder;
  #closing = false;
  #ended = false;

  /** @param buffers where memory for replies comes from; sessions may share them */
  constructor(options: RequestDecoderOptions = {}, buffers?: ReplyBuffers) {
    this.replies = new ReplyWriter(buffers);
    this.#decoder = new RequestDecoder(options);
  }

  /** No request will come any more: when the replies are written, close. */
  get closing(): boolean {
    return this.#closing || this.replies.closes;
  }

  /** Nothing of a request is held: what comes next begins one (S-45). */
  get idle(): boolean {
    return this.#decoder.idle;
  }

  push(chunk: Uint8Array): void {
    if (!this.closing && !this.#ended) this.#decoder.push(chunk);
  }

  /**
   * The next request, `undefined` when none is complete. `malformed` (400, 505) and `unserved` (501, S-46) ones are
   * answered already and come for the log.
   */
  next(): ServerRequest | undefined {
    if (this.closing) return undefined;
    try {
      const request = this.#decoder.next();
      if (request?.kind === 'unserved') this.replies.error(CODES.notImplemented.number);
      if (request === undefined && this.#ended) this.#closing = true;
      return request;
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      const { number: code } = error.rule === 'S-46' ? CODES.versionNotSupported : CODES.badRequest;
      this.replies.error(code);
      return { kind: 'malformed', code, error };
    }
  }

  /**
   * The peer closed its side (S-39): complete requests still come out of {@link next}, and when there is none any more
   * the session is {@link closing}. Half a request gets no answer.
   */
  end(): void {
    this.#ended = true;
  }
}
