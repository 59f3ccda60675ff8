// The fast path for the IDs of a reply.
import { asciiBytes, CR, LF, NINE, ZERO } from '../ascii.js';
import { HEADERS, MAX_U32 } from './registry.js';

const PREFIX = asciiBytes(`${HEADERS.uriId.name}: `);
const MIN_CAPACITY = 64;
/** Capacity that is kept between two messages, so that usual replies need no growing. */
const MAX_KEPT_CAPACITY = 16_384;

/** The lines of IDs of one reply, read as numbers without intermediate strings. */
export class IdRun {
  #ids: Uint32Array = new Uint32Array(MIN_CAPACITY);
  #length = 0;
  #headersBefore = 0;

  get length(): number {
    return this.#length;
  }

  /**
   * Whether a line after `headers` other headers continues the run: the run has not begun, or no other header
   * followed it.
   */
  continuesAt(headers: number): boolean {
    return this.#length === 0 || this.#headersBefore === headers;
  }

  /**
   * Reads whole lines in the form that a sender writes (S-30, S-31, S-34), up to `end` and `maxLines`.
   * @param headers the number of other headers so far
   * @returns the start of the first line that does not have this form
   */
  read(bytes: Uint8Array, from: number, end: number, maxLines: number, headers: number): number {
    const before = this.#length;
    const maxLength = before + maxLines;
    let ids = this.#ids;
    let length = before;
    let at = from;
    while (length < maxLength) {
      let position = at + PREFIX.length;
      // The shortest line has one digit and a LF.
      if (position + 2 > end || !beginsWith(bytes, at)) break;
      const digits = position;
      let value = 0;
      let octet = bytes[position]!;
      while (octet >= ZERO && octet <= NINE && position - digits < 11) {
        value = value * 10 + (octet - ZERO);
        octet = ++position < end ? bytes[position]! : 0;
      }
      const count = position - digits;
      // Leading zeros and numbers out of range are left to the slow path.
      if (count === 0 || value > MAX_U32 || (count > 1 && bytes[digits] === ZERO)) break;
      if (octet === CR) octet = ++position < end ? bytes[position]! : 0;
      if (octet !== LF) break;
      if (length === ids.length) ids = this.#grow();
      ids[length++] = value;
      at = position + 1;
    }
    this.#length = length;
    if (before === 0 && length > 0) this.#headersBefore = headers;
    return at;
  }

  /** Takes the IDs and the number of headers before them; `undefined` when the run is empty. */
  take(): { readonly ids: Uint32Array; readonly headersBefore: number } | undefined {
    if (this.#length === 0) return undefined;
    const ids = this.#ids.slice(0, this.#length);
    if (this.#ids.length > MAX_KEPT_CAPACITY) this.#ids = new Uint32Array(MIN_CAPACITY);
    this.#length = 0;
    return { ids, headersBefore: this.#headersBefore };
  }

  #grow(): Uint32Array {
    const grown = new Uint32Array(this.#ids.length * 2);
    grown.set(this.#ids);
    this.#ids = grown;
    return grown;
  }
}

function beginsWith(bytes: Uint8Array, at: number): boolean {
  // From the end, where the names of other headers differ.
  for (let i = PREFIX.length - 1; i >= 0; i--) if (bytes[at + i] !== PREFIX[i]) return false;
  return true;
}
