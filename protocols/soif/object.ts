// An immutable SOIF object over memory that many objects share.
import { parseUnsigned, unwritable } from './bytes.js';
import { isAttributeName, isTemplateType, NameList } from './names.js';
import { decodeText, encodeText } from './text.js';
import { bytesOfUrl, urlOfBytes } from './url-bytes.js';

/** One attribute: its name as spelled in the object, its value as bytes (SOIF-1.2). */
export interface SoifAttribute {
  readonly name: string;
  readonly value: Uint8Array;
}

/** A value to write: text is encoded as UTF-8 (SOIF-7.4), bytes are written unchanged. */
export type SoifValue = string | Uint8Array;

/** Template type of an object without one (SOIF-3.6). */
export const DEFAULT_TYPE = 'FILE';

/**
 * Positions of an object's parts in its memory. Many objects share one `slots`, `data` and `names`:
 *
 *     slots[first]      id of the template type in `names`
 *     slots[first + 1]  start of the URL in `data`
 *     slots[first + 2]  end of the URL
 *     slots[first + 3 * i + 3 .. + 5]  id of the name, start and end of the value of attribute i
 */
export interface SoifLayout {
  readonly data: Uint8Array;
  readonly slots: Int32Array;
  readonly first: number;
  readonly count: number;
  readonly names: NameList;
}

/**
 * An immutable SOIF object (SOIF-1.1): a template type, a URL and attributes in the order of the input.
 * Everything is decoded on demand. Values are views into the memory of the chunk: copy the bytes of an object
 * that you keep for long.
 */
export class SoifObject implements Iterable<SoifAttribute> {
  readonly #data: Uint8Array;
  readonly #slots: Int32Array;
  readonly #first: number;
  readonly #names: NameList;
  #urlText: string | undefined = undefined;
  /** Number of attributes, duplicates counted. */
  readonly size: number;

  /** Used by the decoders of this folder; other callers use {@link SoifObject.of}. */
  constructor(layout: SoifLayout) {
    this.#data = layout.data;
    this.#slots = layout.slots;
    this.#first = layout.first;
    this.size = layout.count;
    this.#names = layout.names;
  }

  /**
   * Makes an object. Values are copied. A name may occur twice; the last one counts (SOIF-5.2).
   * @param url one character a byte; `urlOfText` makes it from text
   * @throws ProtocolError for a type or name that an emitter must not write (SOIF-2.8), or a URL that is text
   * or has white space (SOIF-2.9).
   */
  static of(
    type: string,
    url: string,
    attributes: Iterable<readonly [name: string, value: SoifValue]>,
  ): SoifObject {
    if (!isTemplateType(type))
      throw unwritable('SOIF-2.8', `not a SOIF template type: ${JSON.stringify(type)}`);
    const urlBytes = writableUrl(url);
    const pairs: [string, Uint8Array][] = [];
    for (const [name, value] of attributes) {
      assertAttributeName(name);
      pairs.push([name, encodeText(value)]);
    }
    return assemble(type, urlBytes, pairs);
  }

  /** Template type as spelled, e.g. `FILE`. */
  get type(): string {
    return this.#names.names[this.#slots[this.#first]!]!;
  }

  /**
   * The URL, one character a byte, so that it is a key (see url-bytes.ts; `textOfUrl` makes it readable). `-`
   * when the object is about no network resource (SOIF-2.10).
   */
  get url(): string {
    this.#urlText ??= urlOfBytes(this.urlBytes);
    return this.#urlText;
  }

  /** The bytes of the URL. */
  get urlBytes(): Uint8Array {
    const start = this.#slots[this.#first + 1]!;
    return new Uint8Array(
      this.#data.buffer,
      this.#data.byteOffset + start,
      this.#slots[this.#first + 2]! - start,
    );
  }

  /** The memory that {@link valueStartAt} and {@link valueEndAt} point into; do not change it. */
  get memory(): Uint8Array {
    return this.#data;
  }

  nameAt(i: number): string {
    return this.#names.names[this.#slots[this.#slotOf(i)]!]!;
  }

  /** The value of attribute `i`: a view, no copy. */
  valueAt(i: number): Uint8Array {
    const slot = this.#slotOf(i);
    const start = this.#slots[slot + 1]!;
    return new Uint8Array(this.#data.buffer, this.#data.byteOffset + start, this.#slots[slot + 2]! - start);
  }

  /** Bytes in the value of attribute `i`. */
  valueLengthAt(i: number): number {
    const slot = this.#slotOf(i);
    return this.#slots[slot + 2]! - this.#slots[slot + 1]!;
  }

  /** Index in {@link memory} of the first byte of value `i`. */
  valueStartAt(i: number): number {
    return this.#slots[this.#slotOf(i) + 1]!;
  }

  /** Index in {@link memory} after the last byte of value `i`. */
  valueEndAt(i: number): number {
    return this.#slots[this.#slotOf(i) + 2]!;
  }

  #slotOf(i: number): number {
    if (i < 0 || i >= this.size) throw new RangeError(`attribute ${i} of an object with ${this.size}`);
    return this.#first + 3 * i + 3;
  }

