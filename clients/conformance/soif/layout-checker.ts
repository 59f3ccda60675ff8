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

/** Bytes of the longest line outside of values: type and URL are shorter (SOIF-4.4). */
const MAX_LINE = 70_000;
/** A wrapper on a line without other text, in any spelling. */
const WRAPPER = /^@(delete|refresh|update)[\t ]*\{[\t ]*(\}?)[\t ]*$/i;
/** A wrapper followed by another or by an object on the same line (SOIF-8.9). */
const SHARED = /^@(delete|refresh|update)[\t ]*\{[\t ]*(\}?)[\t ]*(?=@)/i;
/** The first line of an object: type, blanks, brace, blanks, the rest. */
const START = /^@([^\t-\r {]*)([\t-\r ]*)\{([\t-\r ]*)(.*)$/s;

/** `lost-line`: the rest of a line that makes no sense. */
type State = 'line' | 'lost-line' | 'delimiter' | 'value' | 'after-value' | 'after-value-cr';

/**
 * Reads a stream byte by byte against the layout of SOIF-2.2 and reports every departure. Made apart from the decoder of
 * `protocols/soif`, so that the one does not vouch for the other. Outside of values everything is a line; a value is
 * counted. After a departure it continues with the next line that it recognizes and reports nothing until then.
 */
export class LayoutChecker {
  readonly #findings: Findings;
  readonly #object: ObjectChecker;
  readonly #wrappers: WrapperChecker;
  #state: State = 'line';
  #inObject = false;
  /** Something was passed over since the last line that made sense. */
  #lost = false;
  #line: Buffer[] = [];
  #lineLength = 0;
  #lineStart = 0;
  /** First byte and last non-blank byte of the line; together they identify the head of an attribute. */
  #lineFirst = 0;
  #lineSolid = 0;
  /** Offset of the next byte. */
  #offset = 0;
  /** Bytes of the value that are yet to be read. */
  #left = 0;
  /** Name and size of the current attribute, for messages. */
  #sized = '';

  /** @param kind undefined: the first line decides */
  constructor(findings: Findings, kind: StreamKind | undefined) {
    this.#findings = findings;
    this.#object = new ObjectChecker(findings);
    this.#wrappers = new WrapperChecker(findings, kind);
  }

  get kind(): StreamKind {
    return this.#wrappers.kind;
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
      this.#offend('sizes', this.#offset, `the stream ends in or after a value (${this.#sized})`);
    } else {
      if (this.#state === 'line' && this.#lineLength > 0) {
        this.#offend('layout', this.#offset, 'the last line has no LF');
        this.#takeLine(Buffer.concat(this.#line));
      }
      if (this.#inObject) this.#strange(this.#offset, 'the stream ends within an object');
    }
    if (this.#inObject) this.#lose();
    this.#wrappers.end(this.#offset);
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

  /** Collects a line; an attribute's head ends with its colon, for after it bytes are counted. */
  #readLine(chunk: Buffer): number {
    if (this.#lineLength === 0) {
      this.#lineStart = this.#offset;
      this.#lineFirst = chunk[0] ?? 0;
      this.#lineSolid = 0;
    }
    const stop = this.#lineStop(chunk);
    const piece = stop < 0 ? chunk : chunk.subarray(0, stop);
    this.#lineLength += piece.length;
    if (this.#state === 'line') {
      this.#line.push(Buffer.from(piece));
      if (this.#lineLength > MAX_LINE) {
        this.#strange(this.#lineStart, `a line of more than ${MAX_LINE} bytes outside of values`);
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

  /** Where the line ends: its LF, or the colon after the brace of an attribute's head. */
  #lineStop(chunk: Buffer): number {
    const end = chunk.indexOf(LF);
    // An object's first line has colons, too, in its URL.
    if (!this.#inObject || this.#state === 'lost-line' || this.#lineFirst === AT) return end;
    const stop = end < 0 ? chunk.length : end;
    for (let at = 0; at < stop; at++) {
      const byte = chunk[at] ?? 0;
      if (byte === COLON && this.#lineSolid === CLOSE) return at;
      if (byte !== SP && byte !== HT) this.#lineSolid = byte;
    }
    return end;
  }

  /** A whole line outside of values, without its LF. */
  #takeLine(line: Buffer): void {
    let text = line.toString('latin1');
    if (text.endsWith('\r')) {
      this.#offend('line-ends', this.#lineStart, 'a line ends in CR LF');
      text = text.slice(0, -1);
    }
    if (text === '}') this.#takeBrace();
    else if (this.#inObject && !(this.#lost && text.startsWith('@'))) this.#takeOddLine(text);
    else if (text.startsWith('@')) this.#takeStart(text);
    else if (text.trim() === '') this.#odd(this.#lineStart, 'an empty line between objects');
    else this.#strange(this.#lineStart, 'text between objects');
  }

  #takeBrace(): void {
    if (this.#inObject) {
      this.#inObject = false;
      this.#object.end();
    } else if (this.#wrappers.inSection) this.#wrappers.closes();
    else if (!this.#lost) this.#wrappers.strayBrace(this.#lineStart);
  }

  /** `@type { url`, or a wrapper; SOIF-8.9 allows more than one of them on a line. */
  #takeStart(line: string): void {
    let text = line;
    this.#inObject = false;
    for (let shared = SHARED.exec(text); shared !== null; shared = SHARED.exec(text)) {
      this.#takeWrapper(shared, false);
      text = text.slice(shared[0].length);
    }
    const wrapper = WRAPPER.exec(text);
    if (wrapper === null) this.#takeObject(text);
    else this.#takeWrapper(wrapper, line === `@${wrapper[1]} {`);
  }

  #takeWrapper([, word = '', brace]: RegExpExecArray, exact: boolean): void {
    if (this.#lost && this.#wrappers.inSection) this.#wrappers.closes();
    this.#lost = false;
    this.#wrappers.opens(word, exact, this.#lineStart);
    if (brace === '}') this.#wrappers.closes();
  }

  /** The first line of an object. What is wrong with its URL is SOIF-2.9's matter. */
  #takeObject(text: string): void {
    const start = START.exec(text);
    if (start === null) {
      this.#strange(this.#lineStart, 'a line that begins with "@" and is no object');
      return;
    }
    const [, type = '', before, behind, rest = ''] = start;
    const closed = /(?:^|[\t-\r ])\}$/.test(rest);
    const url = closed ? rest.slice(0, -1).trimEnd() : rest;
    this.#lost = false;
    this.#inObject = true;
    this.#wrappers.object(this.#lineStart);
    this.#object.begin(type, url, this.#lineStart, this.#wrappers.wantsBookkeeping);
    if (before !== ' ' || (rest !== '' && behind !== ' ') || closed) {
      this.#odd(this.#lineStart, 'the first line of the object is not "@TYPE { URL"');
    }
    if (closed) this.#takeBrace();
  }

  /** A line within an object that is neither an attribute nor its end. */
  #takeOddLine(text: string): void {
    if (text.trim() === '') this.#odd(this.#lineStart, 'an empty line within an object');
    else if (text.trim() === '}') {
      this.#odd(this.#lineStart, 'white space around the closing brace');
      this.#takeBrace();
    } else if (text.startsWith('@')) {
      this.#strange(this.#lineStart, 'the object before is not closed');
      this.#takeStart(text);
    } else if (text.startsWith('}')) {
      this.#odd(this.#lineStart, 'no LF after the closing brace');
      this.#takeBrace();
      this.#takeLine(Buffer.from(text.slice(1).trimStart(), 'latin1'));
    } else this.#strange(this.#lineStart, 'a line within an object that is no attribute');
  }

  /** `name{size}`, the text before the colon. */
  #takeHead(text: string, valueOffset: number): void {
    const brace = text.lastIndexOf('{');
    const name = text.slice(0, Math.max(brace, 0));
    const size = text.slice(brace + 1);
    const exact = /^(0|[1-9][0-9]{0,14})\}$/.exec(size);
    const loose = exact ?? /^[\t ]*\+?([0-9]{1,15})[\t ]*\}[\t ]*$/.exec(size);
    if (brace < 0 || loose === null) {
      this.#strange(this.#lineStart, `the size of an attribute is not a number: ${JSON.stringify(size)}`);
      this.#state = 'lost-line';
      return;
    }
    if (exact === null || name !== name.trim()) {
      this.#odd(this.#lineStart, 'white space, a sign or leading zeros in the head of an attribute');
    }
    this.#left = Number(loose[1]);
    this.#sized = `${name.trim()}, size ${this.#left}`;
    this.#object.attribute(name.trim(), this.#lineStart, valueOffset);
    this.#lost = false;
    this.#state = 'delimiter';
  }

  #readDelimiter(byte: number): number {
    if (byte !== HT && byte !== SP) {
      this.#strange(this.#offset, 'no tab after the colon');
      this.#state = 'lost-line';
      return 0;
    }
    if (byte === SP) this.#odd(this.#offset, 'a space instead of the tab after the colon');
    this.#state = this.#left === 0 ? 'after-value' : 'value';
    return 1;
  }

  #readValue(chunk: Buffer): number {
    const piece = chunk.subarray(0, this.#left);
    this.#object.value.push(piece);
    this.#left -= piece.length;
    if (this.#left === 0) this.#state = 'after-value';
    return piece.length;
  }

  /** Checks the LF after a value, which shows whether its size is correct (SOIF-2.3). */
  #readAfterValue(byte: number): number {
    const behindCr = this.#state === 'after-value-cr';
    if (byte === LF) {
      if (behindCr) this.#offend('line-ends', this.#offset, 'CR LF after a value');
      this.#object.value.end();
      this.#state = 'line';
      return 1;
    }
    if (byte === CR && !behindCr) {
      this.#state = 'after-value-cr';
      return 1;
    }
    this.#offend('sizes', this.#offset, `no LF after the value (${this.#sized})`);
    this.#lose();
    // Before the closing brace a value may lack its LF; otherwise the line continues with the surplus.
    this.#state = byte === CLOSE ? 'line' : 'lost-line';
    return 0;
  }

  /** A departure from the layout that hides nothing. */
  #odd(offset: number, message: string): void {
    if (!this.#lost) this.#offend('layout', offset, message);
  }

  /** Records a departure after which text may be missed: nothing is reported until a line is recognized. */
  #strange(offset: number, message: string): void {
    this.#odd(offset, message);
    this.#lose();
  }

  #lose(): void {
    this.#lost = true;
    this.#object.damaged();
    this.#wrappers.damaged();
  }

  #offend(rule: RuleId, offset: number, message: string): void {
    this.#findings.offend(rule, offset, this.#inObject ? this.#object.url : '', message);
  }
}
