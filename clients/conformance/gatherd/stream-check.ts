// Checks an update stream while it is read: counts, digest, layout, order.
import { createHash } from 'node:crypto';
import { ProtocolError } from '../../../protocols/errors.js';
import { SectionDecoder, type SectionItem } from '../../../protocols/soif/index.js';
import { printable } from '../printable.js';
import { GroupLayout } from './group-layout.js';

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
  /**
   * The strict parser's first error: an object that deviates from SOIF-2.2, or anything that is not an object
   * (GATHERD-3.7).
   */
  readonly malformed: string | undefined;
  /** The first deviation from the layout of SOIF-8.8. */
  readonly misplaced: string | undefined;
  /** The first object that is out of order (GATHERD-4.6). */
  readonly disorder: string | undefined;
}

export type SectionName = 'delete' | 'refresh' | 'update';

const ORDER: readonly SectionName[] = ['delete', 'refresh', 'update'];
/**
 * Checks an update stream as it is read. A lenient decoder yields the items, so that one defect does not hide
 * another; the layout shows whether there is anything else in the stream. Memory does not grow with the stream.
 */
export class StreamCheck {
  readonly #hash = createHash('sha256');
  readonly #strict = new SectionDecoder({ mode: 'strict' });
  readonly #onObject: (object: StreamObject) => void;
  readonly #bySection = { delete: 0, refresh: 0, update: 0, bare: 0 };
  readonly #sections: SectionName[] = [];
  #open: SectionName | undefined;
  #bytes = 0;
  #objects = 0;
  readonly #layout = new GroupLayout({ separator: '', checksObjects: false });
  #malformed: string | undefined;
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
    this.#layout.bytes(bytes);
    this.#parse((decoder) => decoder.push(bytes));
  }

  /** Checks the items that the decoder found. */
  items(items: readonly SectionItem[]): void {
    this.#layout.items(items);
    for (const item of items) {
      if (item.kind === 'object') this.#object(item);
      else if (item.kind === 'section') this.#section(item);
    }
  }

  /** Ends the stream. */
  facts(): StreamFacts {
    this.#parse((decoder) => decoder.end());
    this.#layout.end();
    const order = this.#sections.join();
    const others = order === ORDER.join() ? undefined : `sections: ${order}`;
    return {
      bytes: this.#bytes,
      digest: this.#hash.digest('hex'),
      objects: this.#objects,
      bySection: this.#bySection,
      sections: this.#sections,
      malformed: this.#malformed,
      misplaced: this.#layout.misplaced ?? others,
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
    this.#follow(item);
    this.#onObject(item);
  }

  #section({ section, open }: Extract<SectionItem, { kind: 'section' }>): void {
    this.#open = open ? section : undefined;
    if (open && this.#sections.length < ORDER.length + 1) this.#sections.push(section);
  }

  /**
   * GATHERD-4.6: ascending Update-Time, then URL, each object once. The order restarts in every section;
   * objects without a time may be anywhere.
   */
  #follow({ object, offset }: StreamObject): void {
    const time = object.number('Update-Time');
    if (time === undefined || this.#open === 'delete' || this.#open === 'refresh') return;
    const url = Buffer.from(object.urlBytes).toString('latin1');
    const last = this.#last;
    if (last !== undefined && (time < last.time || (time === last.time && url <= last.url))) {
      this.#disorder ??= `${printable(url)} of ${time} follows ${printable(last.url)} of ${last.time} (offset ${offset})`;
    }
    this.#last = { time, url };
  }
}
