// Attribute names: interned for the decoders, checked for the encoders.
import { decodeText, encodeText } from './text.js';

/** Names by number. All objects of one decoder share a list; it only grows. */
export class NameList {
  /** As spelled in the input. */
  readonly names: string[] = [];
  /** The same in lower case, for comparing (SOIF-2.11). */
  readonly folded: string[] = [];

  add(name: string): number {
    this.folded.push(internString(name.toLowerCase()));
    return this.names.push(internString(name)) - 1;
  }
}

/**
 * Returns the engine's interned copy of a string, as it keeps for property names. Comparing it with a literal
 * is then a comparison of two addresses, which saves a call for each attribute that `indexOf` compares.
 */
function internString(text: string): string {
  return Object.keys({ [text]: true })[0] ?? text;
}

const INITIAL_NAMES = 256;
const INITIAL_BYTES = 8192;

/**
 * Maps the bytes of a name to a small number; makes a string only the first time.
 *
 *     slots   open addressing, hash -> id + 1 (0 = free)
 *     starts  id -> start of its bytes in `store`; starts[id + 1] is their end
 *     next    id -> the id that followed it the last time: records of one stream repeat their order,
 *             so one comparison of bytes usually replaces hashing
 */
export class NameTable {
  readonly list = new NameList();
  store: Uint8Array = new Uint8Array(INITIAL_BYTES);
  /** The same memory as `store`. */
  stored: DataView = new DataView(this.store.buffer);
  starts: Int32Array = new Int32Array(INITIAL_NAMES + 1);
  next: Int32Array = new Int32Array(INITIAL_NAMES).fill(-1);
  #slots: Int32Array = new Int32Array(INITIAL_NAMES * 2);
  #hashes: Int32Array = new Int32Array(INITIAL_NAMES);

  get size(): number {
    return this.list.names.length;
  }

  /** Bytes held for all names together. */
  get bytes(): number {
    return this.starts[this.size]!;
  }

  /** The id of the name `data[start..end)`. */
  intern(data: Uint8Array, start: number, end: number): number {
    let hash = end - start;
    for (let i = start; i < end; i++) hash = (Math.imul(hash, 31) + data[i]!) | 0;
    const mask = this.#slots.length - 1;
    let slot = (hash ^ (hash >>> 15)) & mask;
    for (;;) {
      const id = this.#slots[slot]! - 1;
      if (id < 0) return this.#insert(data, start, end, hash, slot);
      if (this.#hashes[id] === hash && this.#equals(id, data, start, end)) return id;
      slot = (slot + 1) & mask;
    }
  }

  #equals(id: number, data: Uint8Array, start: number, end: number): boolean {
    const from = this.starts[id]!;
    if (this.starts[id + 1]! - from !== end - start) return false;
    for (let i = start; i < end; i++) if (data[i] !== this.store[from + i - start]) return false;
    return true;
  }

  #insert(data: Uint8Array, start: number, end: number, hash: number, slot: number): number {
    const name = data.subarray(start, end);
    const id = this.list.add(decodeText(name));
    const from = this.starts[id]!;
    if (from + name.length > this.store.length) {
      this.store = copyInto(this.store, new Uint8Array(2 * (from + name.length)));
      this.stored = new DataView(this.store.buffer);
    }
    this.store.set(name, from);
    this.starts[id + 1] = from + name.length;
    this.#hashes[id] = hash;
    this.#slots[slot] = id + 1;
    if (id + 1 === this.#hashes.length) this.#grow();
    return id;
  }

  #grow(): void {
    const capacity = this.#hashes.length * 2;
    this.#hashes = copyInto(this.#hashes, new Int32Array(capacity));
    this.starts = copyInto(this.starts, new Int32Array(capacity + 1));
    this.next = copyInto(this.next, new Int32Array(capacity).fill(-1));
    this.#slots = new Int32Array(capacity * 2);
    const mask = this.#slots.length - 1;
    for (let id = 0; id < this.size; id++) {
      const hash = this.#hashes[id]!;
      let slot = (hash ^ (hash >>> 15)) & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = id + 1;
    }
  }
}

function copyInto<A extends Uint8Array | Int32Array>(from: A, into: A): A {
  into.set(from);
  return into;
}

/** SOIF-2.8: the names that an emitter may write. */
const EMITTED_NAME = /^[A-Za-z0-9._<>-]+$/;
/** SOIF-2.8: the template types that an emitter may write. */
const EMITTED_TYPE = /^[A-Za-z0-9-]+$/;

/** Whether an emitter may write an attribute of this name (SOIF-2.8). */
export function isAttributeName(name: string): boolean {
  return EMITTED_NAME.test(name);
}

/** Whether an emitter may write an object of this type (SOIF-2.8). */
export function isTemplateType(type: string): boolean {
  return EMITTED_TYPE.test(type);
}

/**
 * Makes a name legal: every character that SOIF-2.8 forbids becomes `-` (E-105); the empty name becomes `-`.
 */
export function cleanName(name: string): string {
  return name === '' ? '-' : name.replace(/[^A-Za-z0-9._<>-]/g, '-');
}

/**
 * Makes a name legal so that two different names stay different: every byte that SOIF-2.8 forbids becomes `_`
 * and two hex digits.
 */
export function escapeName(name: string): string {
  return name.replace(/[^A-Za-z0-9._<>-]/gu, (character) =>
    Array.from(encodeText(character), (byte) => `_${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(
      '',
    ),
  );
}

/** SOIF-8.9: the template types that may be the opening of a section instead. */
export const SECTION_WORD = /^(?:DELETE|REFRESH|UPDATE)$/i;
