import { isLetter } from '../../../../protocols/ascii.js';
import { latin } from '../../bytes.js';
import type { SourceDocument, Summary } from '../../document.js';
import { namesByWord, wordSet } from '../../word-tables.js';
import { guarded, oneLine, openingText, present, tidyText } from '../extracted.js';
import { charsetOf, codePage, decodePage, PC_PAGES } from './code-pages.js';

/**
 * RTF: as HTML (6.2): emphasized words become keywords, paragraphs of heading styles headings, the text `body`;
 * title and author are those of the information group.
 */
export function summarizeRtf(document: SourceDocument): Summary {
  const reader = new RtfReader(document.body, document.settings.maxObjectBytes);
  guarded(document, 'RTF', undefined, () => reader.read(document.isOutOfTime));
  const text = tidyText(reader.text);
  const lines = (values: readonly string[]) =>
    [...new Set(values.map(oneLine))].filter((line) => line !== '').join('\n');
  const linkedUrls = document.outlinks === undefined ? [] : [...new Set(reader.links)];
  return {
    ...(linkedUrls.length === 0 ? {} : { linkedUrls }),
    attributes: present([
      ['Title', reader.information('title')],
      ['Author', reader.information('author')],
      ['Subject', reader.information('subject')],
      ['keywords', reader.information('keywords')],
      ['keywords', lines(reader.emphasized)],
      ['headings', lines(reader.headings)],
      ['url-references', lines(reader.links)],
      ['body', text],
    ]),
    description: openingText(text),
    text,
  };
}

/** Maximum depth of nested groups. */
const MAX_DEPTH = 500;
/** Bytes and control words between two looks at the time. */
const STEPS_PER_LOOK = 4096;
/** Maximum number of emphasized runs, of headings and of links. */
const MAX_RUNS = 2000;

/** Groups that contain no document text. */
const SKIPPED = wordSet(
  'fonttbl colortbl stylesheet listtable listoverridetable pict object objdata themedata colorschememapping datastore ' +
    'latentstyles rsidtbl generator filetbl revtbl xmlnstbl fldinst bkmkstart bkmkend template operator ' +
    'private1 passwordhash userprops company category doccomm hlinkbase mmathPr wgrffmtfilter pgptbl nonesttables xe tc rxe txe',
);
/** Fields of the information group. */
const INFORMATION = new Set(['title', 'author', 'subject', 'keywords']);

/** The text of control words that represent characters. */
const TEXT = namesByWord({
  '\n': 'par line row nestrow column softline',
  '\n\n': 'sect page',
  '\t': 'cell nestcell tab',
  ' ': 'emspace enspace qmspace',
  '—': 'emdash',
  '–': 'endash',
  '\u200d': 'zwj',
  '\u200c': 'zwnj',
  '•': 'bullet',
  '‘': 'lquote',
  '’': 'rquote',
  '“': 'ldblquote',
  '”': 'rdblquote',
});

const BREAKS = /[\n\t]/;

interface Group {
  /** Destination of text: none, the document, a table, a link, the information group, or a field of it. */
  target: 'text' | 'none' | 'fonts' | 'styles' | 'link' | 'information' | string;
  bold: boolean;
  /** Hidden or deleted text, which is not shown. */
  hidden: boolean;
  font: number;
  /** Number of fallback bytes after a `\u` character. */
  fallback: number;
}

/** Reads RTF: groups, control words, characters. */
class RtfReader {
  readonly emphasized: string[] = [];
  readonly headings: string[] = [];
  readonly links: string[] = [];
  readonly #bytes: Uint8Array;
  readonly #limit: number;
  readonly #parts: string[] = [];
  readonly #information = new Map<string, string>();
  readonly #charsets = new Map<number, string>();
  readonly #headingStyles = new Set<number>();
  #length = 0;
  #offset = 0;
  #stack: Group[] = [];
  #group: Group = { target: 'text', bold: false, hidden: false, font: -1, fallback: 1 };
  #page = 'windows-1252';
  #defaultFont = -1;
  /** Bytes of `\'hh` whose character is still incomplete. */
  #pending: number[] = [];
  #skip = 0;
  #ignorable = false;
  #run = '';
  #heading = false;
  #paragraph = '';
  #style = -1;
  #styleName = '';
  #link = '';

  constructor(bytes: Uint8Array, limit: number) {
    this.#bytes = bytes;
    this.#limit = limit;
  }

  get text(): string {
    return this.#parts.join('');
  }

