import type { SourceDocument, Summary } from '../document.js';
import { wordSet } from '../word-tables.js';
import { boundedSource, oneLine, present, summarizeExtracted } from './extracted.js';
import { inlineText, MAX_FIELDS } from './texinfo-text.js';
import { firstParagraph } from './text.js';

const HEADINGS = wordSet(
  'part chapter unnumbered appendix chapheading centerchap majorheading section unnumberedsec appendixsec appendixsection heading ' +
    'subsection unnumberedsubsec appendixsubsec subheading subsubsection unnumberedsubsubsec appendixsubsubsec subsubheading',
);

/** Settings, and starts of environments whose arguments are layout. */
const WITHOUT_TEXT = wordSet(
  'c comment end node setfilename include clear dircategory documentencoding documentlanguage paragraphindent firstparagraphindent ' +
    'exampleindent finalout smallbook afourpaper afourlatex afourwide pagesizes setchapternewpage headings everyheading everyfooting ' +
    'oddheading evenheading oddfooting evenfooting contents shortcontents summarycontents page vskip sp need refill raisesections ' +
    'lowersections kbdinputstyle codequoteundirected codequotebacktick xrefautomaticsectiontitle footnotestyle alias ' +
    'definfoenclose clickstyle deftypefnnewline allowcodebreaks frenchspacing fonttextsize setcontentsaftertitlepage ' +
    'setshortcontentsaftertitlepage listoffloats novalidate unmacro microtype urefbreakstyle insertcopying itemize enumerate table ' +
    'ftable vtable multitable cartouche group flushleft flushright raggedright titlepage copying float indentedblock ' +
    'smallindentedblock ifset ifclear ifinfo ifplaintext ifnottex ifnothtml ifnotxml ifnotdocbook ifnotlatex documentdescription',
);

/** Environments in which quotes are program text. */
const EXAMPLES = wordSet('example smallexample lisp smalllisp display smalldisplay format smallformat');

/** Environments that are skipped: menus, definitions, and those for other output formats than plain text. */
const SKIPPED = wordSet(
  'ignore menu detailmenu direntry macro rmacro linemacro tex html xml docbook latex iftex ifhtml ifxml ifdocbook iflatex ' +
    'ifnotinfo ifnotplaintext displaymath',
);

/** Maximum number of variables of `@set`, and maximum length of each in characters. */
const MAX_VALUES = 1000;
const MAX_VALUE = 200;

/** Whether a source of type TeX is Texinfo: it loads Texinfo's macros first. */
export function isTexinfo(text: string): boolean {
  return /^\ufeff?\s{0,80}(?:(?:%|@c(?:omment)?\s|\\def)[^\n]{0,200}\n\s{0,80}){0,5}\\input\s{1,8}texinfo(?![A-Za-z])/.test(
    text.slice(0, 2000),
  );
}

/**
 * Texinfo (6.2, as TeX): title, authors, headings, addresses; the Text rule on the plain text that makeinfo
 * would print.
 */
export function summarizeTexinfo(document: SourceDocument): Summary {
  const reader = new TexinfoReader(boundedSource(document, 'Texinfo source').replace(/^\ufeff/, ''));
  const references: string[] = [];
  const text = inlineText(reader.read(), reader.values, references);
  const field = (raw: string): string => oneLine(inlineText(raw, reader.values, []));
  const all = (raws: readonly string[]): string[] => raws.map(field).filter((line) => line !== '');
  const headings = all(reader.headings);
  const summary = summarizeExtracted({
    attributes: present([
      ['Title', all([reader.settitle ?? '', reader.title ?? '', reader.top ?? ''])[0]],
      ['Author', all(reader.authors)],
      ['Headings', headings],
      ['References', new Set(references)],
    ]),
    text,
  });
  return { ...summary, description: opening(summary.text ?? '', headings) };
}

/** E-141: the first paragraph that is not a heading. */
function opening(text: string, headings: readonly string[]): string {
  const first = text
    .split('\n\n', 50)
    .find((part) => part.trim() !== '' && !headings.includes(oneLine(part)));
  return firstParagraph(first ?? '');
}

/** Interprets the line commands. The remaining text has only commands within lines. */
class TexinfoReader {
  settitle: string | undefined;
  title: string | undefined;
  top: string | undefined;
  readonly authors: string[] = [];
  readonly headings: string[] = [];
  readonly values = new Map<string, string>();
  readonly #lines: readonly string[];
  /**
   * The last end line of each environment. An environment without an end line must not consume the rest of the
   * document.
   */
  readonly #lastEnds = new Map<string, number>();
  readonly #out: string[] = [];
  #example: string | undefined;

