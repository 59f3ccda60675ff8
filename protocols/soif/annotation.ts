// Reads annotation files: hand-written records without sizes (SOIF-11.1).
import { bufferOf, LF, trimSpace } from '../ascii.js';
import { ProtocolError, StateError } from '../errors.js';
import { isTemplateType } from './names.js';
import { assemble, type SoifObject } from './object.js';
import { checkLimit, MEBIBYTE } from './options.js';
import { urlProblem } from './url-bytes.js';

/** Options of {@link AnnotationDecoder}. */
export interface AnnotationOptions {
  /** `lenient` (default) warns of mistakes and continues, `strict` throws at the first. */
  readonly mode?: 'strict' | 'lenient';
  /** Bytes of one line without its end; default 1 MiB. It bounds the memory for a line. */
  readonly maxLineBytes?: number;
  /** Bytes of the lines of one object; default 64 MiB. */
  readonly maxObjectBytes?: number;
}

/** A deviation of an annotation file from a rule. */
export interface AnnotationWarning {
  readonly kind: 'warning';
  /** The rule that the input breaks, e.g. `SOIF-11.1`. */
  readonly rule: string;
  /** Bytes from the start of the input to the line. */
  readonly offset: number;
  /** 1-based. */
  readonly line: number;
  readonly message: string;
  /** Whether the line, or the whole object, was dropped. */
  readonly dropped: boolean;
}

/** An item of {@link AnnotationDecoder}. */
export type AnnotationItem =
  | {
      readonly kind: 'object';
      readonly object: SoifObject;
      /** Bytes from the start of the input to the object's first line. */
      readonly offset: number;
      /** 1-based. */
      readonly line: number;
    }
  | AnnotationWarning;

/**
 * A header in the layout of SOIF-2.2. White space is ASCII only: with one character a byte, 0xA0 may be part of
 * a letter.
 */
