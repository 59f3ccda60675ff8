import { AT, COLON, HT, LF, SP, ZERO } from '../ascii.js';
import { CLOSE_BRACE, OPEN_BRACE } from './bytes.js';
import type { NameTable } from './names.js';
import { SoifObject } from './object.js';
import type { DecoderLimits } from './options.js';

const SLOTS = 6144;
const FOUR_BANGS = 0x21212121;
const FOUR_HIGH_BITS = 0x80808080;

/**
 * The fast path: reads one whole object in the exact layout of SOIF-2.2 from memory. Nearly every object has
 * this layout, and both modes read it alike. Anything else (another layout, an unusual byte, a limit, bytes
 * that have not arrived yet) is left, from the object's start, to the layout reader, which implements the table
 * of SOIF-4.4. So this reader never reports a defect. It allocates no object or string for an attribute.
 */
export class ExactReader {
  #slots: Int32Array = new Int32Array(SLOTS);
  #used = 0;
  #slotsEnd = 0;
  readonly #limits: DecoderLimits;
  readonly #sections: boolean;

  /** @param sections whether a URL that begins with `@` or `}` is the content of a section (SOIF-8.9) */
  constructor(limits: DecoderLimits, sections: boolean) {
    this.#limits = limits;
    this.#sections = sections;
  }

  /**
   * Returns the index in `data` after the object that begins at `start` and ends before `fill`; -1 when this
   * reader cannot read it. `words` is a view of the same memory as `data`, for comparing four bytes at once.
   */
  read(data: Uint8Array, words: DataView, start: number, fill: number, names: NameTable): number {
    const { maxUrlBytes, maxNameBytes, maxValueBytes, maxAttributes } = this.#limits;
    if (data[start] !== AT) return -1;
    const typeEnd = start + 1 + plainLength(data, start + 1, fill);
    let position = typeEnd;
    const urlStart = typeEnd + 3;
    if (typeEnd === start + 1 || typeEnd - start > maxUrlBytes || urlStart >= fill) return -1;
    if (data[position] !== SP || data[position + 1] !== OPEN_BRACE || data[position + 2] !== SP) return -1;
    const first = data[urlStart]!;
    if (first === OPEN_BRACE || first === CLOSE_BRACE || (first === AT && this.#sections)) return -1;
    position = urlStart;
    for (; position + 4 <= fill; position += 4) {
      // Skips four bytes of 0x21 to 0x7F at once; the next loop finds any other byte among them.
      const four = words.getInt32(position, true);
      if ((((four - FOUR_BANGS) | four) & FOUR_HIGH_BITS) !== 0) break;
    }
    while (position < fill && data[position]! > SP && data[position] !== 0xff) position++;
    if (
      position >= fill ||
      data[position] !== LF ||
      position === urlStart ||
      position - urlStart > maxUrlBytes
    )
      return -1;
    const urlEnd = position++;

    let slots = this.#slots;
    if (this.#used + 3 > slots.length) slots = this.#freshSlots(0);
    let slot = this.#used + 3;
    let name = names.intern(data, start + 1, typeEnd);
    slots[slot - 3] = name;
    slots[slot - 2] = urlStart;
    slots[slot - 1] = urlEnd;

    let { store, stored, starts, next } = names;
    for (;;) {
      if (position + 1 >= fill) return -1;
      if (data[position] === CLOSE_BRACE) break;
      const last = name;
      name = next[last]!;
      let length = 0;
      if (name >= 0) {
        // Records of one stream repeat their names, so try the name that followed `last` the last time.
        const from = starts[name]!;
        length = starts[name + 1]! - from;
        if (position + length >= fill || data[position + length] !== OPEN_BRACE) name = -1;
        else {
          let i = 0;
          for (; i + 4 <= length; i += 4) {
            if (words.getInt32(position + i, true) !== stored.getInt32(from + i, true)) break;
          }
          for (; i < length; i++) {
            if (data[position + i] !== store[from + i]) {
              name = -1;
              break;
            }
          }
        }
      }
      if (name < 0) {
        length = plainLength(data, position, fill);
        if (
          position + length >= fill ||
          data[position + length] !== OPEN_BRACE ||
          length === 0 ||
          length > maxNameBytes
        )
          return -1;
        name = names.intern(data, position, position + length);
        names.next[last] = name;
        ({ store, stored, starts, next } = names);
      }
      position += length;
      // position is at '{'
      let size = ++position < fill ? data[position]! - ZERO : -1;
      if (size < 0 || size > 9) return -1;
      position++;
      if (size > 0) {
        for (; position < fill; position++) {
          const digit = data[position]! - ZERO;
          if (digit < 0 || digit > 9) break;
          size = size * 10 + digit;
          if (size > maxValueBytes) return -1;
        }
      }
      const valueEnd = position + 3 + size;
      if (valueEnd >= fill || data[valueEnd] !== LF) return -1;
      if (
        data[position] !== CLOSE_BRACE ||
        data[position + 1] !== COLON ||
        data[position + 2] !== HT ||
        size > maxValueBytes
      )
        return -1;
      if (slot - this.#used > 3 * maxAttributes) return -1;
      if (slot + 3 > slots.length) {
        slot -= this.#used;
        slots = this.#freshSlots(slot);
      }
      slots[slot] = name;
      slots[slot + 1] = position + 3;
      slots[slot + 2] = valueEnd;
      slot += 3;
      position = valueEnd + 1;
    }
    if (data[position + 1] !== LF || position + 2 - start > this.#limits.maxObjectBytes) return -1;
    this.#slotsEnd = slot;
    return position + 2;
  }

  /** The object that {@link read} has just found in `data`. */
  take(data: Uint8Array, names: NameTable): SoifObject {
    const first = this.#used;
    this.#used = this.#slotsEnd;
    const count = (this.#slotsEnd - first) / 3 - 1;
    return new SoifObject({ data, slots: this.#slots, first, count, names: names.list });
  }

  /**
   * New slots that begin with the `length` slots of the current object. The old ones belong to delivered
   * objects.
   */
  #freshSlots(length: number): Int32Array {
    const fresh = new Int32Array(Math.max(SLOTS, 2 * length + 3));
    fresh.set(this.#slots.subarray(this.#used, this.#used + length));
    this.#slots = fresh;
    this.#used = 0;
    return fresh;
  }
}

/** Length of the run of visible ASCII without braces: plain bytes of a name or type. */
function plainLength(data: Uint8Array, start: number, fill: number): number {
  let position = start;
  for (; position < fill; position++) {
    const byte = data[position]!;
    if (byte <= SP || byte >= 0x7f || byte === OPEN_BRACE || byte === CLOSE_BRACE) break;
  }
  return position - start;
}
