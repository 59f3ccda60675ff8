import { isDigit, isSpace, LF, SP } from '../ascii.js';
import { Attempt, type Progress } from './attempt.js';
import { AT, CLOSE_BRACE, OPEN_BRACE } from './bytes.js';
import type { Window } from './window.js';

const SECTION_WORD = /^(?:DELETE|REFRESH|UPDATE)$/i;

/** Reads the first line of an object: `@`, type, `{`, URL; or the opening of a section instead (SOIF-4.2, 8.9). */
export abstract class HeaderReader extends Attempt {
  protected typeEnd = 0;
  protected url = { start: 0, end: 0 };
  private look = 0;
  private oddAt = -1;

  protected beginHeader(start: number): void {
    this.oddAt = -1;
    this.url = { start, end: start };
    this.typeEnd = start + 1;
  }

  /** SOIF-4.2: the type extends to white space or the brace. */
  protected readType(window: Window): Progress | 'next' {
    for (; this.at < window.end; this.at++) {
      const byte = window.at(this.at);
      if (isSpace(byte) || byte === OPEN_BRACE) {
        this.typeEnd = this.at;
        if (this.typeEnd === this.start + 1)
          return this.fail('SOIF-4.2', this.at, 'no template type after "@"');
        if (byte !== SP) this.odd(this.at);
        this.state = 'open-brace';
        return 'next';
      }
      if (byte === 0xff) {
        if (this.limits.strict) return this.fail('SOIF-4.4', this.at, 'byte 0xFF in the template type');
        this.exact = false;
      }
      if (this.at - this.start > this.limits.maxUrlBytes)
        return this.fail('SOIF-4.4', this.start, 'the type is too long');
    }
    return 'more';
  }

  protected readOpenBrace(window: Window): Progress | 'next' {
    for (; this.at < window.end; this.at++) {
      const byte = window.at(this.at);
      if (isSpace(byte)) {
        if (this.at > this.typeEnd) this.odd(this.at);
        if (this.tooLong(this.at)) return this.failTooLong();
        continue;
      }
      if (byte !== OPEN_BRACE) return this.fail('SOIF-4.2', this.at, 'no "{" after the template type');
      this.at++;
      this.look = this.at;
      this.mark = this.at;
      this.state = this.surroundings.sections && this.isSectionWord(window) ? 'section-look' : 'url-start';
      return 'next';
    }
    return 'more';
  }

  /** Notes that type and brace are not separated by one blank: allowed for a section (SOIF-8.9), not for a strict object. */
  private odd(at: number): void {
    if (this.oddAt < 0) this.oddAt = at;
    this.exact = false;
  }

  private isSectionWord(window: Window): boolean {
    if (this.typeEnd - this.start > 8) return false;
    const word = Buffer.from(window.view(this.start + 1, this.typeEnd)).toString('latin1');
    this.word = word.toLowerCase();
    return SECTION_WORD.test(word);
  }

  /** SOIF-8.9, 8.10: a section's content begins with `@` or `}`, a URL never does. */
  protected lookForSection(window: Window): Progress | 'next' {
    for (; this.look < window.end; this.look++) {
      const byte = window.at(this.look);
      if (isSpace(byte)) {
        if (this.tooLong(this.look)) return this.failTooLong();
        continue;
      }
      // GATHERD-3.7: the stream may end in a section that has just been opened
      const ends = this.surroundings.endLine && isDigit(byte) && window.at(this.look - 1) === LF;
      if (byte !== AT && byte !== CLOSE_BRACE && !ends) break;
      this.at = this.look;
      return 'section';
    }
    if (this.look === window.end) return 'more';
    this.state = 'url-start';
    return 'next';
  }

  protected readUrlStart(window: Window): Progress | 'next' {
    const { strict, dialect } = this.limits;
    for (; this.at < window.end; this.at++) {
      const byte = window.at(this.at);
      if (byte === LF || byte === CLOSE_BRACE) {
        // SOIF-9.4: STARTS objects have no URL
        if (dialect !== 'starts') return this.fail('SOIF-4.4', this.at, 'the URL is missing');
        if (strict && (byte !== LF || this.at > this.mark))
          return this.fail('SOIF-9.4', this.at, 'white space after "{"');
        this.url = { start: this.at, end: this.at };
        this.exact = false;
        if (byte === LF) this.at++;
        this.state = 'attribute';
        return 'next';
      }
      if (isSpace(byte)) {
        if (byte !== SP || this.at > this.mark) {
          if (strict) return this.fail('SOIF-2.2', this.at, 'white space before the URL');
          this.exact = false;
        }
        if (this.tooLong(this.at)) return this.failTooLong();
        continue;
      }
      if (strict && this.oddAt >= 0) {
        return this.fail('SOIF-2.2', this.oddAt, 'not one blank between the template type and "{"');
      }
      if (this.at === this.mark) {
        if (strict) return this.fail('SOIF-2.2', this.at, 'no blank after "{"');
        this.exact = false;
      }
      if (byte === OPEN_BRACE) {
        // SOIF-2.9: the C library would lose this brace
        if (strict) return this.fail('SOIF-4.4', this.at, 'the URL begins with "{"');
        this.exact = false;
      }
      this.mark = this.at;
      this.state = 'url';
      return 'next';
    }
    return 'more';
  }

  protected readUrl(window: Window): Progress | 'next' {
    for (; this.at < window.end; this.at++) {
      const byte = window.at(this.at);
      if (isSpace(byte)) {
        this.url = { start: this.mark, end: this.at };
        if (byte === LF) {
          this.at++;
          this.state = 'attribute';
          return 'next';
        }
        if (this.limits.strict) return this.fail('SOIF-4.4', this.at, 'white space in the URL');
        this.exact = false;
        this.state = 'url-rest';
        return 'next';
      }
      if (byte === 0xff) {
        if (this.limits.strict) return this.fail('SOIF-4.4', this.at, 'byte 0xFF in the URL');
        this.exact = false;
      }
      if (this.at - this.mark >= this.limits.maxUrlBytes)
        return this.fail('SOIF-4.4', this.mark, 'the URL is too long');
    }
    return 'more';
  }

  /** After a URL that did not end with LF: the end of the line or object, or more of the URL. */
  protected readUrlRest(window: Window): Progress | 'next' {
    for (; this.at < window.end; this.at++) {
      const byte = window.at(this.at);
      if (byte === LF || byte === CLOSE_BRACE) {
        if (byte === LF) this.at++;
        this.state = 'attribute';
        return 'next';
      }
      if (!isSpace(byte)) {
        this.warn('SOIF-4.4', this.url.end, 'white space in the URL');
        this.state = 'url-line';
        return 'next';
      }
      if (this.tooLong(this.at)) return this.failTooLong();
    }
    return 'more';
  }

  /** SOIF-4.4: a URL with white space in it is the rest of the line. */
  protected readUrlLine(window: Window): Progress | 'next' {
    for (; this.at < window.end; this.at++) {
      const byte = window.at(this.at);
      if (byte === LF) {
        this.at++;
        this.state = 'attribute';
        return 'next';
      }
      if (!isSpace(byte)) this.url.end = this.at + 1;
      if (this.at - this.mark >= this.limits.maxUrlBytes)
        return this.fail('SOIF-4.4', this.mark, 'the URL is too long');
    }
    return 'more';
  }
}
