// What is kept of an object whose bytes are not held, while it is read and afterwards.
import { BOOKKEEPING_NAMES } from './bookkeeping.js';
import { assemble, type SoifObject } from './object.js';
import { cutText } from './text.js';

/** An attribute of an object whose bytes are not held. */
export interface OutlineAttribute {
  readonly name: string;
  /** Where the value begins and ends, bytes from the object's `@`. */
  readonly start: number;
  readonly end: number;
}

/** What is known of an object whose bytes are not held. */
export interface SoifOutline {
  /** Type, URL, the bookkeeping attributes up to 64 KiB, and the beginning of the description. */
  readonly head: SoifObject;
  /** All attributes in their order. */
  readonly attributes: readonly OutlineAttribute[];
  /** Whether the object has the layout of SOIF-2.2. */
  readonly exact: boolean;
}

/** Bytes of a value that are kept. */
const KEPT_BYTES = 64 * 1024;
const DESCRIPTION = 'description';
const KEPT_NAMES: ReadonlySet<string> = new Set([
  ...BOOKKEEPING_NAMES.map((name) => name.toLowerCase()),
  DESCRIPTION,
]);

/** The attributes of an object that are kept while it is read: the last one of each name. */
export class KeptAttributes {
  readonly #kept = new Map<string, readonly [name: string, value: Uint8Array]>();

  /** Bytes of the value that {@link add} needs; undefined if it needs none. */
  bytesOf(name: string, size: number): number | undefined {
    const key = name.toLowerCase();
    if (!KEPT_NAMES.has(key)) return undefined;
    if (size <= KEPT_BYTES) return size;
    return key === DESCRIPTION ? KEPT_BYTES : undefined;
  }

  /** Keeps a copy of the value, or of its beginning if it has more bytes. */
  add(name: string, beginning: Uint8Array, size: number): void {
    const value = beginning.length < size ? cutText(beginning, KEPT_BYTES - 1) : beginning;
    this.#kept.set(name.toLowerCase(), [name, new Uint8Array(value)]);
  }

  head(type: string, url: Uint8Array): SoifObject {
    return assemble(type, url, [...this.#kept.values()]);
  }
}