  get attributes(): readonly SoifAttribute[] {
    return [...this];
  }

  *[Symbol.iterator](): Iterator<SoifAttribute> {
    for (let i = 0; i < this.size; i++) yield { name: this.nameAt(i), value: this.valueAt(i) };
  }

  /** Index of the last attribute of that name, compared without case; -1 when absent (SOIF-5.2, 2.11). */
  indexOf(name: string): number {
    const target = name.toLowerCase();
    const { folded } = this.#names;
    for (let i = this.size - 1; i >= 0; i--) {
      if (folded[this.#slots[this.#first + 3 * i + 3]!] === target) return i;
    }
    return -1;
  }

  /** The bytes of the last attribute of that name (SOIF-5.2). */
  get(name: string): Uint8Array | undefined {
    const i = this.indexOf(name);
    return i < 0 ? undefined : this.valueAt(i);
  }

  has(name: string): boolean {
    return this.indexOf(name) >= 0;
  }

  /** The value as text: UTF-8, else windows-1252 (SOIF-7.4). Trailing newlines are part of it (SOIF-2.4). */
  text(name: string): string | undefined {
    const i = this.indexOf(name);
    return i < 0 ? undefined : decodeText(this.valueAt(i));
  }

  /**
   * The value as an unsigned decimal number (SOIF-6.1), white space around it allowed; `undefined` if it is not
   * one.
   */
  number(name: string): number | undefined {
    const i = this.indexOf(name);
    if (i < 0) return undefined;
    return parseUnsigned(this.#data, this.valueStartAt(i), this.valueEndAt(i));
  }

  /**
   * Returns a copy with another URL, or the object itself if it has that one. @throws ProtocolError for the URL
   * as {@link SoifObject.of}
   */
  withUrl(url: string): SoifObject {
    if (url === this.url) return this;
    return assemble(
      this.type,
      writableUrl(url),
      Array.from(this, ({ name, value }) => [name, value]),
    );
  }

  /**
   * Returns a copy with changes: a value replaces all attributes of that name at the position of the first
   * (SOIF-5.4), or is added at the end; `undefined` removes.
   * @throws ProtocolError for a new name that an emitter must not write (SOIF-2.8).
   */
  with(changes: Iterable<readonly [name: string, value: SoifValue | undefined]>): SoifObject {
    const pairs = Array.from(this, ({ name, value }): [string, Uint8Array] => [name, value]);
    const encoded = Array.from(
      changes,
      ([name, value]) => [name, value === undefined ? undefined : encodeText(value)] as const,
    );
    return assemble(this.type, this.urlBytes, withChanges(pairs, encoded, assertAttributeName));
  }
}

/**
 * Applies changes to attributes: see {@link SoifObject.with}. @param onNew is called with each name that is
 * added
 */
export function withChanges<Value>(
  pairs: Iterable<readonly [name: string, value: Value]>,
  changes: Iterable<readonly [name: string, value: Value | undefined]>,
  onNew: (name: string) => void = () => {},
): (readonly [name: string, value: Value])[] {
  const result = new Map<string, (readonly [name: string, value: Value])[]>();
  for (const pair of pairs) {
    const same = result.get(pair[0].toLowerCase());
    if (same === undefined) result.set(pair[0].toLowerCase(), [pair]);
    else same.push(pair);
  }
  for (const [name, value] of changes) {
    const folded = name.toLowerCase();
    if (value === undefined) result.delete(folded);
    else {
      if (!result.has(folded)) onNew(name);
      result.set(folded, [[name, value]]);
    }
  }
  return [...result.values()].flat();
}

function assertAttributeName(name: string): void {
  if (!isAttributeName(name)) {
    throw unwritable('SOIF-2.8', `not a SOIF attribute name: ${JSON.stringify(name)}`);
  }
}

/** @throws ProtocolError for a URL that an emitter must not write (SOIF-2.9) */
function writableUrl(url: string): Uint8Array {
  if (/[\t-\r ]/.test(url)) throw unwritable('SOIF-2.9', `white space in a SOIF URL: ${JSON.stringify(url)}`);
  return bytesOfUrl(url);
}

/** Makes an object in its own memory, without checking its names. */
export function assemble(
  type: string,
  url: Uint8Array,
  attributes: readonly (readonly [name: string, value: Uint8Array])[],
): SoifObject {
  let length = url.length;
  for (const [, value] of attributes) length += value.length;
  const data = new Uint8Array(length);
  const slots = new Int32Array(3 + 3 * attributes.length);
  const names = new NameList();
  slots[0] = names.add(type);
  data.set(url, 0);
  slots[2] = url.length;
  let offset = url.length;
  attributes.forEach(([name, value], i) => {
    data.set(value, offset);
    slots[3 * i + 3] = names.add(name);
    slots[3 * i + 4] = offset;
    offset += value.length;
    slots[3 * i + 5] = offset;
  });
  return new SoifObject({ data, slots, first: 0, count: attributes.length, names });
}
