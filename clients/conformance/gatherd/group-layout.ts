// Compares a stream byte by byte with the layout of its sections: of gatherd (SOIF-8.8), or of bulk transfers
// (BT-17).
import type { SectionItem } from '../../../protocols/soif/index.js';
import { printable } from '../printable.js';

type Section = Extract<SectionItem, { kind: 'section' }>['section'];

const OPEN: Readonly<Record<Section, string>> = {
  delete: '@DELETE {\n',
  refresh: '@REFRESH {\n',
  update: '@UPDATE {\n',
};

/** What a layout requires besides the wrappers. */
export interface LayoutRules {
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
