// The slow path: reads one object in any layout that SOIF-4.4 allows.
import { COLON, CR, HT, isBlank, isSpace, LF, SP } from '../ascii.js';
import { StateError } from '../errors.js';
import type { Progress, State } from './attempt.js';
import { CLOSE_BRACE, OPEN_BRACE, parseDecimal } from './bytes.js';
import { HeaderReader } from './header-reader.js';
import { KeptAttributes, type SoifOutline } from './kept-attributes.js';
import type { NameTable } from './names.js';
import { SoifObject } from './object.js';
import type { Window } from './window.js';

/** SOIF-4.4: blanks around the digits are tolerated, so the bytes between the braces need a limit. */
const MAX_SIZE_BYTES = 32;

/**
 * Reads one object step by step, from memory that grows: the rules of SOIF-4.3 and the table of SOIF-4.4 for both
 * modes. It can stop before any byte and continues later without reading a byte twice. All positions are
 * offsets in the stream, so the window may move.
 */
export class LayoutReader extends HeaderReader {
  #body = false;
  #size = 0;
  #sizeAt = 0;
  #hasBlankForTab = false;
  #valueBytes = 0;
  /** Id of the name, start and end of the value of each attribute; start and end are offsets in the stream. */
  #slots: number[] = [];
  #name = 0;
  /** What is kept of an object whose bytes are not held. */
  #kept: KeptAttributes | undefined;
  #header = { type: '', url: new Uint8Array(0) };

  /** Begins an object whose `@` is at `start`. */
  begin(start: number): void {
    this.#reset(start);
    this.position = start + 1;
    this.state = 'type';
    this.#body = false;
  }

  /** Begins a bare attribute list (SOIF-3.7), which ends with the input. */
  beginBody(start: number): void {
    this.#reset(start);
    this.position = start;
    this.state = 'attribute';
    this.#body = true;
  }

  /** Bytes of names and punctuation read: the cost of reading them again. */
  get effort(): number {
    return this.position - this.start - this.#valueBytes;
  }

