import { bufferOf, latin } from '../../bytes.js';
import { CELLS, PsArray, PsDict, PsError, PsName, type PsObject, PsString } from './objects.js';

/** Maximum depth of nested procedures. */
const MAX_DEPTH = 200;

/** Maximum size of a string or name, in bytes. */
const MAX_STRING_BYTES = 1 << 20;

/** Classes of bytes: 1 white space, 2 delimiter. */
const CLASS = new Uint8Array(256);
for (const code of [0, 9, 10, 12, 13, 32]) CLASS[code] = 1;
for (const c of '()<>[]{}/%') CLASS[c.charCodeAt(0)] = 2;

/** Reads PostScript tokens from bytes; a procedure is one object. */
export class PsScanner {
  /** Position in the program, in bytes. */
  offset = 0;
  readonly #bytes: Uint8Array;
  readonly #comment: (text: string) => void;
  readonly #charge: (cells: number) => void;

  /**
   * @param calls - `comment` receives each comment, `charge` the memory of the objects in procedures, in cells
   *   of 8 bytes.
   */
  constructor(
    bytes: Uint8Array,
    calls: { comment?: (text: string) => void; charge?: (cells: number) => void } = {},
  ) {
    this.#bytes = bytes;
    this.#comment = calls.comment ?? (() => undefined);
    this.#charge = calls.charge ?? (() => undefined);
  }

  get done(): boolean {
    return this.offset >= this.#bytes.length;
  }

