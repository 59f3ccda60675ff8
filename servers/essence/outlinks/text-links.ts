// References in plain text and in markup that is written by hand: URLs, and the targets of Markdown, AsciiDoc, Org, TeX.
import { bareUrl } from '../summarizers/markup/outline.js';
import { Inclusions } from '../summarizers/tex/commands.js';

/** Longest reference that is found; what is longer is no URL, and neither are its parts. */
const MAX_REFERENCE = 8192;
/** Characters of the longest match. */
const MAX_MATCH = MAX_REFERENCE + 64;

const TARGETS = {
  text: '',
  markdown: `\\]\\(\\s{0,9}<?([^\\s()<>]{1,${MAX_REFERENCE + 1}})|\\]:\\s{1,9}<?([^\\s<>]{1,${MAX_REFERENCE + 1}})|`,
  asciidoc: `(?:link|xref|image|include|video|audio)::?([^\\s\\[\\]]{1,${MAX_REFERENCE + 1}})|`,
  org: `\\[\\[(?:file:)?([^\\s\\[\\]]{1,${MAX_REFERENCE + 1}})|`,
  tex: `\\\\(?:input|include|subfile|subfileinclude|loadglsentries)(?:\\s{0,9}\\{|\\s{1,9})([^\\s{}\\\\%]{1,200})|`,
} as const;
const absolute = (ends: string): string =>
  `(?:https?|ftp|gopher)://[^\\s<>"\`{}|\\\\^${ends}]{1,${MAX_REFERENCE}}`;

/** How a text is written. */
export type TextKind = keyof typeof TARGETS;

const PATTERNS: Readonly<Record<TextKind, RegExp>> = {
  text: new RegExp(absolute(''), 'gi'),
  markdown: new RegExp(TARGETS.markdown + absolute(''), 'gi'),
  asciidoc: new RegExp(TARGETS.asciidoc + absolute('[\\]'), 'gi'),
  tex: new RegExp(TARGETS.tex + absolute(''), 'gi'),
  org: new RegExp(TARGETS.org + absolute('[\\]'), 'gi'),
};

/** Reads a text in pieces; calls back with each reference. Takes time in proportion to the text. */
export class TextReader {
  readonly #add: (reference: string) => void;
  readonly #pattern: RegExp;
  /** The end of the text so far, in which a match may begin. */
  #rest = '';

  constructor(kind: TextKind, add: (reference: string) => void) {
    this.#add = add;
    this.#pattern = PATTERNS[kind];
  }

  write(text: string): void {
    const whole = this.#rest + text;
    // So that each character is looked at twice at most.
    if (whole.length < 2 * MAX_MATCH) this.#rest = whole;
    else this.#rest = whole.slice(this.#read(whole, whole.length - MAX_MATCH));
  }

  end(): void {
    this.#read(this.#rest, this.#rest.length);
    this.#rest = '';
  }

  /** Reads the matches that begin before `limit`. Returns where the next one can begin. */
  #read(text: string, limit: number): number {
    const pattern = this.#pattern;
    pattern.lastIndex = 0;
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
      if (match.index >= limit) return limit;
      const end = pattern.lastIndex;
      const target = match.slice(1).find((group) => group !== undefined);
      if (target === undefined) this.#add(bareUrl(match[0]));
      else if (pattern === PATTERNS.tex) this.#include(target);
      // Words in brackets are no file names.
      else if (/[./]/.test(target)) this.#add(target);
      if (end >= limit) return end;
    }
    return limit;
  }

  #include(written: string): void {
    const file = new Inclusions().add(written);
    if (file !== undefined) this.#add(file.split('/').map(encodeURIComponent).join('/'));
  }
}

/** Calls back with each reference of a text. */
export function scanText(kind: TextKind, text: string, add: (reference: string) => void): void {
  const reader = new TextReader(kind, add);
  reader.write(text);
  reader.end();
}