  #reset(start: number): void {
    this.start = start;
    this.exact = true;
    this.warnings = [];
    this.#slots = [];
    this.#valueBytes = 0;
    this.#hasBlankForTab = false;
    this.#kept = undefined;
    this.beginHeader(start);
  }

  /** Whether the object is read without holding its bytes. */
  get isLarge(): boolean {
    return this.#kept !== undefined;
  }

  /**
   * Whether the object will have more than `bytes` bytes, by those that arrived and the size of its current
   * value.
   */
  exceeds(bytes: number, window: Window): boolean {
    const end = this.state === 'value' ? this.mark + this.#size : window.end;
    return end - this.start > bytes;
  }

  /** Reads the rest of the object without holding its bytes. Returns false while its header is incomplete. */
  release(window: Window, names: NameTable): boolean {
    if (this.#body || !this.#isHeaderRead) return false;
    const slots = this.#slots;
    const { start, typeEnd, url } = this;
    const list = names.list.names;
    const type = names.intern(window.data, start + 1 - window.base, typeEnd - window.base);
    this.#header = { type: list[type]!, url: new Uint8Array(window.view(url.start, url.end)) };
    this.#kept = new KeptAttributes();
    for (let i = 0; i < slots.length; i += 3) {
      const name = list[slots[i]!]!;
      const from = slots[i + 1]!;
      const size = slots[i + 2]! - from;
      const needed = this.#kept.bytesOf(name, size);
      if (needed !== undefined) this.#kept.add(name, window.view(from, from + needed), size);
    }
    return true;
  }

  get #isHeaderRead(): boolean {
    return HEADER_STATES.every((state) => state !== this.state);
  }

  /** Offset of the first byte that must stay in memory. */
  get firstNeeded(): number {
    if (this.#kept === undefined) return this.start;
    switch (this.state) {
      case 'name':
        return this.mark;
      case 'size':
        return this.#sizeAt;
      default:
        return this.position;
    }
  }

  /** Continues reading. `final`: no more bytes will arrive. */
  advance(window: Window, names: NameTable, final: boolean): Progress {
    for (;;) {
      const progress = this.#step(window, names);
      if (progress === 'next') continue;
      if (progress === 'more' && final) return this.#handleEnd(window.end);
      return progress;
    }
  }

  #step(window: Window, names: NameTable): Progress | 'next' {
    switch (this.state) {
      case 'type':
        return this.readType(window);
      case 'open-brace':
        return this.readOpenBrace(window);
      case 'section-look':
        return this.lookForSection(window);
      case 'url-start':
        return this.readUrlStart(window);
      case 'url':
        return this.readUrl(window);
      case 'url-rest':
        return this.readUrlRest(window);
      case 'url-line':
        return this.readUrlLine(window);
      case 'attribute':
        return this.#readAttribute(window);
      case 'name':
        return this.#readName(window, names);
      case 'size':
        return this.#readSize(window);
      case 'colon':
        return this.#readColon(window);
      case 'tab':
        return this.#readTab(window);
      case 'value':
        return this.#readValue(window, names);
      case 'after-value':
        return this.#readAfterValue(window);
      case 'closed':
        return this.#readClosed(window);
      case 'closed-cr':
        return this.#readClosedCr(window);
    }
  }

  /** SOIF-4.3: white space is skipped; `}` ends the object; anything else is a name. */
  #readAttribute(window: Window): Progress | 'next' {
    for (; this.position < window.end; this.position++) {
      const byte = window.byteAt(this.position);
      if (isSpace(byte)) {
        if (this.limits.strict)
          return this.fail('SOIF-4.4', this.position, 'white space before a name or the closing brace');
        this.exact = false;
        if (this.isTooLong(this.position)) return this.failTooLong();
        continue;
      }
      if (byte === CLOSE_BRACE) return this.#close();
      this.mark = this.position;
      this.state = 'name';
      return 'next';
    }
    return 'more';
  }

  #readName(window: Window, names: NameTable): Progress | 'next' {
    const { strict, maxNameBytes } = this.limits;
    for (; this.position < window.end; this.position++) {
      const byte = window.byteAt(this.position);
      if (byte === OPEN_BRACE) return this.#endName(window, names);
      if (byte === CLOSE_BRACE) {
        if (strict || this.#body) return this.fail('SOIF-4.3', this.mark, 'a name without a size');
        this.warn('SOIF-4.3', this.mark, 'text without a size before the closing brace');
        return this.#close();
      }
      if (isSpace(byte)) {
        if (strict) return this.fail('SOIF-4.4', this.position, 'white space in a name');
        this.exact = false;
      }
      if (this.position - this.mark >= maxNameBytes)
        return this.fail('SOIF-4.4', this.mark, 'the name is too long');
    }
    return 'more';
  }

  #endName(window: Window, names: NameTable): Progress | 'next' {
    let end = this.position;
    while (end > this.mark && isSpace(window.byteAt(end - 1))) end--;
    if (end === this.mark) {
      if (this.limits.strict) return this.fail('SOIF-4.4', this.position, 'an empty attribute name');
      this.warn('SOIF-4.4', this.position, 'an empty attribute name');
    }
    this.#name = names.intern(window.data, this.mark - window.base, end - window.base);
    this.position++;
    this.#sizeAt = this.position;
    this.state = 'size';
    return 'next';
  }

  #readSize(window: Window): Progress | 'next' {
    for (; this.position < window.end; this.position++) {
      if (window.byteAt(this.position) === CLOSE_BRACE) return this.#endSize(window);
      if (this.position - this.#sizeAt >= MAX_SIZE_BYTES)
        return this.fail('SOIF-4.4', this.#sizeAt, 'not a value size');
    }
    return 'more';
  }

  #endSize(window: Window): Progress | 'next' {
    const { strict, maxValueBytes } = this.limits;
    let start = this.#sizeAt;
    let end = this.position;
    if (!strict) {
      while (start < end && isBlank(window.byteAt(start))) start++;
      while (end > start && isBlank(window.byteAt(end - 1))) end--;
    }
    this.#size = parseDecimal(window.data, start - window.base, end - window.base, !strict);
    if (this.#size < 0) return this.fail('SOIF-4.4', this.#sizeAt, 'not a value size');
    if (end - start !== this.position - this.#sizeAt || end - start !== String(this.#size).length)
      this.exact = false;
    if (this.#size > maxValueBytes) {
      return this.fail(
        'SOIF-4.4',
        this.#sizeAt,
        `a value of ${this.#size} bytes, more than the limit of ${maxValueBytes}`,
      );
    }
    this.position++;
    this.state = 'colon';
    return 'next';
  }

  #readColon(window: Window): Progress | 'next' {
    if (this.position >= window.end) return 'more';
    if (window.byteAt(this.position) !== COLON)
      return this.fail('SOIF-4.3', this.position, 'no ":" after the value size');
    this.position++;
    this.state = 'tab';
    return 'next';
  }

  #readTab(window: Window): Progress | 'next' {
    if (this.position >= window.end) return 'more';
    const byte = window.byteAt(this.position);
    // SOIF-4.4: a blank may be a tab that an editor replaced; the end of the value decides
    this.#hasBlankForTab = byte === SP && !this.limits.strict;
    if (byte !== HT && !this.#hasBlankForTab) return this.fail('SOIF-4.3', this.position, 'no tab after ":"');
    const end = this.position + 1 + this.#size;
    if (end - this.start > this.limits.maxObjectBytes) {
      return this.fail(
        'SOIF-4.4',
        this.#sizeAt,
        `an object of more than ${this.limits.maxObjectBytes} bytes`,
      );
    }
    const { maxAttributes } = this.limits;
    if (this.#slots.length >= 3 * maxAttributes) {
      return this.fail('SOIF-4.4', this.#sizeAt, `an object of more than ${maxAttributes} attributes`);
    }
    this.position++;
    this.mark = this.position;
    this.state = 'value';
    return 'next';
  }

  #readValue(window: Window, names: NameTable): Progress | 'next' {
    const end = this.mark + this.#size;
    if (this.#kept !== undefined) return this.#passValue(window, names.list.names[this.#name]!, this.#kept);
    if (window.end < end) {
      // A larger object is not held to its end.
      if (end - this.start <= this.limits.largeBytes) window.expect(end);
      return 'more';
    }
    this.position = end;
    this.#valueBytes += this.#size;
    this.state = 'after-value';
    return 'next';
  }

  /**
   * Reads a value of which at most the beginning is kept. Its bytes count as effort, because recovery would
   * read them again.
   */
  #passValue(window: Window, name: string, kept: KeptAttributes): Progress | 'next' {
    if (this.position === this.mark) {
      const needed = kept.bytesOf(name, this.#size);
      if (needed !== undefined) {
        if (window.end < this.mark + needed) return 'more';
        kept.add(name, window.view(this.mark, this.mark + needed), this.#size);
      }
    }
    const end = this.mark + this.#size;
    this.position = Math.min(end, window.end);
    if (this.position < end) return 'more';
    this.state = 'after-value';
    return 'next';
  }

  /**
   * Goes to the end of a value that is not held, without its bytes. Returns the offset of the next byte that is
   * needed.
   */
  skipValue(): number | undefined {
    if (this.#kept === undefined || this.state !== 'value' || this.position === this.mark) return undefined;
    this.position = this.mark + this.#size;
    return this.position;
  }

  /** SOIF-2.3: the LF after the value; SOIF-4.4: other bytes tolerated there. */
  #readAfterValue(window: Window): Progress | 'next' {
    if (this.position >= window.end) return 'more';
    const byte = window.byteAt(this.position);
    const isLineEnd = byte === LF || byte === CR;
    if (byte !== LF && this.limits.strict)
      return this.fail('SOIF-4.4', this.position, 'the value is not followed by LF');
    if (this.#hasBlankForTab) {
      if (!isLineEnd) return this.fail('SOIF-4.4', this.mark - 1, 'a blank instead of the tab after ":"');
      this.warn('SOIF-4.4', this.mark - 1, 'a blank instead of the tab after ":"');
    } else if (!isLineEnd && byte !== CLOSE_BRACE) {
      this.warn('SOIF-4.4', this.position, `the value of ${this.#size} bytes does not end at a line's end`);
    }
    if (byte === LF) this.position++;
    else this.exact = false;
    this.#addAttribute();
    return 'next';
  }

  #addAttribute(): void {
    this.#slots.push(this.#name, this.mark, this.mark + this.#size);
    this.state = 'attribute';
  }

  /** At `}`: the object is complete, but its line end belongs to it. */
  #close(): Progress | 'next' {
    if (this.#body) return this.fail('SOIF-3.7', this.position, 'a closing brace in an attribute list');
    this.position++;
    this.state = 'closed';
    return 'next';
  }

  #readClosed(window: Window): Progress | 'next' {
    if (this.position >= window.end) return 'more';
    const byte = window.byteAt(this.position);
    if (byte === LF) {
      this.position++;
      return 'object';
    }
    if (this.limits.strict) return this.fail('SOIF-4.4', this.position, 'no LF after the closing brace');
    this.exact = false;
    if (byte !== CR) return 'object';
    this.state = 'closed-cr';
    return 'next';
  }

  #readClosedCr(window: Window): Progress | 'next' {
    if (this.position + 1 >= window.end) return 'more';
    if (window.byteAt(this.position + 1) === LF) this.position += 2;
    return 'object';
  }

  /** The input ends here: SOIF-4.4 says where that is tolerated. */
  #handleEnd(end: number): Progress {
    const { strict } = this.limits;
    if (this.state === 'closed' || this.state === 'closed-cr') {
      if (strict) return this.fail('SOIF-4.4', end, 'no LF after the closing brace');
      this.exact = false;
      return 'object';
    }
    if (this.state === 'after-value' && !strict && !this.#hasBlankForTab) {
      this.exact = false;
      this.#addAttribute();
    }
    if (this.state !== 'attribute')
      return this.fail('SOIF-4.4', end, `truncated: the input ends in ${ELEMENT_NAMES[this.state]}`);
    if (this.#body) return 'object';
    if (strict) return this.fail('SOIF-4.4', end, 'the input ends before the closing brace');
    this.warn('SOIF-4.4', end, 'the input ends before the closing brace');
    return 'object';
  }

  /** The complete object, whose bytes were not held. */
  takeLarge(names: NameTable): SoifOutline {
    const slots = this.#slots;
    const { start } = this;
    const { type, url } = this.#header;
    if (this.#kept === undefined) throw new StateError('the object was held');
    const list = names.list.names;
    const attributes = Array.from({ length: slots.length / 3 }, (_, i) => ({
      name: list[slots[3 * i]!]!,
      start: slots[3 * i + 1]! - start,
      end: slots[3 * i + 2]! - start,
    }));
    return { head: this.#kept.head(type, url), attributes, exact: this.exact };
  }

  /** The complete object. */
  take(window: Window, names: NameTable): SoifObject {
    const { data, base } = window;
    const attributes = Int32Array.from(this.#slots, (slot, i) => (i % 3 === 0 ? slot : slot - base));
    const slots = new Int32Array(attributes.length + 3);
    slots.set(attributes, 3);
    slots[0] = this.#body
      ? names.list.add('')
      : names.intern(data, this.start + 1 - base, this.typeEnd - base);
    slots[1] = this.url.start - base;
    slots[2] = this.url.end - base;
    return new SoifObject({ data, slots, first: 0, count: attributes.length / 3, names: names.list });
  }
}

/** The states in which the first line is incomplete. */
const HEADER_STATES: readonly State[] = [
  'type',
  'open-brace',
  'section-look',
  'url-start',
  'url',
  'url-rest',
  'url-line',
];

/** The element that the input ends in, for the message about truncation. */
const ELEMENT_NAMES: Readonly<Record<State, string>> = {
  type: 'the template type',
  'open-brace': 'the template type',
  'section-look': 'the opening of a section',
  'url-start': 'the URL',
  url: 'the URL',
  'url-rest': 'the URL',
  'url-line': 'the URL',
  attribute: 'the attributes',
  name: 'a name',
  size: 'a value size',
  colon: 'an attribute',
  tab: 'an attribute',
  value: 'a value',
  'after-value': 'a value',
  closed: 'the closing brace',
  'closed-cr': 'the closing brace',
};
