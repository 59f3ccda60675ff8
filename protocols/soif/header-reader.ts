import { AT, isDigit, isSpace, LF, SP } from '../ascii.js';
import { Attempt, type Progress } from './attempt.js';
import { CLOSE_BRACE, OPEN_BRACE } from './bytes.js';
import { SECTION_WORD } from './names.js';
import type { Window } from './window.js';

/**
 * Reads the first line of an object: `@`, type, `{`, URL; or the opening of a section instead (SOIF-4.2, 8.9).
 */
export abstract class HeaderReader extends Attempt {
  protected typeEnd = 0;
  protected url = { start: 0, end: 0 };
  #lookahead = 0;
  #oddSeparatorAt = -1;

  protected beginHeader(start: number): void {
    this.#oddSeparatorAt = -1;
    this.url = { start, end: start };
    this.typeEnd = start + 1;
  }

  /** SOIF-4.2: the type extends to white space or the brace. */
  protected readType(window: Window): Progress | 'next' {
    for (; this.position < window.end; this.position++) {
      const byte = window.byteAt(this.position);
      if (isSpace(byte) || byte === OPEN_BRACE) {
        this.typeEnd = this.position;
        if (this.typeEnd === this.start + 1)
          return this.fail('SOIF-4.2', this.position, 'no template type after "@"');
        if (byte !== SP) this.#noteSeparator(this.position);
        this.state = 'open-brace';
        return 'next';
      }
      if (byte === 0xff) {
        if (this.limits.strict) return this.fail('SOIF-4.4', this.position, 'byte 0xFF in the template type');
        this.exact = false;
      }
      if (this.position - this.start > this.limits.maxUrlBytes)
        return this.fail('SOIF-4.4', this.start, 'the type is too long');
    }
    return 'more';
  }

  protected readOpenBrace(window: Window): Progress | 'next' {
    for (; this.position < window.end; this.position++) {
      const byte = window.byteAt(this.position);
      if (isSpace(byte)) {
        if (this.position > this.typeEnd) this.#noteSeparator(this.position);
        if (this.isTooLong(this.position)) return this.failTooLong();
        continue;
      }
      if (byte !== OPEN_BRACE) return this.fail('SOIF-4.2', this.position, 'no "{" after the template type');
      this.position++;
      this.#lookahead = this.position;
      this.mark = this.position;
      this.state = this.surroundings.sections && this.#isSectionWord(window) ? 'section-look' : 'url-start';
      return 'next';
    }
    return 'more';
  }

  /**
   * Notes that type and brace are not separated by one blank: allowed for a section (SOIF-8.9), not for a
   * strict object.
   */
  #noteSeparator(offset: number): void {
    if (this.#oddSeparatorAt < 0) this.#oddSeparatorAt = offset;
    this.exact = false;
  }

