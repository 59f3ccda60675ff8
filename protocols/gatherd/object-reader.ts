// Reads the replies of gatherd that consist of one object.
import { SectionDecoder, type SectionItem, type SoifDecoderOptions } from '../soif/index.js';

const NOTHING = new Uint8Array(0);

/** How a requested object is delivered: as an event of its own, or as the items of an update. */
export type ObjectDelivery = 'object' | 'items';

/** An item of an object or of its bytes. */
type ObjectItem = Extract<SectionItem, { kind: 'object' | 'large' | 'large-bytes' | 'rewind' }>;

/** What the reader knows after a chunk of the reply. */
export interface ObjectProgress {
  /** The object, in the chunk that completes it; of one that is not held, the items of its bytes before it. */
  readonly items: readonly ObjectItem[];
  /** Whether the reply is complete. */
  readonly ended: boolean;
  /** The bytes after the reply; empty until it is complete. */
  readonly rest: Uint8Array;
}

/**
 * Reads the bare object in the reply to SEND-OBJECT or INFO (GATHERD-5.2, 3.6). The reply to SEND-OBJECT ends
 * with its end line. That to INFO ends with the object, because its line may be absent.
 */
export class ObjectReader {
  readonly #decoder: SectionDecoder;
  readonly #endsWithObject: boolean;
  /** Bytes read before the current chunk. */
  #offset = 0;
  #found = false;

  /** @param soif with `largeBytes`, an object of more bytes is not held */
  constructor(command: 'object' | 'info', soif: SoifDecoderOptions = {}) {
    this.#decoder = new SectionDecoder({ ...soif, endLine: true });
    this.#endsWithObject = command === 'info';
  }

  /** Takes bytes of the reply. Objects after the first one are ignored. */
  push(chunk: Uint8Array): ObjectProgress {
    const start = this.#offset;
    this.#offset += chunk.length;
    const items: ObjectItem[] = [];
    for (const item of this.#decoder.push(chunk)) {
      if (item.kind === 'large-bytes' || item.kind === 'rewind') {
        items.push(item);
        if (item.kind === 'rewind') this.#offset -= item.back;
      }
      if ((item.kind !== 'object' && item.kind !== 'large') || this.#found) continue;
      items.push(item);
      this.#found = true;
      if (this.#endsWithObject && item.kind === 'object') {
        return { items, ended: true, rest: chunk.subarray(item.offset + item.bytes.length - start) };
      }
    }
    const { ended } = this.#decoder;
    return { items, ended, rest: ended ? this.#decoder.rest : NOTHING };
  }
}
