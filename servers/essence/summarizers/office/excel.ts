import { latin, viewOf } from '../../bytes.js';
import { decodeAs } from '../../charset/decoders.js';
import type { SourceDocument, Summary } from '../../document.js';
import { guarded, present, summarizeExtracted } from '../extracted.js';
import { CompoundFile, propertiesOf } from './compound-file.js';

/** Records of a workbook (BIFF8 and BIFF5) that contain text. */
const BOUNDSHEET = 0x85;
const SHARED_STRINGS = 0xfc;
const CONTINUE = 0x3c;
const LABEL = 0x204;
const RICH_LABEL = 0xd6;
const FORMULA_STRING = 0x207;
const START = 0x809;
/** Records between two looks at the time. */
const RECORDS_PER_LOOK = 256;

/** Excel: title, names of the sheets, and the strings of the cells as Text (6.2). Numbers are omitted. */
export function summarizeExcel(document: SourceDocument): Summary {
  const sheets: string[] = [];
  const strings: string[] = [];
  const attributes: (readonly [string, string])[] = [];
  guarded(document, 'Excel', undefined, () => {
    const file = new CompoundFile(document.body);
    attributes.push(...propertiesOf(file));
    document.keep({ attributes });
    const book = file.stream('Workbook', 'Book');
    if (book !== undefined) readRecords(book, sheets, strings, document);
  });
  return summarizeExtracted({
    attributes: [...attributes, ...present([['Headings', sheets]])],
    text: strings.join('\n'),
  });
}

function readRecords(
  book: Uint8Array,
  sheets: string[],
  strings: string[],
  { settings: { maxObjectBytes: limit }, isOutOfTime }: SourceDocument,
): void {
  const view = viewOf(book);
  let wide = true;
  let length = 0;
  let records = 0;
  for (let offset = 0; offset + 4 <= book.length && length < limit; ) {
    if (++records % RECORDS_PER_LOOK === 0 && isOutOfTime()) return;
    const type = view.getUint16(offset, true);
    const size = view.getUint16(offset + 2, true);
    const record = book.subarray(offset + 4, offset + 4 + size);
    offset += 4 + size;
    if (type === START && record.length >= 2) wide = record[1] === 6;
    else if (type === BOUNDSHEET) sheets.push(wide ? shortString(record, 6) : western(record.subarray(7)));
    else if (type === SHARED_STRINGS) {
      const parts = [record];
      while (offset + 4 <= book.length && view.getUint16(offset, true) === CONTINUE) {
        const more = view.getUint16(offset + 2, true);
        parts.push(book.subarray(offset + 4, offset + 4 + more));
        offset += 4 + more;
      }
      for (const text of new SharedStrings(parts)) {
        strings.push(text);
        length += text.length;
        if (length >= limit) return;
      }
    } else if (type === LABEL || type === RICH_LABEL) {
      strings.push(wide && type === LABEL ? longString(record, 6) : western(record.subarray(8)));
      length += size;
    } else if (type === FORMULA_STRING) {
      strings.push(wide ? longString(record, 0) : western(record.subarray(2)));
      length += size;
    }
  }
}

function western(bytes: Uint8Array): string {
  return decodeAs(bytes, 'windows-1252');
}

/** Decodes a string: one byte of length, one byte for the width of the characters. */
function shortString(record: Uint8Array, offset: number): string {
  return characters(record, offset + 2, record[offset] ?? 0, (record[offset + 1] ?? 0) & 1);
}

function longString(record: Uint8Array, offset: number): string {
  return characters(
    record,
    offset + 3,
    (record[offset] ?? 0) + 256 * (record[offset + 1] ?? 0),
    (record[offset + 2] ?? 0) & 1,
  );
}

function characters(bytes: Uint8Array, offset: number, count: number, wide: number): string {
  if (wide === 1) return new TextDecoder('utf-16le').decode(bytes.subarray(offset, offset + 2 * count));
  return latin(bytes, offset, offset + count);
}

/**
 * The table of shared strings. A string may continue in the next record, which states the width of its
 * characters again.
 */
class SharedStrings implements Iterable<string> {
  readonly #parts: readonly Uint8Array[];
  #part = 0;
  #offset = 8;

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
    while (this.#part < this.#parts.length && this.#offset >= this.#parts[this.#part]!.length) {
      this.#part++;
      this.#offset = 0;
    }
    return this.#part < this.#parts.length;
  }

  #byte(): number {
    return this.#more() ? this.#parts[this.#part]![this.#offset++]! : 0;
  }

  #text(count: number, wide: number): string {
    let text = '';
    let width = wide;
    for (let remaining = count; remaining > 0 && this.#part < this.#parts.length; ) {
      const part = this.#parts[this.#part]!;
      const available = Math.min(remaining, Math.floor((part.length - this.#offset) / (width + 1)));
      text += characters(part, this.#offset, available, width);
      this.#offset += available * (width + 1);
      remaining -= available;
      if (remaining === 0) break;
      this.#offset = part.length;
      if (!this.#more()) break;
      width = this.#byte() & 1;
    }
    return text;
  }

  #skip(bytes: number): void {
    for (let remaining = bytes; remaining > 0 && this.#more(); ) {
      const available = Math.min(remaining, this.#parts[this.#part]!.length - this.#offset);
      this.#offset += available;
      remaining -= available;
    }
  }
}
