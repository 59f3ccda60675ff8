// Reads requests one at a time, on the fast path where possible.
import { SstpDecoder } from './codec.js';
import { FastRequestParser, fitsFastRequests } from './fast-request.js';
import { REQUEST_LIMITS, type SstpLimits } from './limits.js';
import { parseRequest, type SstpRequest } from './requests.js';

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
