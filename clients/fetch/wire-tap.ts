// The bytes of HTTP messages as they went over the wire, for archives (WARC 1.1, 6.3).
import { ProtocolError } from '../../protocols/errors.js';
import { type HttpEvent, HttpResponseReader } from '../../protocols/http/index.js';
import { BoundedBody } from './bounded-body.js';

/** What a request wants to keep of the messages: heads and bodies, or the framing of the body as well. */
export type KeepWire = 'messages' | 'framing';

/** The parts of a response that undici does not pass on. */
export interface WireResponse {
  /** Status line and header of the final response, to the empty line. Empty for HTTP/0.9. */
  readonly head: Uint8Array;
  /** The body with its transfer coding and trailers; absent if it has none, or it was not wanted. */
  readonly framed?: Uint8Array;
  /** The body with its transfer coding is longer than what was kept of it. */
  readonly truncated: boolean;
}

/** Bytes of framing that are kept above the limit of the body. */
const MAX_FRAMING = 64 * 1024;

/** Reads a response beside the strict parser, from the same bytes. */
export class WireTap {
  readonly #reader = new HttpResponseReader();
  readonly #framed: BoundedBody | undefined;
  #head: Uint8Array | undefined;
  #hasFraming = false;
  #ended = false;

  /** @param maxBytes of the body */
  constructor(maxBytes: number, keep: KeepWire) {
    if (keep === 'framing') this.#framed = new BoundedBody(maxBytes + MAX_FRAMING);
  }

  push(chunk: Uint8Array): void {
    if (this.#ended) return;
    try {
      for (const event of this.#reader.push(chunk)) this.take(event);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      // The strict parser reports the error.
      this.#ended = true;
    }
  }

  /** Takes the next part of the response, for a caller that reads it anyway. */
  take(event: HttpEvent): void {
    if (event.kind === 'head') {
      if (event.isInterim) return;
      this.#head = event.raw;
      this.#ended ||= this.#framed === undefined;
    } else if (event.kind === 'end') this.#ended = true;
    else {
      this.#hasFraming ||= event.kind !== 'data';
      this.#framed?.push(event.raw);
    }
  }

  /** Returns what has arrived; undefined without a head. */
  response(): WireResponse | undefined {
    if (this.#head === undefined) return undefined;
    return this.#framed === undefined || !this.#hasFraming
      ? { head: this.#head, truncated: false }
      : { head: this.#head, framed: this.#framed.bytes(), truncated: this.#framed.truncated };
  }
}