  #isSectionWord(window: Window): boolean {
    if (this.typeEnd - this.start > 8) return false;
    const word = Buffer.from(window.view(this.start + 1, this.typeEnd)).toString('latin1');
    this.sectionWord = word.toLowerCase();
    return SECTION_WORD.test(word);
  }

  /** SOIF-8.9, 8.10: a section's content begins with `@` or `}`, a URL never does. */
  protected lookForSection(window: Window): Progress | 'next' {
    for (; this.#lookahead < window.end; this.#lookahead++) {
      const byte = window.byteAt(this.#lookahead);
      if (isSpace(byte)) {
        if (this.isTooLong(this.#lookahead)) return this.failTooLong();
        continue;
      }
      // GATHERD-3.7: the stream may end in a section that has just been opened
      const isEndLine =
        this.surroundings.endLine && isDigit(byte) && window.byteAt(this.#lookahead - 1) === LF;
      if (byte !== AT && byte !== CLOSE_BRACE && !isEndLine) break;
      this.position = this.#lookahead;
      return 'section';
    }
    if (this.#lookahead === window.end) return 'more';
    this.state = 'url-start';
    return 'next';
  }

  protected readUrlStart(window: Window): Progress | 'next' {
    const { strict, dialect } = this.limits;
    for (; this.position < window.end; this.position++) {
      const byte = window.byteAt(this.position);
      if (byte === LF || byte === CLOSE_BRACE) {
        // SOIF-9.4: STARTS objects have no URL
        if (dialect !== 'starts')
          return this.fail('SOIF-4.4', this.position, 'the URL is missing or begins with "}"');
        if (strict && (byte !== LF || this.position > this.mark))
          return this.fail('SOIF-9.4', this.position, 'white space after "{"');
        if (strict && this.mark > this.typeEnd + 1)
          return this.fail('SOIF-9.4', this.typeEnd, 'white space before "{"');
        this.url = { start: this.position, end: this.position };
        this.exact = false;
        if (byte === LF) this.position++;
        this.state = 'attribute';
        return 'next';
      }
      if (isSpace(byte)) {
        if (byte !== SP || this.position > this.mark) {
          if (strict) return this.fail('SOIF-2.2', this.position, 'white space before the URL');
          this.exact = false;
        }
        if (this.isTooLong(this.position)) return this.failTooLong();
        continue;
      }
      if (strict && this.#oddSeparatorAt >= 0) {
        return this.fail('SOIF-2.2', this.#oddSeparatorAt, 'not one blank between the template type and "{"');
      }
      if (this.position === this.mark) {
        if (strict) return this.fail('SOIF-2.2', this.position, 'no blank after "{"');
        this.exact = false;
      }
      if (byte === OPEN_BRACE) {
        // SOIF-2.9: the C library would lose this brace
        if (strict) return this.fail('SOIF-4.4', this.position, 'the URL begins with "{"');
        this.exact = false;
      }
      this.mark = this.position;
      this.state = 'url';
      return 'next';
    }
    return 'more';
  }

  protected readUrl(window: Window): Progress | 'next' {
    for (; this.position < window.end; this.position++) {
      const byte = window.byteAt(this.position);
      if (isSpace(byte)) {
        this.url = { start: this.mark, end: this.position };
        if (byte === LF) {
          this.position++;
          this.state = 'attribute';
          return 'next';
        }
        if (this.limits.strict) return this.fail('SOIF-4.4', this.position, 'white space in the URL');
        this.exact = false;
        this.state = 'url-rest';
        return 'next';
      }
      if (byte === 0xff) {
        if (this.limits.strict && !this.limits.anyUrlByte)
          return this.fail('SOIF-4.4', this.position, 'byte 0xFF in the URL');
        this.exact = false;
      }
      if (this.position - this.mark >= this.limits.maxUrlBytes)
        return this.fail('SOIF-4.4', this.mark, 'the URL is too long');
    }
    return 'more';
  }

  /** After a URL that did not end with LF: the end of the line or object, or more of the URL. */
  protected readUrlRest(window: Window): Progress | 'next' {
    for (; this.position < window.end; this.position++) {
      const byte = window.byteAt(this.position);
      if (byte === LF || byte === CLOSE_BRACE) {
        if (byte === LF) this.position++;
        this.state = 'attribute';
        return 'next';
      }
      if (!isSpace(byte)) {
        this.warn('SOIF-4.4', this.url.end, 'white space in the URL');
        this.state = 'url-line';
        return 'next';
      }
      if (this.isTooLong(this.position)) return this.failTooLong();
    }
    return 'more';
  }

  /** SOIF-4.4: a URL with white space in it is the rest of the line. */
  protected readUrlLine(window: Window): Progress | 'next' {
    for (; this.position < window.end; this.position++) {
      const byte = window.byteAt(this.position);
      if (byte === LF) {
        this.position++;
        this.state = 'attribute';
        return 'next';
      }
      if (!isSpace(byte)) this.url.end = this.position + 1;
      if (this.position - this.mark >= this.limits.maxUrlBytes)
        return this.fail('SOIF-4.4', this.mark, 'the URL is too long');
    }
    return 'more';
  }
}