  /** Returns the next object; undefined at the end. @throws PsError for a string or procedure without an end */
  next(depth = 0): PsObject | undefined {
    const bytes = this.#bytes;
    for (;;) {
      while (this.offset < bytes.length && CLASS[bytes[this.offset]!] === 1) this.offset++;
      if (this.offset >= bytes.length) return undefined;
      const code = bytes[this.offset]!;
      if (code !== 0x25) break;
      this.#skipComment();
    }
    const start = this.offset++;
    switch (bytes[start]) {
      case 0x28:
        return this.#string();
      case 0x3c:
        if (bytes[this.offset] === 0x3c) {
          this.offset++;
          return new PsName('<<', true);
        }
        return bytes[this.offset] === 0x7e ? this.#base85() : this.#hexadecimal();
      case 0x3e:
        if (bytes[this.offset] === 0x3e) this.offset++;
        return new PsName('>>', true);
      case 0x7b:
        return this.#procedure(depth);
      case 0x7d:
        return new PsName('}', true);
      case 0x5b:
        return new PsName('[', true);
      case 0x5d:
        return new PsName(']', true);
      case 0x29:
        return new PsName(')', true);
      case 0x2f: {
        const immediate = bytes[this.offset] === 0x2f;
        if (immediate) this.offset++;
        return new PsName(this.#word(this.offset), immediate);
      }
      default:
        return nameOrNumber(this.#word(start));
    }
  }

  /** Consumes up to `count` bytes of inline data (`readstring`). */
  readBytes(count: number): Uint8Array {
    const data = this.#bytes.subarray(this.offset, this.offset + count);
    this.offset += data.length;
    return data;
  }

  /** Skips the white space between a token and data. */
  skipSeparator(): void {
    if (this.#bytes[this.offset] === 13 && this.#bytes[this.offset + 1] === 10) this.offset += 2;
    else if (CLASS[this.#bytes[this.offset] ?? 0] === 1) this.offset++;
  }

  /** Consumes the bytes up to the next line end. */
  readLine(): Uint8Array {
    const start = this.offset;
    while (
      this.offset < this.#bytes.length &&
      this.#bytes[this.offset] !== 10 &&
      this.#bytes[this.offset] !== 13
    )
      this.offset++;
    const line = this.#bytes.subarray(start, this.offset);
    this.skipSeparator();
    return line;
  }

  /** Skips to the next occurrence of `text`, or after it, or to the end. */
  skipTo(text: string, after: boolean): void {
    const found = bufferOf(this.#bytes).indexOf(text, this.offset, 'latin1');
    this.offset = found < 0 ? this.#bytes.length : found + (after ? text.length : 0);
  }

  #skipComment(): void {
    const line = Buffer.from(this.readLine().subarray(0, 300)).toString('latin1');
    const data = /^%%Begin(?:Binary|Data):\s*(\d+)(?:\s+\S+\s+(\w+))?/.exec(line);
    if (data !== null && data[2] !== 'Lines') this.offset += Number(data[1]);
    else this.#comment(line);
  }

  #word(start: number): string {
    while (this.offset < this.#bytes.length && CLASS[this.#bytes[this.offset]!] === 0) this.offset++;
    return Buffer.from(
      this.#bytes.buffer,
      this.#bytes.byteOffset + start,
      Math.min(this.offset - start, MAX_STRING_BYTES),
    ).toString('latin1');
  }

  #procedure(depth: number): PsArray {
    if (depth >= MAX_DEPTH) throw new PsError('procedures nested too deeply');
    const items: PsObject[] = [];
    for (;;) {
      const object = this.next(depth + 1);
      if (object === undefined) throw new PsError('a procedure has no end');
      if (object instanceof PsName && object.executable && object.text === '}')
        return new PsArray(items, true);
      this.#charge(cellsOf(object));
      items.push(object);
    }
  }

  #string(): PsString {
    const out: number[] = [];
    let depth = 1;
    while (this.offset < this.#bytes.length) {
      let code = this.#bytes[this.offset++]!;
      if (code === 0x28) depth++;
      else if (code === 0x29 && --depth === 0) return new PsString(Uint8Array.from(out));
      else if (code === 0x5c) {
        const escaped = this.#escape();
        if (escaped === undefined) continue;
        code = escaped;
      }
      if (out.length < MAX_STRING_BYTES) out.push(code);
    }
    throw new PsError('a string has no end');
  }

  #escape(): number | undefined {
    const code = this.#bytes[this.offset++] ?? 0;
    if (code >= 0x30 && code <= 0x37) {
      let value = code - 0x30;
      for (let i = 0; i < 2 && (this.#bytes[this.offset]! & 0xf8) === 0x30; i++) {
        value = value * 8 + this.#bytes[this.offset++]! - 0x30;
      }
      return value & 0xff;
    }
    if (code === 10) return undefined;
    if (code === 13) {
      if (this.#bytes[this.offset] === 10) this.offset++;
      return undefined;
    }
    const index = 'nrtbf'.indexOf(String.fromCharCode(code));
    return index < 0 ? code : [10, 13, 9, 8, 12][index]!;
  }

  #hexadecimal(): PsString {
    const start = this.offset;
    this.skipTo('>', true);
    const digits = latin(this.#bytes, start, Math.min(this.offset, start + 2 * MAX_STRING_BYTES)).replace(
      /[^0-9A-Fa-f]/g,
      '',
    );
    return new PsString(new Uint8Array(Buffer.from(digits.length % 2 === 0 ? digits : `${digits}0`, 'hex')));
  }

  /** Skips a base-85 string, which contains an image or a font, not text. */
  #base85(): PsString {
    this.skipTo('~>', true);
    return new PsString(new Uint8Array());
  }
}

function cellsOf(object: PsObject): number {
  if (object instanceof PsString) return CELLS.string;
  return object instanceof PsArray ? CELLS.array : typeof object === 'number' ? 2 : CELLS.name;
}

function nameOrNumber(word: string): PsObject {
  const first = word.charCodeAt(0);
  if ((first >= 0x30 && first <= 0x39) || first === 0x2d || first === 0x2b || first === 0x2e) {
    // One way to read each digit: two adjacent \d would take quadratic time for a long word that is no number.
    if (/^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/.test(word)) return Number(word);
    const radix = /^(\d\d?)#([0-9A-Za-z]+)$/.exec(word);
    if (radix !== null && Number(radix[1]) >= 2 && Number(radix[1]) <= 36) {
      const value = Number.parseInt(radix[2]!, Number(radix[1]));
      if (Number.isFinite(value)) return value;
    }
  }
  return new PsName(word, true);
}

/** Makes a dictionary of the objects since `<<`. */
export function dictionaryOf(objects: readonly PsObject[], key: (object: PsObject) => string): PsDict {
  const dict = new PsDict();
  for (let i = 0; i + 1 < objects.length; i += 2) dict.entries.set(key(objects[i]!), objects[i + 1]!);
  return dict;
}