  constructor(source: string) {
    this.#lines = source.split('\n');
    this.#lines.forEach((line, index) => {
      const name = endOf(line);
      if (name !== undefined) this.#lastEnds.set(name, index);
    });
  }

  read(): string {
    const lines = this.#lines;
    for (let index = 0; index < lines.length; index++) {
      const line = lines[index]!;
      const found = command(line);
      if (found?.name === 'bye') break;
      if (found === undefined) this.#plain(line);
      else if (this.#isSkipped(found) && (this.#lastEnds.get(found.name) ?? -1) > index) {
        index = this.#skipEnvironment(found.name, index);
      } else if (found.name === 'verbatim' && (this.#lastEnds.get('verbatim') ?? -1) > index) {
        index = this.#verbatim(index);
      } else this.#command(found, line);
    }
    return this.#out.join('\n');
  }

  #plain(line: string): void {
    // The line that loads the macros is TeX, not Texinfo.
    if (!line.startsWith('\\input')) this.#out.push(this.#example === undefined ? line : literalQuotes(line));
  }

  #isSkipped({ name, rest }: Command): boolean {
    if (name === 'ifset') return !this.values.has(rest);
    if (name === 'ifclear') return this.values.has(rest);
    return SKIPPED.has(name);
  }

  /**
   * Returns the line that ends the environment. Reads a title page even in an environment for TeX only, because
   * it states the authors.
   */
  #skipEnvironment(name: string, from: number): number {
    let depth = 1;
    let index = from + 1;
    for (; index < this.#lines.length; index++) {
      const found = command(this.#lines[index]!);
      if (found === undefined) continue;
      if (found.name === 'end' && found.rest === name && --depth === 0) break;
      if (found.name === name && name.startsWith('if')) depth++;
      // A menu ends with its node at the latest.
      if (found.name === 'node' && /^(?:menu|detailmenu|direntry)$/.test(name)) return index;
      if (name.startsWith('if')) this.#titlePage(found);
    }
    return index;
  }

  #verbatim(from: number): number {
    let index = from + 1;
    for (; index < this.#lines.length && endOf(this.#lines[index]!) !== 'verbatim'; index++) {
      this.#out.push(literalQuotes(this.#lines[index]!.replace(/[@{}]/g, '@$&')));
    }
    return index;
  }

  #command(found: Command, line: string): void {
    const { name, rest } = found;
    if (this.#titlePage(found)) return;
    if (name === 'end') {
      if (rest === this.#example) this.#example = undefined;
    } else if (EXAMPLES.has(name)) {
      this.#example ??= name;
    } else if (name === 'set') {
      const [, key, value] = /^(\S+)\s*(.*)$/.exec(rest) ?? [];
      if (key !== undefined && this.values.size < MAX_VALUES) {
        this.values.set(key, (value ?? '').slice(0, MAX_VALUE));
      }
    } else if (name === 'top') {
      this.top ??= rest;
    } else if (HEADINGS.has(name)) {
      if (this.headings.length < MAX_FIELDS && rest !== '') this.headings.push(rest);
      this.#out.push('', rest, '');
    } else if (!isIndex(name) && !WITHOUT_TEXT.has(name)) {
      this.#plain(line);
    }
    // A command between paragraphs adds no line.
  }

  /** Handles a line of the title page; returns whether it was one. */
  #titlePage({ name, rest }: Command): boolean {
    if (name === 'settitle') this.settitle ??= rest;
    else if (name === 'title') this.title ??= rest;
    else if (name === 'shorttitlepage') this.title ??= rest;
    else if (name === 'author') {
      if (this.authors.length < MAX_FIELDS) this.authors.push(rest);
    } else return false;
    return true;
  }
}

interface Command {
  readonly name: string;
  /** The rest of the line. */
  readonly rest: string;
}

/** Returns the command of a line that consists of one; a command with braces is part of the text. */
function command(line: string): Command | undefined {
  const found = /^[ \t]*@([A-Za-z]+)(?![A-Za-z{])/.exec(line);
  return found === null
    ? undefined
    : {
        name: found[1]!,
        rest: line
          .slice(found[0].length)
          .replace(/(?<!@)@c(?:omment)?\s.*/, '')
          .trim(),
      };
}

function endOf(line: string): string | undefined {
  return /^[ \t]*@end[ \t]+([A-Za-z]+)/.exec(line)?.[1];
}

/**
 * Whether a command is of an index: `@cindex`, `@findex`, one that the document defines, `@printindex`,
 * `@defcodeindex`.
 */
function isIndex(name: string): boolean {
  return name.endsWith('index');
}

/**
 * Inserts `@:`, which prints nothing, between two quotes of a program, so that they do not become a quotation
 * mark.
 */
function literalQuotes(line: string): string {
  return line.replace(/'(?=')|`(?=`)/g, '$&@:');
}
