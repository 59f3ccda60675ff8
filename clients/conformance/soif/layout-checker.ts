// Checks the bytes of a SOIF stream against the layout of SOIF-2.2.
import type { Findings, RuleId } from './findings.js';
import { ObjectChecker } from './object-checker.js';
import { type StreamKind, WrapperChecker } from './wrapper-checker.js';

const HT = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SP = 0x20;
const COLON = 0x3a;
const AT = 0x40;
const CLOSE = 0x7d;

/** Longest line outside of values, in bytes; type and URL are shorter (SOIF-4.4). */
const MAX_LINE = 70_000;
/** A wrapper on a line without other text, in any spelling. */
const WRAPPER = /^@(delete|refresh|update)[\t ]*\{[\t ]*(\}?)[\t ]*$/i;
/** A wrapper followed by another or by an object on the same line (SOIF-8.9). */
const SHARED = /^@(delete|refresh|update)[\t ]*\{[\t ]*(\}?)[\t ]*(?=@)/i;
/** The first line of an object: type, blanks, brace, blanks, the rest. */
const START = /^@([^\t-\r {]*)([\t-\r ]*)\{([\t-\r ]*)(.*)$/s;

/** `lost-line`: the rest of a line that is not recognized. */
type State = 'line' | 'lost-line' | 'delimiter' | 'value' | 'after-value' | 'after-value-cr';

/**
 * Checks the bytes of a stream against the layout of SOIF-2.2 and reports every deviation. It does not use the
 * decoder of `protocols/soif`, so that the kit does not check itself. Outside of values it reads lines; the
 * bytes of a value are counted. After a deviation it continues with the next line that it recognizes, and
 * reports nothing until then.
 */
export class LayoutChecker {
  readonly #findings: Findings;
  readonly #object: ObjectChecker;
  readonly wrappers: WrapperChecker;
  #state: State = 'line';
  #isInObject = false;
  /** Whether text was skipped since the last line that was recognized. */
  #isLost = false;
  #line: Buffer[] = [];
  #lineLength = 0;
  /** Offset of an empty line after a section, which is correct before the next one. */
  #blankAt: number | undefined;
  #lineStart = 0;
  /** First byte and last non-blank byte of the line; together they identify the head of an attribute. */
  #lineFirstByte = 0;
  #lineLastNonBlank = 0;
  /** Offset of the next byte. */
  #offset = 0;
  /** Bytes of the value that are yet to be read. */
  #remaining = 0;
  /** Name and size of the current attribute, for messages. */
  #attributeText = '';

  /** @param kind undefined: the first line decides */
  constructor(findings: Findings, kind: StreamKind | undefined) {
    this.#findings = findings;
    this.#object = new ObjectChecker(findings);
    this.wrappers = new WrapperChecker(findings, kind);
  }

  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      const taken = this.#read(chunk.subarray(at));
      at += taken;
      this.#offset += taken;
    }
  }

  end(): void {
    if (this.#state === 'value' || this.#state === 'after-value' || this.#state === 'after-value-cr') {
      this.#report('sizes', this.#offset, `the stream ends in or after a value (${this.#attributeText})`);
    } else {
      if (this.#state === 'line' && this.#lineLength > 0) {
        this.#report('layout', this.#offset, 'the last line has no LF');
        this.#takeLine(Buffer.concat(this.#line));
      }
      if (this.#blankAt !== undefined) this.#endBlank(false);
      if (this.#isInObject) this.#reportAndResync(this.#offset, 'the stream ends within an object');
    }
    if (this.#isInObject) this.#markLost();
    this.wrappers.end(this.#offset);
  }

  /** Reads some bytes in the current state; returns their number. */
  #read(chunk: Buffer): number {
    switch (this.#state) {
      case 'line':
      case 'lost-line':
        return this.#readLine(chunk);
      case 'delimiter':
        return this.#readDelimiter(chunk[0] ?? 0);
      case 'value':
        return this.#readValue(chunk);
      case 'after-value':
      case 'after-value-cr':
        return this.#readAfterValue(chunk[0] ?? 0);
    }
  }

  /** Collects a line. The head of an attribute ends with its colon, because the bytes after it are counted. */
  #readLine(chunk: Buffer): number {
    if (this.#lineLength === 0) {
      this.#lineStart = this.#offset;
      this.#lineFirstByte = chunk[0] ?? 0;
      this.#lineLastNonBlank = 0;
    }
    const stop = this.#lineStop(chunk);
    const piece = stop < 0 ? chunk : chunk.subarray(0, stop);
    this.#lineLength += piece.length;
    if (this.#state === 'line') {
      this.#line.push(Buffer.from(piece));
      if (this.#lineLength > MAX_LINE) {
        this.#reportAndResync(this.#lineStart, `a line of more than ${MAX_LINE} bytes outside of values`);
        this.#state = 'lost-line';
      }
    }
    if (stop < 0) return chunk.length;
    const line = this.#state === 'line' ? Buffer.concat(this.#line) : undefined;
    this.#line = [];
    this.#lineLength = 0;
    this.#state = 'line';
    if (line !== undefined && chunk[stop] === COLON)
      this.#takeHead(line.toString('latin1'), this.#offset + stop + 2);
    else if (line !== undefined) this.#takeLine(line);
    return stop + 1;
  }

  /** Returns the offset of the line's end: its LF, or the colon after the brace of an attribute's head. */
  #lineStop(chunk: Buffer): number {
    const end = chunk.indexOf(LF);
    // The first line of an object also has colons, in its URL.
    if (!this.#isInObject || this.#state === 'lost-line' || this.#lineFirstByte === AT) return end;
    const stop = end < 0 ? chunk.length : end;
    for (let at = 0; at < stop; at++) {
      const byte = chunk[at] ?? 0;
      if (byte === COLON && this.#lineLastNonBlank === CLOSE) return at;
      if (byte !== SP && byte !== HT) this.#lineLastNonBlank = byte;
    }
    return end;
  }

  /** A whole line outside of values, without its LF. */
  #takeLine(line: Buffer): void {
    let text = line.toString('latin1');
    if (text.endsWith('\r')) {
      this.#report('line-ends', this.#lineStart, 'a line ends in CR LF');
      text = text.slice(0, -1);
    }
    if (this.#blankAt !== undefined) this.#endBlank(WRAPPER.test(text) || SHARED.test(text));
    if (text === '}') this.#takeBrace();
    else if (this.#isInObject && !(this.#isLost && text.startsWith('@'))) this.#takeUnexpectedLine(text);
    else if (text.startsWith('@')) this.#takeStart(text);
    else if (text === '' && this.wrappers.isAfterSection) this.#blankAt = this.#lineStart;
    else if (text.trim() === '') this.#reportLayout(this.#lineStart, 'an empty line between objects');
    else this.#reportAndResync(this.#lineStart, 'text between objects');
  }

  /** BT-17: a bulk transfer has one empty line after a group, before the next one. */
  #endBlank(beforeWrapper: boolean): void {
    const offset = this.#blankAt ?? 0;
    this.#blankAt = undefined;
    if (!beforeWrapper) this.#reportLayout(offset, 'an empty line that is not between two sections');
  }

  #takeBrace(): void {
    if (this.#isInObject) {
      this.#isInObject = false;
      this.#object.end();
    } else if (this.wrappers.isInSection) this.wrappers.close();
    else if (!this.#isLost) this.wrappers.strayBrace(this.#lineStart);
  }

  /** `@type { url`, or a wrapper; SOIF-8.9 allows more than one of them on a line. */
  #takeStart(line: string): void {
    let text = line;
    this.#isInObject = false;
    for (let shared = SHARED.exec(text); shared !== null; shared = SHARED.exec(text)) {
      this.#takeWrapper(shared, false);
      text = text.slice(shared[0].length);
    }
    const wrapper = WRAPPER.exec(text);
    if (wrapper === null) this.#takeObject(text);
    else this.#takeWrapper(wrapper, line === `@${wrapper[1]} {`);
  }

  #takeWrapper([, word = '', brace]: RegExpExecArray, exact: boolean): void {
    if (this.#isLost && this.wrappers.isInSection) this.wrappers.close();
    this.#isLost = false;
    this.wrappers.open(word, exact, this.#lineStart);
    if (brace === '}') this.wrappers.close();
  }

  /** Reads the first line of an object. Its URL is checked by SOIF-2.9. */
  #takeObject(text: string): void {
    const start = START.exec(text);
    if (start === null) {
      this.#reportAndResync(this.#lineStart, 'a line that begins with "@" and is not an object');
      return;
    }
    const [, type = '', before, after, rest = ''] = start;
    const closed = /(?:^|[\t-\r ])\}$/.test(rest);
    const url = closed ? rest.slice(0, -1).trimEnd() : rest;
    this.#isLost = false;
    this.#isInObject = true;
    this.wrappers.object(this.#lineStart);
    this.#object.begin(type, url, this.#lineStart, this.wrappers.needsBookkeeping);
    if (before !== ' ' || (rest !== '' && after !== ' ') || closed) {
      this.#reportLayout(this.#lineStart, 'the first line of the object is not "@TYPE { URL"');
    }
    if (closed) this.#takeBrace();
  }

  /** A line within an object that is neither an attribute nor its end. */
  #takeUnexpectedLine(text: string): void {
    if (text.trim() === '') this.#reportLayout(this.#lineStart, 'an empty line within an object');
    else if (text.trim() === '}') {
      this.#reportLayout(this.#lineStart, 'white space around the closing brace');
      this.#takeBrace();
    } else if (text.startsWith('@')) {
      this.#reportAndResync(this.#lineStart, 'the previous object is not closed');
      this.#takeStart(text);
    } else if (text.startsWith('}')) {
      this.#reportLayout(this.#lineStart, 'no LF after the closing brace');
      this.#takeBrace();
      this.#takeLine(Buffer.from(text.slice(1).trimStart(), 'latin1'));
    } else this.#reportAndResync(this.#lineStart, 'a line within an object that is not an attribute');
  }

  /** `name{size}`, the text before the colon. */
  #takeHead(text: string, valueOffset: number): void {
    const brace = text.lastIndexOf('{');
    const name = text.slice(0, Math.max(brace, 0));
    const size = text.slice(brace + 1);
    const exact = /^(0|[1-9][0-9]{0,14})\}$/.exec(size);
    const loose = exact ?? /^[\t ]*\+?([0-9]{1,15})[\t ]*\}[\t ]*$/.exec(size);
    if (brace < 0 || loose === null) {
      this.#reportAndResync(
        this.#lineStart,
        `the size of an attribute is not a number: ${JSON.stringify(size)}`,
      );
      this.#state = 'lost-line';
      return;
    }
    if (exact === null || name !== name.trim()) {
      this.#reportLayout(this.#lineStart, 'white space, a sign or leading zeros in the head of an attribute');
    }
    this.#remaining = Number(loose[1]);
    this.#attributeText = `${name.trim()}, size ${this.#remaining}`;
    this.#object.attribute(name.trim(), this.#lineStart, valueOffset);
    this.#isLost = false;
    this.#state = 'delimiter';
  }

  #readDelimiter(byte: number): number {
    if (byte !== HT && byte !== SP) {
      this.#reportAndResync(this.#offset, 'no tab after the colon');
      this.#state = 'lost-line';
      return 0;
    }
    if (byte === SP) this.#reportLayout(this.#offset, 'a space instead of the tab after the colon');
    this.#state = this.#remaining === 0 ? 'after-value' : 'value';
    return 1;
  }

  #readValue(chunk: Buffer): number {
    const piece = chunk.subarray(0, this.#remaining);
    this.#object.value.push(piece);
    this.#remaining -= piece.length;
    if (this.#remaining === 0) this.#state = 'after-value';
    return piece.length;
  }

  /** Checks the LF after a value, which shows whether its size is correct (SOIF-2.3). */
  #readAfterValue(byte: number): number {
    const afterCr = this.#state === 'after-value-cr';
    if (byte === LF) {
      if (afterCr) this.#report('line-ends', this.#offset, 'CR LF after a value');
      this.#object.value.end();
      this.#state = 'line';
      return 1;
    }
    if (byte === CR && !afterCr) {
      this.#state = 'after-value-cr';
      return 1;
    }
    this.#report('sizes', this.#offset, `no LF after the value (${this.#attributeText})`);
    this.#markLost();
    // Before the closing brace a value may lack its LF; otherwise the line continues with the surplus.
    this.#state = byte === CLOSE ? 'line' : 'lost-line';
    return 0;
  }

  /** Reports a deviation from the layout after which reading continues normally. */
  #reportLayout(offset: number, message: string): void {
    if (!this.#isLost) this.#report('layout', offset, message);
  }

  /** Reports a deviation after which text may be skipped: nothing is reported until a line is recognized. */
  #reportAndResync(offset: number, message: string): void {
    this.#reportLayout(offset, message);
    this.#markLost();
  }

  #markLost(): void {
    this.#isLost = true;
    this.#object.markDamaged();
    this.wrappers.markDamaged();
  }

  #report(rule: RuleId, offset: number, message: string): void {
    this.#findings.report(rule, offset, this.#isInObject ? this.#object.url : '', message);
  }
}
