// Reads the data of one SEND-UPDATE, as objects or as bytes.
import { LF } from '../ascii.js';
import { SectionDecoder, type SectionItem, type SoifDecoderOptions } from '../soif/index.js';
import { MAX_LINE_BYTES } from './vocabulary.js';

/** How an update is delivered: as objects, or as the bytes of the wrapped stream. */
export type UpdateDelivery = 'items' | 'bytes';

export type UpdateEvent =
  | { readonly kind: 'item'; readonly item: SectionItem }
  | { readonly kind: 'data'; readonly bytes: Uint8Array };

const NOTHING = new Uint8Array(0);

/**
 * Reads the data of one SEND-UPDATE. Uncompressed, the end line is found by decoding the objects, because a
 * value may contain a line that looks like it (GATHERD-3.7). Compressed data ends with the gzip member.
 */
export class UpdateReader {
  readonly #delivery: UpdateDelivery;
  readonly #decoder: SectionDecoder;
  #endLine = { code: 0, text: '' };
  /** Bytes of the stream before #held. */
  #delivered = 0;
  /** Bytes that may become the end line, so they are not delivered yet: less than a line. */
  #held: Uint8Array = NOTHING;
  #heldAtLineStart = true;

  constructor(delivery: UpdateDelivery, compressed: boolean, soif: SoifDecoderOptions = {}) {
    this.#delivery = delivery;
    const { largeBytes, ...held } = soif;
    this.#decoder = new SectionDecoder({
      ...held,
      ...(largeBytes === undefined || delivery === 'bytes' ? {} : { largeBytes }),
      endLine: !compressed,
    });
  }

  /** Whether the end line was found. Never with compressed data. */
  get ended(): boolean {
    return this.#decoder.ended;
  }

  get endLine(): { readonly code: number; readonly text: string } {
    return this.#endLine;
  }

  /** Bytes after the end line. */
  get rest(): Uint8Array {
    return this.#decoder.rest;
  }

  /** Takes bytes of an uncompressed update. */
  pushPlain(chunk: Uint8Array): UpdateEvent[] {
    return this.#readPlain(chunk, this.#decoder.push(chunk));
  }

  /** Takes decompressed bytes of a compressed update. */
  pushInflated(bytes: Uint8Array): UpdateEvent[] {
    if (this.#delivery === 'bytes') return bytes.length === 0 ? [] : [{ kind: 'data', bytes }];
    return this.#collectItems(this.#decoder.push(bytes));
  }

  /** No more data: returns the last items. */
  end(): UpdateEvent[] {
    return this.#readPlain(NOTHING, this.#decoder.end());
  }

  #readPlain(chunk: Uint8Array, items: readonly SectionItem[]): UpdateEvent[] {
    const events = this.#collectItems(items);
    if (this.#delivery === 'items') return events;
    const bytes = this.#held.length === 0 ? chunk : concatenate(this.#held, chunk);
    let end = this.ended ? bytes.length : this.#countCertainBytes(bytes);
    for (const item of items) if (item.kind === 'end-line') end = item.offset - this.#delivered;
    return this.#deliver(bytes, end);
  }

  #collectItems(items: readonly SectionItem[]): UpdateEvent[] {
    const events: UpdateEvent[] = [];
    for (const item of items) {
      if (item.kind === 'end-line') this.#endLine = { code: item.code, text: item.text };
      else if (this.#delivery === 'items') events.push({ kind: 'item', item });
    }
    return events;
  }

  /** Returns the number of these bytes that cannot belong to an incomplete end line. */
  #countCertainBytes(bytes: Uint8Array): number {
    const lf = bytes.lastIndexOf(LF);
    const atLineStart = lf >= 0 || this.#heldAtLineStart;
    return atLineStart && mayBecomeEndLine(bytes.subarray(lf + 1)) ? lf + 1 : bytes.length;
  }

  #deliver(bytes: Uint8Array, length: number): UpdateEvent[] {
    this.#held = bytes.slice(Math.max(length, 0));
    if (length <= 0) return [];
    this.#delivered += length;
    this.#heldAtLineStart = bytes[length - 1] === LF;
    return [{ kind: 'data', bytes: bytes.subarray(0, length) }];
  }
}

function concatenate(first: Uint8Array, second: Uint8Array): Uint8Array {
  const whole = new Uint8Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}

/** Whether a line that begins with these bytes may become `NNN - text`. */
function mayBecomeEndLine(start: Uint8Array): boolean {
  if (start.length > MAX_LINE_BYTES) return false;
  for (let i = 0; i < Math.min(start.length, 3); i++) {
    const byte = start[i] ?? 0;
    if (byte < 0x30 || byte > 0x39) return false;
  }
  return start.length < 4 || start[3] === 0x20;
}
