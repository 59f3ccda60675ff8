// Compares a transfer byte by byte with the recommended layout of groups (BT-17).
import type { SectionItem } from '../../../protocols/soif/index.js';
import { printable } from '../printable.js';

type Section = Extract<SectionItem, { kind: 'section' }>['section'];

/** The layout of BT-17. */
const OPEN: Readonly<Record<Section, string>> = {
  delete: '@DELETE {\n',
  refresh: '@REFRESH {\n',
  update: '@UPDATE {\n',
};
const CLOSE: Readonly<Record<Section, string>> = { delete: '}\n\n', refresh: '}\n\n', update: '}\n' };
const LF = 0x0a;
/** Bytes of earlier chunks that are kept; the header of a group is far shorter. */
const KEPT = 256;
/** Bytes of a deviation that are shown. */
const SHOWN = 40;

/** Compares the bytes of a transfer with the layout that BT-17 recommends for its groups and objects. */
export class GroupLayout {
  /** The first deviation from BT-17. */
  misplaced: string | undefined;
  /** The first group header that does not begin a line. */
  withinLine: string | undefined;
  #raw: Uint8Array = Buffer.alloc(0);
  #expected: Uint8Array = Buffer.alloc(0);
  #compared = 0;
  #recent: Uint8Array = Buffer.alloc(0);
  #recentEnd = 0;

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
        this.#expect(Buffer.from((item.open ? OPEN : CLOSE)[item.section]));
      } else if (item.kind === 'object') {
        if (item.exact) this.#expect(item.bytes);
        else this.#misplace(`an object in another layout at offset ${item.offset}`);
      }
    }
  }

  /** Ends the transfer. */
  end(): void {
    if (this.#raw.length + this.#expected.length > 0) this.#differ(this.#raw, this.#expected);
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
