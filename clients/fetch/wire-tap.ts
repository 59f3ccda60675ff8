// The bytes of HTTP messages as they went over the wire, for archives (WARC 1.1, 6.3).
import type { HttpEvent } from '../../protocols/http/index.js';
import { BoundedBody } from './bounded-body.js';

/** What a request wants to keep of the messages: heads and bodies, or the framing of the body as well. */
export type KeepWire = 'messages' | 'framing';

/** The parts of a response besides the content of its body. */
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

/** Keeps what an archive needs of a response. */
export class WireTap {
  readonly #framed: BoundedBody | undefined;
  #head: Uint8Array | undefined;
  #hasFraming = false;

  /** @param maxBytes of the body */
  constructor(maxBytes: number, keep: KeepWire) {
    if (keep === 'framing') this.#framed = new BoundedBody(maxBytes + MAX_FRAMING);
  }

  /** Takes the next part of the response. */
  take(event: HttpEvent): void {
    if (event.kind === 'head') {
      if (event.isInterim) return;
      this.#head = event.raw;
    } else if (event.kind !== 'end') {
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
