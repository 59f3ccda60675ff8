// Checks an update stream while it is read: counts, digest, layout, order.
import { createHash } from 'node:crypto';
import { ProtocolError } from '../../../protocols/errors.js';
import { SectionDecoder, type SectionItem } from '../../../protocols/soif/index.js';
import { checkEqual } from '../case.js';
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
/** Checks that two streams are equal. @throws Mismatch with the message if they differ in a byte */
export function checkSameStream(
  expected: StreamFacts,
  received: StreamFacts,
  message = 'not the stream of the first full transfer',
): void {
  const show = ({ objects, digest }: StreamFacts) => `${objects} objects, SHA-256 ${digest}`;
  checkEqual(show(received), show(expected), message);
}

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

type Section = Extract<SectionItem, { kind: 'section' }>['section'];

const OPEN: Readonly<Record<Section, string>> = {
  delete: '@DELETE {\n',
  refresh: '@REFRESH {\n',
  update: '@UPDATE {\n',
};

/** What a layout requires besides the wrappers. */
interface LayoutRules {
  /**
   * Follows the closing brace and line end of `@DELETE` and `@REFRESH`: an empty line in BT-17, nothing in
   * SOIF-8.8.
   */
  readonly separator: '\n' | '';
  /** Whether an object that is not in the layout of SOIF-2.2 counts as a deviation. */
  readonly checksObjects: boolean;
}
const LF = 0x0a;
/** Bytes of earlier chunks that are kept; the header of a group is far shorter. */
const KEPT = 256;
/** Bytes of a deviation that are shown. */
const SHOWN = 40;

/** Compares the bytes of a stream with a layout of its sections and objects. */
export class GroupLayout {
  /** The first deviation from the layout. */
  misplaced: string | undefined;
  /** The first group header that does not begin a line. */
  withinLine: string | undefined;
  #raw: Uint8Array = Buffer.alloc(0);
  #expected: Uint8Array = Buffer.alloc(0);
  #compared = 0;
  #recent: Uint8Array = Buffer.alloc(0);
  #recentEnd = 0;
  readonly #rules: LayoutRules;

  constructor(rules: LayoutRules) {
    this.#rules = rules;
  }

  /** Adds the next bytes; the items that a decoder found in them follow. */
  bytes(chunk: Uint8Array): void {
    this.#recent = Buffer.concat([this.#recent.subarray(-KEPT), chunk]);
    this.#recentEnd += chunk.length;
    if (this.misplaced !== undefined) return;
    this.#raw = this.#raw.length === 0 ? chunk : Buffer.concat([this.#raw, chunk]);
    this.#compare();
  }

  items(items: readonly SectionItem[]): void {
    for (const item of items) {
      if (item.kind === 'section') {
        if (item.open) this.#begins(item.section, item.offset);
        this.#expect(Buffer.from(item.open ? OPEN[item.section] : this.#closing(item.section)));
      } else if (item.kind === 'object') {
        if (item.exact || !this.#rules.checksObjects) this.#expect(item.bytes);
        else this.#misplace(`an object in another layout at offset ${item.offset}`);
      }
    }
  }

  /** Ends the transfer. */
  end(): void {
    if (this.#raw.length + this.#expected.length > 0) this.#differ(this.#raw, this.#expected);
  }

  #closing(section: Section): string {
    return `}\n${section === 'update' ? '' : this.#rules.separator}`;
  }

  #expect(bytes: Uint8Array): void {
    if (this.misplaced !== undefined) return;
    this.#expected = this.#expected.length === 0 ? bytes : Buffer.concat([this.#expected, bytes]);
    this.#compare();
  }

  /** Compares the bytes that both sides have so far. */
  #compare(): void {
    const length = Math.min(this.#expected.length, this.#raw.length);
    const raw = this.#raw.subarray(0, length);
    const expected = this.#expected.subarray(0, length);
    if (Buffer.compare(raw, expected) !== 0) {
      const at = raw.findIndex((byte, i) => byte !== expected[i]);
      this.#compared += at;
      this.#differ(this.#raw.subarray(at), this.#expected.subarray(at));
      return;
    }
    this.#compared += length;
    this.#raw = this.#raw.subarray(length);
    this.#expected = this.#expected.subarray(length);
  }

  #differ(raw: Uint8Array, expected: Uint8Array): void {
    const text = (bytes: Uint8Array) =>
      bytes.length === 0 ? 'nothing' : `"${printable(bytes.subarray(0, SHOWN))}"`;
    this.#misplace(`${text(raw)} instead of ${text(expected)} at offset ${this.#compared}`);
  }

  #misplace(how: string): void {
    this.misplaced ??= how;
    this.#raw = Buffer.alloc(0);
    this.#expected = Buffer.alloc(0);
  }

  /** BT-17: a deployed client recognizes headers at the start of a line only. */
  #begins(section: Section, offset: number): void {
    const at = offset - (this.#recentEnd - this.#recent.length);
    if (offset > 0 && at > 0 && this.#recent[at - 1] !== LF) {
      this.withinLine ??= `@${section.toUpperCase()} after "${printable(this.#recent.subarray(Math.max(0, at - SHOWN), at))}"`;
    }
  }
}
