// The server's end of an SSTP connection: requests, replies.
import { ProtocolError } from '../errors.js';
import { StateMachine } from '../state-machine.js';
import { SstpDecoder } from './codec.js';
import { FastRequestParser, fitsFastRequests } from './fast-request.js';
import { REQUEST_LIMITS, type SstpLimits } from './message.js';
import { CODES } from './registry.js';
import { type ReplyBuffers, ReplyWriter } from './reply-writer.js';
import { parseRequest, type SstpRequest } from './requests.js';
import { SERVER_STATES, type SstpServerState } from './states.js';

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
  readonly #machine = new StateMachine(SERVER_STATES, 'reading');

  /** @param buffers memory for replies; sessions may share it */
  constructor(options: RequestDecoderOptions = {}, buffers?: ReplyBuffers) {
    this.replies = new ReplyWriter(buffers);
    this.#decoder = new RequestDecoder(options);
  }

  get state(): SstpServerState {
    // The owner writes replies, too.
    if (this.replies.closes && this.#machine.state !== 'closing') this.#machine.step('refused');
    return this.#machine.state;
  }

  /** Whether there are no more requests: close when the replies are sent. */
  get closing(): boolean {
    return this.state === 'closing';
  }

  /** Whether no part of a request is held: the next octet begins one (S-45). */
  get idle(): boolean {
    return this.#decoder.idle;
  }

  push(chunk: Uint8Array): void {
    if (this.state === 'reading') this.#decoder.push(chunk);
    else this.#machine.step('more');
  }

  /**
   * The next request; `undefined` when no request is complete. `malformed` (400, 505) and `unserved` (501,
   * S-46) requests are answered already and are returned for the log.
   */
  next(): ServerRequest | undefined {
    if (this.closing) return undefined;
    try {
      const request = this.#decoder.next();
      if (request === undefined) this.#machine.step('none');
      else if (request.kind === 'unserved') {
        this.#machine.step('unserved');
        this.replies.writeError(CODES.notImplemented.number);
      } else this.#machine.step('served');
      return request;
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      const isVersion = error.rule === 'S-46';
      this.#machine.step(isVersion ? 'version' : 'malformed');
      const { number: code } = isVersion ? CODES.versionNotSupported : CODES.badRequest;
      this.replies.writeError(code);
      return { kind: 'malformed', code, error };
    }
  }

  /**
   * The peer closed its side (S-39): {@link next} still returns complete requests, and after the last one the
   * session is {@link closing}. An incomplete request gets no reply.
   */
  end(): void {
    if (this.state === 'reading') this.#machine.step('end');
  }
}

export interface RequestDecoderOptions extends Partial<SstpLimits> {
  /** Reads usual requests directly from the octets. Default true; tests compare both ways. */
  readonly fast?: boolean;
}

/**
 * Reads requests one at a time, on demand, so the caller decides how many are pending. A chunk is held until it
 * is used up. The fast and the slow path give the same result.
 */
export class RequestDecoder {
  readonly #decoder: SstpDecoder;
  readonly #fast: boolean;
  readonly #chunks: Uint8Array[] = [];
  #position = 0;
  readonly #parser = new FastRequestParser();

  constructor(options: RequestDecoderOptions = {}) {
    const limits = { ...REQUEST_LIMITS, ...options };
    this.#decoder = new SstpDecoder('request', options);
    this.#fast = options.fast !== false && fitsFastRequests(limits);
  }

  /** Whether no octet is held. */
  get idle(): boolean {
    return this.#chunks.length === 0 && this.#decoder.idle;
  }

  push(chunk: Uint8Array): void {
    if (chunk.length > 0) this.#chunks.push(chunk);
  }

  /**
   * The next request; `undefined` when no request is complete.
   * @throws ProtocolError (answer 400, or 505 when its rule is S-46); every later call throws it again
   */
  next(): SstpRequest | undefined {
    for (let chunk = this.#chunks[0]; chunk !== undefined; chunk = this.#chunks[0]) {
      const from = this.#position;
      if (this.#fast && this.#decoder.idle && this.#parser.read(chunk, from)) {
        this.#moveTo(this.#parser.end, chunk.length);
        this.#decoder.skip(this.#parser.end - from);
        return this.#parser.request;
      }
      this.#moveTo(this.#decoder.read(chunk, from), chunk.length);
      const message = this.#decoder.takeMessage();
      if (message !== undefined) return parseRequest(message);
    }
    return undefined;
  }

  #moveTo(position: number, end: number): void {
    this.#position = position;
    if (position < end) return;
    this.#chunks.shift();
    this.#position = 0;
  }
}
