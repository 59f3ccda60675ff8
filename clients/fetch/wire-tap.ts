// The bytes of HTTP messages as they went over the wire, for archives (WARC 1.1, 6.3).
import type { HttpEvent } from '../../protocols/http/index.js';
import type { BodyCollector } from './bounded-body.js';
import type { BodyBytes } from './stored-body.js';

/** What a request wants to keep of the messages: heads and bodies, or the framing of the body as well. */
export type KeepWire = 'messages' | 'framing';

/** The parts of a response besides the content of its body. */
export interface WireResponse {
  /** Status line and header of the final response, to the empty line. Empty for HTTP/0.9. */
  readonly head: Uint8Array;
  /** The body with its transfer coding and trailers; absent if it has none, or it was not wanted. */
  readonly framed?: BodyBytes;
  /** The body with its transfer coding is longer than what was kept of it. */
  readonly truncated: boolean;
}

/** Bytes of framing that are kept above the limit of the body. */
export const MAX_FRAMING = 64 * 1024;

/** Keeps what an archive needs of a response. */
export class WireTap {
  readonly #collect: (() => BodyCollector) | undefined;
  #framed: BodyCollector | undefined;
  #head: Uint8Array | undefined;

  /** @param collect begins to keep a body with its framing; its limit is that of the body and {@link MAX_FRAMING} */
  constructor(keep: KeepWire, collect: () => BodyCollector) {
    if (keep === 'framing') this.#collect = collect;
  }

  /** Whether the sender must pause. */
  get isFull(): boolean {
    return this.#framed?.isFull === true;
  }

  /** Takes the next part of the response. */
  take(event: HttpEvent): void {
    if (event.kind === 'head') {
      if (event.isInterim) return;
      this.#head = event.raw;
    } else if (event.kind !== 'end') {
      // Framing comes before the first data.
      if (event.kind !== 'data') this.#framed ??= this.#collect?.();
      this.#framed?.push(event.raw);
    }
  }

  /** Returns what has arrived; undefined without a head. @throws the errors of the disk */
  async response(): Promise<WireResponse | undefined> {
    if (this.#head === undefined) return undefined;
    if (this.#framed === undefined) return { head: this.#head, truncated: false };
    const framed = await this.#framed.finish();
    return { head: this.#head, framed, truncated: this.#framed.truncated };
  }

  /** Forgets what was kept. */
  async drop(): Promise<void> {
    await this.#framed?.drop();
  }
}