  /** Returns a field of the information group. */
  information(name: string): string | undefined {
    const value = this.#information.get(name);
    return value === undefined ? undefined : oneLine(value);
  }

  /** Reads up to the end of the document, the limit of the text or the end of the time. */
  read(isOutOfTime: () => boolean): void {
    const bytes = this.#bytes;
    for (let steps = 1; this.#offset < bytes.length && this.#length < this.#limit; steps++) {
      if (steps % STEPS_PER_LOOK === 0 && isOutOfTime()) break;
      const code = bytes[this.#offset++]!;
      if (code === 0x7b) this.#open();
      else if (code === 0x7d) this.#close();
      else if (code === 0x5c) this.#control();
      else if (code !== 10 && code !== 13) this.#byte(code);
    }
    this.#flush();
    this.#endParagraph();
  }

  #open(): void {
    this.#flush();
    if (this.#stack.length >= MAX_DEPTH) throw new Error(`more than ${MAX_DEPTH} nested groups`);
    this.#stack.push({ ...this.#group });
    this.#skip = 0;
  }

  #close(): void {
    this.#flush();
    if (this.#group.target === 'link' && this.#stack[this.#stack.length - 1]?.target !== 'link')
      this.#endLink();
    if (this.#group.bold && this.#stack[this.#stack.length - 1]?.bold !== true) this.#endRun();
    this.#group = this.#stack.pop() ?? this.#group;
    this.#skip = 0;
  }

  #control(): void {
    const code = this.#bytes[this.#offset] ?? 0;
    if (!isLetter(code)) {
      this.#offset++;
      this.#symbol(code);
      return;
    }
    let name = '';
    while (isLetter(this.#bytes[this.#offset] ?? 0) && name.length < 32)
      name += String.fromCharCode(this.#bytes[this.#offset++]!);
    let digits = '';
    while (/[-\d]/.test(String.fromCharCode(this.#bytes[this.#offset] ?? 0)) && digits.length < 12) {
      digits += String.fromCharCode(this.#bytes[this.#offset++]!);
    }
    if (this.#bytes[this.#offset] === 0x20) this.#offset++;
    this.#word(name, digits === '' ? undefined : Number(digits));
  }

  #symbol(code: number): void {
    if (code === 0x27) {
      const value = Number.parseInt(latin(this.#bytes, this.#offset, this.#offset + 2), 16);
      this.#offset += 2;
      if (!Number.isNaN(value)) this.#byte(value);
    } else if (code === 0x2a) this.#ignorable = true;
    else if (code === 0x7e || code === 0x5f) {
      this.#flush();
      this.#text(code === 0x7e ? ' ' : '-');
    } else if (code === 10 || code === 13) this.#word('par', undefined);
    else if (code === 0x5c || code === 0x7b || code === 0x7d) this.#byte(code);
  }

  #word(name: string, value: number | undefined): void {
    this.#flush();
    const ignorable = this.#ignorable;
    this.#ignorable = false;
    const { target } = this.#group;
    if (this.#skip > 0 && name !== 'u') {
      // A control word that is a character counts as one of the fallback; any other ends it.
      const isCharacter = TEXT.has(name) && !BREAKS.test(TEXT.get(name)!);
      this.#skip = isCharacter ? this.#skip - 1 : 0;
      if (isCharacter) return;
    }
    if (name === 'u' && value !== undefined) {
      this.#text(String.fromCharCode(value & 0xffff));
      this.#skip = this.#group.fallback;
    } else if (name === 'uc') this.#group.fallback = Math.max(0, Math.min(8, value ?? 1));
    else if (name === 'bin') this.#offset += Math.max(0, value ?? 0);
    else if (name === 'ansicpg') this.#page = codePage(value ?? 1252);
    else if (name === 'mac') this.#page = 'macintosh';
    else if (PC_PAGES.has(name)) this.#page = codePage(PC_PAGES.get(name)!);
    else if (name === 'f' && value !== undefined) this.#group.font = value;
    else if (name === 'deff') this.#setDefaultFont(value ?? -1);
    else if (name === 'fcharset' && target === 'fonts') this.#setCharset(charsetOf(value ?? 0));
    else if (name === 'cpg' && target === 'fonts') this.#setCharset(codePage(value ?? 1252));
    else if (name === 'outlinelevel' && target === 'styles') this.#setHeadingStyle(value ?? 9);
    else if (name === 's' && value !== undefined) this.#setStyle(value);
    else if (name === 'fonttbl') this.#group.target = 'fonts';
    else if (name === 'stylesheet') this.#group.target = 'styles';
    else if (name === 'info') this.#group.target = 'information';
    else if (name === 'fldinst') this.#group.target = 'link';
    else if (INFORMATION.has(name) && target === 'information') this.#beginInformation(name);
    else if (name === 'ud' && target === 'information') return;
    else if (SKIPPED.has(name) || ignorable) this.#group.target = name === 'shptxt' ? target : 'none';
    else if (target === 'text') this.#format(name, value);
  }

  /** A field may be there twice: the second has the Unicode characters (`\upr`). */
  #beginInformation(name: string): void {
    this.#group.target = name;
    this.#information.delete(name);
  }

  #setDefaultFont(font: number): void {
    this.#defaultFont = font;
    this.#group.font = font;
  }

  /** Paragraphs of a level of the outline are headings, whatever the language of the style's name. */
  #setHeadingStyle(level: number): void {
    if (level < 9) this.#headingStyles.add(this.#style);
  }

  #setCharset(label: string | undefined): void {
    if (label !== undefined) this.#charsets.set(this.#group.font, label);
  }

  #setStyle(value: number): void {
    this.#style = value;
    if (this.#group.target === 'text') this.#heading = this.#headingStyles.has(value);
  }

  #format(name: string, value: number | undefined): void {
    if (name === 'b' || name === 'i' || name === 'ul') {
      const on = value !== 0;
      if (this.#group.bold && !on) this.#endRun();
      this.#group.bold = on;
    } else if (name === 'plain') {
      if (this.#group.bold) this.#endRun();
      this.#group.bold = false;
      this.#group.hidden = false;
      this.#group.font = this.#defaultFont;
    } else if (name === 'v' || name === 'deleted') this.#group.hidden = value !== 0;
    else if (name === 'pard') this.#heading = false;
    else if (name === 'outlinelevel') this.#heading = (value ?? 9) < 9;
    else {
      const text = TEXT.get(name);
      if (text === undefined) return;
      this.#text(text);
      if (text.startsWith('\n')) this.#endParagraph();
    }
  }

  #byte(code: number): void {
    if (this.#skip > 0) {
      this.#skip--;
      return;
    }
    this.#ignorable = false;
    this.#pending.push(code);
  }

  #flush(): void {
    if (this.#pending.length === 0) return;
    const text = decodePage(this.#pending, this.#charsets.get(this.#group.font) ?? this.#page);
    this.#pending = [];
    this.#text(text);
  }

  #text(text: string): void {
    const { target, hidden } = this.#group;
    if (target === 'text') {
      if (hidden) return;
      this.#parts.push(text);
      this.#length += text.length;
      if (this.#paragraph.length < 500) this.#paragraph += text;
      if (this.#group.bold && this.#run.length < 300) this.#run += text;
    } else if (target === 'styles') {
      this.#styleName += text;
      if (!this.#styleName.includes(';')) return;
      if (/^\s*heading|^\s*title/i.test(this.#styleName)) this.#headingStyles.add(this.#style);
      this.#styleName = '';
    } else if (target === 'link') {
      if (this.#link.length < 2000) this.#link += text;
    } else if (INFORMATION.has(target)) {
      this.#information.set(target, `${this.#information.get(target) ?? ''}${text}`.slice(0, 2000));
    }
  }

  #endRun(): void {
    if (this.#run.trim() !== '' && this.emphasized.length < MAX_RUNS) this.emphasized.push(this.#run);
    this.#run = '';
  }

  #endParagraph(): void {
    if (this.#group.bold) this.#endRun();
    if (this.#heading && this.#paragraph.trim() !== '' && this.headings.length < MAX_RUNS) {
      this.headings.push(this.#paragraph);
    }
    this.#paragraph = '';
  }

  #endLink(): void {
    // `\l "name"` is a place in the document, `\o "text"` a tip.
    const written = /HYPERLINK\s(.*)$/s
      .exec(this.#link)?.[1]
      ?.replace(/\\[a-z]\s*(?:"[^"]*"|(?=\\|$))/gi, ' ');
    const url = /^\s*(?:"([^"]*)"|([^\s"\\]\S*))/
      .exec(written ?? '')
      ?.slice(1)
      .map((found) => found?.trim())
      .find((found) => found !== undefined && found !== '');
    if (url !== undefined && this.links.length < MAX_RUNS) this.links.push(url);
    this.#link = '';
  }
}
