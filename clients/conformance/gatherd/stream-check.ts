// Checks an update stream while it is read: counts, digest, layout, order.
import { createHash } from 'node:crypto';
import { ProtocolError } from '../../../protocols/errors.js';
import {
  SECTION_CLOSE,
  SECTION_OPEN,
  SectionDecoder,
  type SectionItem,
} from '../../../protocols/soif/index.js';
import { printable } from '../printable.js';

/** An object of a stream. */
export type StreamObject = Extract<SectionItem, { kind: 'object' }>;

/** The facts about one update stream. */
export interface StreamFacts {
  /** Bytes of the stream, wrappers included. */
  readonly bytes: number;
  /** SHA-256 of the stream. */
  readonly digest: string;
  readonly objects: number;
  /** Objects by section; an object outside of all sections counts as `bare`. */
  readonly bySection: Readonly<Record<SectionName | 'bare', number>>;
  /** Sections in the order in which they were opened. */
  readonly sections: readonly SectionName[];
  /** The strict parser's first error: an object that deviates from SOIF-2.2, or anything that is not an object (GATHERD-3.7). */
  readonly malformed: string | undefined;
  /** The first deviation from the layout of SOIF-8.8. */
  readonly misplaced: string | undefined;
  /** The first object that is out of order (GATHERD-4.6). */
  readonly disorder: string | undefined;
}

export type SectionName = 'delete' | 'refresh' | 'update';

const ORDER: readonly SectionName[] = ['delete', 'refresh', 'update'];
/** The text before the objects of a stream whose first two sections are empty. */
const EMPTY_HEAD = Buffer.concat([
  SECTION_OPEN.delete,
  SECTION_CLOSE,
  SECTION_OPEN.refresh,
  SECTION_CLOSE,
  SECTION_OPEN.update,
]);

/**
 * Checks an update stream as it is read. A lenient decoder yields the items, so that one defect does not hide another; their
 * offsets and the bytes at both ends show whether there is anything else in the stream. Memory does not grow with the
 * stream.
 */
export class StreamCheck {
  readonly #hash = createHash('sha256');
  readonly #strict = new SectionDecoder({ mode: 'strict' });
  readonly #onObject: (object: StreamObject) => void;
  readonly #bySection = { delete: 0, refresh: 0, update: 0, bare: 0 };
  readonly #sections: SectionName[] = [];
  #open: SectionName | undefined;
  #bytes = 0;
  #head = Buffer.alloc(0);
  #tail = Buffer.alloc(0);
  #objects = 0;
  /** Offset at which the next item must begin. */
  #at = 0;
  #malformed: string | undefined;
  #misplaced: string | undefined;
  #disorder: string | undefined;
  #last: { readonly time: number; readonly url: string } | undefined;

  /** @param onObject receives every object, which shares memory with the stream */
  constructor(onObject: (object: StreamObject) => void = () => {}) {
    this.#onObject = onObject;
  }

  /** Checks the next bytes of the stream. */
  bytes(bytes: Uint8Array): void {
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
    const missing = EMPTY_HEAD.length - this.#head.length;
    if (missing > 0) this.#head = Buffer.concat([this.#head, bytes.subarray(0, missing)]);
    this.#tail = Buffer.concat([this.#tail, bytes.subarray(-2)]).subarray(-2);
    this.#parse((decoder) => decoder.push(bytes));
  }

  /** Checks the items that the decoder found. */
  items(items: readonly SectionItem[]): void {
    for (const item of items) {
      if (item.kind === 'object') this.#object(item);
      else if (item.kind === 'section') this.#section(item);
    }
  }

  /** Ends the stream. */
  facts(): StreamFacts {
    this.#parse((decoder) => decoder.end());
    if (this.#at !== this.#bytes) this.#misplace(`${this.#bytes - this.#at} bytes after the last section`);
    if (!this.#tail.equals(SECTION_CLOSE)) this.#misplace(`the stream ends "${printable(this.#tail)}"`);
    if (this.#sections.join() !== ORDER.join()) this.#misplace(`sections: ${this.#sections.join(', ')}`);
    const head = this.#bySection.delete + this.#bySection.refresh === 0 ? EMPTY_HEAD : SECTION_OPEN.delete;
    const begins = this.#head.subarray(0, head.length);
    if (!begins.equals(head)) this.#misplace(`the stream begins "${printable(begins)}"`);
    return {
      bytes: this.#bytes,
      digest: this.#hash.digest('hex'),
      objects: this.#objects,
      bySection: this.#bySection,
      sections: this.#sections,
      malformed: this.#malformed,
      misplaced: this.#misplaced,
      disorder: this.#disorder,
    };
  }

  /** Feeds the strict decoder until its first error. */
  #parse(step: (decoder: SectionDecoder) => unknown): void {
    if (this.#malformed !== undefined) return;
    try {
      step(this.#strict);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.#malformed = error.message;
    }
  }

  #object(item: StreamObject): void {
    this.#objects++;
    this.#bySection[this.#open ?? 'bare']++;
    this.#checkOffset(item.offset, item.bytes.length, 'object');
    this.#follow(item);
    this.#onObject(item);
  }

  #section({ section, open, offset }: Extract<SectionItem, { kind: 'section' }>): void {
    this.#open = open ? section : undefined;
    if (open && this.#sections.length < ORDER.length + 1) this.#sections.push(section);
    this.#checkOffset(
      offset,
      open ? SECTION_OPEN[section].length : SECTION_CLOSE.length,
      `section "${section}"`,
    );
  }

  /** Checks that an item begins where the one before it ended. */
  #checkOffset(offset: number, length: number, what: string): void {
    if (offset !== this.#at) {
      this.#misplace(`the ${what} is at offset ${offset}, the item before it ends at ${this.#at}`);
    }
    this.#at = offset + length;
  }

  #misplace(how: string): void {
    this.#misplaced ??= how;
  }

  /**
   * GATHERD-4.6: ascending Update-Time, then URL. The order restarts in every section; objects without a time may be anywhere.
   */
  #follow({ object, offset }: StreamObject): void {
    const time = object.number('Update-Time');
    if (time === undefined || this.#open === 'delete' || this.#open === 'refresh') return;
    const url = Buffer.from(object.urlBytes).toString('latin1');
    const last = this.#last;
    if (last !== undefined && (time < last.time || (time === last.time && url < last.url))) {
      this.#disorder ??= `${printable(url)} of ${time} follows ${printable(last.url)} of ${last.time} (offset ${offset})`;
    }
    this.#last = { time, url };
  }
}
