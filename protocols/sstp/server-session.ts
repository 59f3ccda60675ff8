// The server's end of an SSTP connection: the choice of the protocol, requests, replies.
import { asciiBytes, LF, SP } from '../ascii.js';
import { ProtocolError } from '../errors.js';
import { SstpDecoder } from './codec.js';
import { FastRequestParser, fitsFastRequests } from './fast-request.js';
import { REQUEST_LIMITS, type SstpLimits } from './message.js';
import { CODES, VERSION_PREFIX } from './registry.js';
import { type ReplyBuffers, ReplyWriter } from './reply-writer.js';
import { parseRequest, type SstpRequest } from './requests.js';

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

/** S-47: for `neither`, the server sends `SSTP/1.0 400 BAD REQUEST` and closes. */
export type ProtocolChoice = 'sstp' | 'http' | 'neither' | 'undecided';

/** Octets of the longest first line that can be a request line of HTTP. */
export const MAX_CHOICE_BYTES = 8192;

const PREFIX = asciiBytes(VERSION_PREFIX);
const REQUEST_LINE = /^[!#$%&'*+.^`|~\w-]+ [^ ]+ HTTP\/\d\.\d$/;
const LONGEST_METHOD = 32;

/**
 * Chooses a protocol by the first octets of a connection (S-47, S-48): `undecided` while too few have arrived.
 * @param octets all octets so far; the caller passes them on to the chosen protocol
 */
export function chooseProtocol(octets: Uint8Array): ProtocolChoice {
  const compared = Math.min(octets.length, PREFIX.length);
  let same = 0;
  while (same < compared && octets[same] === PREFIX[same]) same++;
  if (same === PREFIX.length) return 'sstp';
  if (same === octets.length) return 'undecided';
  const lf = octets.indexOf(LF);
  const end = lf < 0 ? octets.length : lf;
  const line = Buffer.from(octets.buffer, octets.byteOffset, Math.min(end, MAX_CHOICE_BYTES)).toString(
    'latin1',
  );
  if (lf >= 0 && lf <= MAX_CHOICE_BYTES)
    return REQUEST_LINE.test(line.replace(/\r$/, '')) ? 'http' : 'neither';
  // No line yet. Garbage may never have one, so decide now if this cannot become a method and a target.
  const blank = octets.indexOf(SP);
  const method = line.slice(0, blank < 0 ? line.length : blank);
  if (!/^[!#$%&'*+.^`|~\w-]+$/.test(method) || method.length > LONGEST_METHOD) return 'neither';
  if (/[\0-\x1f\x7f]/.test(line.replace(/\r$/, ''))) return 'neither';
  return octets.length > MAX_CHOICE_BYTES ? 'neither' : 'undecided';
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