const EXACT_HEADER = /^@[A-Za-z0-9-]+ \{ [^\t\v\f\r {][^\t\v\f\r ]*$/;
/** Indentation, name, a size (an error), blanks before and after the colon, value. */
const ATTRIBUTE =
  /^([\t\v\f\r ]*)([A-Za-z0-9._<>-]+)([\t ]{0,32}\{[\t ]{0,32}\d{0,32}[\t ]{0,32}\})?([\t\v\f\r ]*):([\t\v\f\r ]*)(.*)$/s;

interface OpenObject {
  readonly type: string;
  readonly url: Uint8Array;
  readonly offset: number;
  readonly line: number;
  readonly pairs: [name: string, value: Uint8Array][];
  readonly names: Set<string>;
  bytes: number;
}

/**
 * Reads annotation files, hand-written records without sizes, the input of `mktemplate` (SOIF-11.1, G-137): a
 * line `@TYPE { url`, one line `Name:` HT value for each attribute, a line `}`. A value is the rest of its
 * line, byte for byte; of duplicate names the last one counts (SOIF-5.2).
 *
 * `strict` throws at the first deviation, after the objects before it have been returned. `lenient` accepts
 * with a warning: blanks or nothing instead of the tab, indentation, CR LF (one warning), a size in braces
 * (ignored), a missing closing brace. It drops other lines with a warning. Blank lines between objects are
 * ignored in both modes.
 */
export class AnnotationDecoder {
  readonly #strict: boolean;
  readonly #maxLine: number;
  readonly #maxObject: number;
  #items: AnnotationItem[] = [];
  #failure: ProtocolError | undefined;
  #ended = false;
  /**
   * The line whose end has not arrived, one character a byte; only the beginning of a line that is too long.
   */
  #text = '';
  /** Bytes of that line. */
  #held = 0;
  #offset = 0;
  #line = 1;
  #object: OpenObject | undefined;
  /** After a header or object that was dropped: lines are ignored until the next header. */
  #lost = false;
  #carriageReturn = false;

  /** @throws RangeError for a limit out of its range */
  constructor(options: AnnotationOptions = {}) {
    this.#strict = options.mode === 'strict';
    this.#maxLine = checkLimit('maxLineBytes', options.maxLineBytes ?? MEBIBYTE);
    this.#maxObject = checkLimit('maxObjectBytes', options.maxObjectBytes ?? 64 * MEBIBYTE);
  }

  /**
   * The items that are complete with this chunk. @throws ProtocolError in strict mode; StateError after
   * {@link end}.
   */
  push(chunk: Uint8Array): AnnotationItem[] {
    if (this.#ended) throw new StateError('push after end');
    const bytes = bufferOf(chunk);
    let from = 0;
    while (this.#failure === undefined) {
      const end = bytes.indexOf(LF, from);
      this.#hold(bytes, from, end < 0 ? bytes.length : end);
      if (end < 0) break;
      this.#endLine(true);
      from = end + 1;
    }
    return this.#deliver();
  }

  /** No more input: the last items. @throws ProtocolError in strict mode, e.g. for a missing closing brace. */
  end(): AnnotationItem[] {
    if (this.#ended) throw new StateError('end after end');
    this.#ended = true;
    if (this.#failure === undefined && this.#held > 0) this.#endLine(false);
    if (this.#failure === undefined && this.#object !== undefined) {
      this.#report('SOIF-11.1', 'the input ends before the closing brace', false);
      if (this.#failure === undefined) this.#close();
    }
    if (this.#failure !== undefined) throw this.#failure;
    return this.#deliver();
  }

  #deliver(): AnnotationItem[] {
    if (this.#failure !== undefined && this.#items.length === 0) throw this.#failure;
    const items = this.#items;
    this.#items = [];
    return items;
  }

  #hold(bytes: Buffer, from: number, to: number): void {
    this.#held += to - from;
    // One byte more than the limit: the CR of CR LF is not part of the line.
    const room = this.#maxLine + 1 - this.#text.length;
    if (room > 0 && to > from) this.#text += bytes.toString('latin1', from, Math.min(to, from + room));
  }

  #endLine(complete: boolean): void {
    const cr = this.#held === this.#text.length && this.#text.endsWith('\r');
    const line = cr ? this.#text.slice(0, -1) : this.#text;
    if (this.#held - (cr ? 1 : 0) > this.#maxLine) {
      this.#reportTooLong(line);
    } else {
      if (cr && !this.#carriageReturn) this.#report('SOIF-2.6', 'CR LF line ends', false);
      if (cr) this.#carriageReturn = true;
      if (!complete && this.#strict) this.#report('SOIF-11.1', 'the last line has no end', false);
      if (this.#failure === undefined) this.#readLine(line);
    }
    this.#offset += this.#held + (complete ? 1 : 0);
    this.#line++;
    this.#text = '';
    this.#held = 0;
  }

  #reportTooLong(beginning: string): void {
    this.#report('SOIF-11.1', `a line of more than ${this.#maxLine} bytes`, true);
    if (!beginning.startsWith('@') || this.#failure !== undefined) return;
    this.#close();
    this.#lost = true;
  }

  #readLine(line: string): void {
    if (line.startsWith('@')) {
      this.#readHeader(line);
    } else if (this.#object === undefined) {
      // The warning about a dropped object covers its lines.
      if (trimSpace(line) === '' || this.#lost) return;
      this.#report('SOIF-11.1', 'text between objects', true);
    } else {
      this.#readAttributeLine(line, this.#object);
    }
  }

  #readHeader(line: string): void {
    if (this.#object !== undefined) {
      this.#report('SOIF-11.1', 'the object before has no closing brace', false);
      if (this.#failure !== undefined) return;
      this.#close();
    }
    const brace = line.indexOf('{');
    const type = trimSpace(line.slice(1, Math.max(1, brace)));
    const [, url = '', rest = ''] = /^([^\t\v\f\r ]*)(.*)$/s.exec(trimSpace(line.slice(brace + 1))) ?? [];
    const problem =
      brace < 0
        ? 'not of the form "@FILE { url"'
        : !isTemplateType(type)
          ? `not a template type: ${JSON.stringify(type)}`
          : url === '' || url.startsWith('{') || url === '}'
            ? 'the URL is missing'
            : undefined;
    if (problem !== undefined) {
      this.#lost = true;
      this.#report('SOIF-11.1', problem, true);
      return;
    }
    if (this.#strict && !EXACT_HEADER.test(line)) {
      this.#report('SOIF-2.2', 'white space is not as in "@FILE { url"', false);
      return;
    }
    const empty = trimSpace(rest) === '}';
    // SOIF-4.4: a URL with white space in it is the rest of the line; SOIF cannot hold it.
    const address = Buffer.from(empty ? url : url + rest, 'latin1');
    const unwritable = urlProblem(address, type);
    this.#lost = unwritable !== undefined;
    if (unwritable !== undefined) {
      this.#report('SOIF-2.9', unwritable, true);
      return;
    }
    this.#object = {
      offset: this.#offset,
      line: this.#line,
      type,
      url: address,
      pairs: [],
      names: new Set(),
      bytes: line.length,
    };
    if (empty) this.#close();
  }

  #readAttributeLine(line: string, object: OpenObject): void {
    const bare = trimSpace(line);
    if (bare === '}') {
      if (line !== '}') this.#reportWhitespace('white space around the closing brace');
      if (this.#failure === undefined) this.#close();
      return;
    }
    if (bare === '') {
      this.#reportWhitespace('an empty line within an object');
      return;
    }
    const [, indent, name, size, before, after, value = ''] = ATTRIBUTE.exec(line) ?? [];
    if (name === undefined) {
      this.#report('SOIF-11.1', 'not of the form "Name:", tab, value on one line', true);
      return;
    }
    if (indent !== '') this.#report('SOIF-11.1', `${name} does not begin in the first column`, false);
    else if (size !== undefined) this.#report('SOIF-11.1', `${name} has a size, which is ignored`, false);
    else if (before !== '') this.#report('SOIF-11.1', `white space before the colon of ${name}`, false);
    else if (after !== '\t')
      this.#report('SOIF-11.1', `not exactly one tab after the colon of ${name}`, false);
    if (this.#failure !== undefined) return;
    object.bytes += line.length + 1;
    if (object.bytes > this.#maxObject) {
      this.#object = undefined;
      this.#lost = true;
      this.#report('SOIF-11.1', `an object of more than ${this.#maxObject} bytes`, true);
      return;
    }
    const folded = name.toLowerCase();
    if (object.names.has(folded)) this.#report('SOIF-5.2', `${name} again: the last one counts`, false);
    object.names.add(folded);
    object.pairs.push([name, Buffer.from(value, 'latin1')]);
  }

  #close(): void {
    const object = this.#object;
    if (object === undefined) return;
    this.#object = undefined;
    const { type, url, pairs, offset, line } = object;
    this.#items.push({ kind: 'object', object: assemble(type, url, pairs), offset, line });
  }

  /** Harmless white space: an error in strict mode only. */
  #reportWhitespace(message: string): void {
    if (this.#strict) this.#report('SOIF-11.1', message, false);
  }

  #report(rule: string, message: string, dropped: boolean): void {
    const offset = this.#offset;
    const line = this.#line;
    if (this.#strict) {
      this.#failure ??= new ProtocolError(`line ${line}: ${message}`, { protocol: 'soif', rule, offset });
    } else {
      this.#items.push({ kind: 'warning', rule, offset, line, message, dropped });
    }
  }
}

/** Decodes a complete annotation file. @throws ProtocolError in strict mode (SOIF-11.1). */
export function decodeAnnotations(bytes: Uint8Array, options: AnnotationOptions = {}): AnnotationItem[] {
  const decoder = new AnnotationDecoder(options);
  return [...decoder.push(bytes), ...decoder.end()];
}
