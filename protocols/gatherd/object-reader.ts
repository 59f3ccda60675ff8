// Reads the replies of gatherd that consist of one object.
import { SectionDecoder, type SoifDecoderOptions, type SoifObject } from '../soif/index.js';

const NOTHING = new Uint8Array(0);

/** What the reader knows after a chunk of the reply. */
export interface ObjectProgress {
  /** The object, in the chunk that completes it. */
  readonly object: SoifObject | undefined;
  /** Whether the reply is complete. */
  readonly ended: boolean;
  /** The bytes after the reply; empty until it is complete. */
  readonly rest: Uint8Array;
}

/**
 * Reads the bare object in the reply to SEND-OBJECT or INFO (GATHERD-5.2, 3.6). The reply to SEND-OBJECT ends with its end
 * line. That to INFO ends with the object, because its line may be absent.
 */
export class ObjectReader {
  readonly #decoder: SectionDecoder;
  readonly #endsWithObject: boolean;
  /** Bytes read before the current chunk. */
  #offset = 0;
  #found = false;

  constructor(command: 'object' | 'info', soif: SoifDecoderOptions = {}) {
    this.#decoder = new SectionDecoder({ ...soif, endLine: true });
    this.#endsWithObject = command === 'info';
  }

  /** Takes bytes of the reply. Objects after the first one are ignored. */
  push(chunk: Uint8Array): ObjectProgress {
    const start = this.#offset;
    this.#offset += chunk.length;
    let object: SoifObject | undefined;
    for (const item of this.#decoder.push(chunk)) {
      if (item.kind !== 'object' || this.#found) continue;
      object = item.object;
      this.#found = true;
      if (this.#endsWithObject) {
        return { object, ended: true, rest: chunk.subarray(item.offset + item.bytes.length - start) };
      }
    }
    const { ended } = this.#decoder;
    return { object, ended, rest: ended ? this.#decoder.rest : NOTHING };
  }
}
