import type { SourceDocument } from '../../document.js';
import type { Summary } from '../../summary.js';
import { guarded, present, summarizeExtracted } from '../extracted.js';
import { CompoundFile } from './compound-file.js';
import { propertiesOf } from './properties.js';

/** Records of a workbook (BIFF8 and BIFF5) that contain text. */
const BOUNDSHEET = 0x85;
const SHARED_STRINGS = 0xfc;
const CONTINUE = 0x3c;
const LABEL = 0x204;
const RICH_LABEL = 0xd6;
const FORMULA_STRING = 0x207;
const START = 0x809;

/** Excel: title, names of the sheets, and the strings of the cells as Text (6.2). Numbers are left out. */
export function summarizeExcel(document: SourceDocument): Summary {
  const sheets: string[] = [];
  const strings: string[] = [];
  const attributes: (readonly [string, string])[] = [];
  guarded(document, 'Excel', undefined, () => {
    const file = new CompoundFile(document.body);
    const book = file.stream('Workbook', 'Book');
    if (book !== undefined) readRecords(book, sheets, strings, document.settings.maxObjectBytes);
    attributes.push(...propertiesOf(file));
  });
  return summarizeExtracted({
    attributes: [...attributes, ...present([['Headings', sheets.join('\n')]])],
    text: strings.join('\n'),
  });
}

function readRecords(book: Uint8Array, sheets: string[], strings: string[], limit: number): void {
  const view = new DataView(book.buffer, book.byteOffset, book.byteLength);
  let wide = true;
  let length = 0;
  for (let at = 0; at + 4 <= book.length && length < limit; ) {
    const type = view.getUint16(at, true);
    const size = view.getUint16(at + 2, true);
    const record = book.subarray(at + 4, at + 4 + size);
    at += 4 + size;
    if (type === START && record.length >= 2) wide = record[1] === 6;
    else if (type === BOUNDSHEET) sheets.push(wide ? shortString(record, 6) : latin(record.subarray(7)));
    else if (type === SHARED_STRINGS) {
      const parts = [record];
      while (at + 4 <= book.length && view.getUint16(at, true) === CONTINUE) {
        const more = view.getUint16(at + 2, true);
        parts.push(book.subarray(at + 4, at + 4 + more));
        at += 4 + more;
      }
      for (const text of new SharedStrings(parts)) {
        strings.push(text);
        length += text.length;
        if (length >= limit) return;
      }
    } else if (type === LABEL || type === RICH_LABEL) {
      strings.push(wide && type === LABEL ? longString(record, 6) : latin(record.subarray(8)));
      length += size;
    } else if (type === FORMULA_STRING) {
      strings.push(wide ? longString(record, 0) : latin(record.subarray(2)));
      length += size;
    }
  }
}

function latin(bytes: Uint8Array): string {
  return new TextDecoder('windows-1252').decode(bytes);
}

/** Decodes a string: one byte of length, one byte for the width of the characters. */
function shortString(record: Uint8Array, at: number): string {
  return characters(record, at + 2, record[at] ?? 0, (record[at + 1] ?? 0) & 1);
}

function longString(record: Uint8Array, at: number): string {
  return characters(
    record,
    at + 3,
    (record[at] ?? 0) + 256 * (record[at + 1] ?? 0),
    (record[at + 2] ?? 0) & 1,
  );
}

function characters(bytes: Uint8Array, at: number, count: number, wide: number): string {
  if (wide === 1) return new TextDecoder('utf-16le').decode(bytes.subarray(at, at + 2 * count));
  return Buffer.from(bytes.subarray(at, at + count)).toString('latin1');
}

/** The table of shared strings. A string may continue in the next record, which states the width of its characters again. */
class SharedStrings implements Iterable<string> {
  readonly #parts: readonly Uint8Array[];
  #part = 0;
  #at = 8;

  constructor(parts: readonly Uint8Array[]) {
    this.#parts = parts;
  }

  *[Symbol.iterator](): Generator<string> {
    while (this.#more()) {
      const count = this.#byte() + 256 * this.#byte();
      const flags = this.#byte();
      const runs = flags & 8 ? this.#byte() + 256 * this.#byte() : 0;
      const extra =
        flags & 4 ? this.#byte() + 256 * this.#byte() + 65536 * this.#byte() + 16777216 * this.#byte() : 0;
      yield this.#text(count, flags & 1);
      this.#skip(4 * runs + extra);
    }
  }

  #more(): boolean {
    while (this.#part < this.#parts.length && this.#at >= this.#parts[this.#part]!.length) {
      this.#part++;
      this.#at = 0;
    }
    return this.#part < this.#parts.length;
  }

  #byte(): number {
    return this.#more() ? this.#parts[this.#part]![this.#at++]! : 0;
  }

  #text(count: number, wide: number): string {
    let text = '';
    let width = wide;
    for (let left = count; left > 0 && this.#part < this.#parts.length; ) {
      const part = this.#parts[this.#part]!;
      const here = Math.min(left, Math.floor((part.length - this.#at) / (width + 1)));
      text += characters(part, this.#at, here, width);
      this.#at += here * (width + 1);
      left -= here;
      if (left === 0) break;
      this.#at = part.length;
      if (!this.#more()) break;
      width = this.#byte() & 1;
    }
    return text;
  }

  #skip(bytes: number): void {
    for (let left = bytes; left > 0 && this.#more(); ) {
      const here = Math.min(left, this.#parts[this.#part]!.length - this.#at);
      this.#at += here;
      left -= here;
    }
  }
}
