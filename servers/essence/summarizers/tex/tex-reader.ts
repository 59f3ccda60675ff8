// Extracts text and fields from TeX and LaTeX sources without expanding macros.
import { namesByWord, wordSet } from '../../word-tables.js';
import { TEX_ACCENTS } from '../accents.js';
import { oneLine } from '../extracted.js';
import { SourceReader } from '../source-reader.js';
import {
  CHARACTERS,
  ENVIRONMENT_ARGUMENTS,
  FORMULAS,
  HEADINGS,
  Inclusions,
  NOTES,
  VERBATIM,
  WITHOUT_TEXT,
} from './commands.js';

/** What an address contains and a name does not. */
const ADDRESS =
  /\d|@|\b(?:universit|institut|depart|dept|laborator|school|college|facult|cent(?:er|re)\b|academy|inc\b|ltd\b|gmbh\b|corporation)/i;

/**
 * Splits the argument into one part for each author: at \and, and at line ends; lines below a name that are an
 * address are left out.
 */
function authorParts(raw: string): readonly string[] {
  return raw.split(/\\(?:and|And|AND|IEEEauthorblockN)(?![A-Za-z])/).flatMap((part) => {
    const lines = part.split(/\\\\(?:\[[^\]]{0,20}\])?/);
    return lines.filter((line, index) => index === 0 || !ADDRESS.test(line));
  });
}

/** The text and fields of a TeX source. */
export interface TexFields {
  readonly title: string[];
  readonly author: string[];
  /** As written; not `\today`. */
  readonly date: string[];
  readonly abstract: string[];
  readonly headings: string[];
  readonly references: string[];
  readonly keywords: string[];
}

/**
 * Maximum length of an argument that becomes a field, so that an unclosed brace does not consume the document.
 */
const MAX_FIELD = 20_000;
/**
 * Maximum number of unclosed braces, each of which costs a long search. Beyond it, arguments are not searched.
 */
const MAX_UNCLOSED = 50;
/** Maximum number of headings, of references and of keywords of one document. */
const MAX_FIELDS = 2000;

const DEFINITIONS = wordSet(
  'def edef gdef xdef let newcount newdimen newskip newtoks newbox font chardef mathchardef catcode',
);
const INCLUSIONS = wordSet('input include subfile subfileinclude loadglsentries');

/** Signs by their text; any other sign ends a paragraph. */
const SIGNS = namesByWord({ '': '{ } #', ' ': '~ & ^', _: '_', '“': '``', '”': "''", '–': '-- ---' });

/** Extracts the text of a TeX or LaTeX source without its commands, formulas and definitions, in one pass. */
export class TexReader extends SourceReader {
  readonly fields: TexFields = {
    title: [],
    author: [],
    date: [],
    abstract: [],
    headings: [],
    references: [],
    keywords: [],
  };
  /** The files that the source includes. */
  readonly inclusions = new Inclusions();
  /** False for the reader of a field's text, so that commands within a field add no fields. */
  readonly #collectsFields: boolean;
  readonly #out: string[] = [];
  #abstractFrom = -1;
  #begun = false;
  #unclosed = 0;
  readonly #missing = new Set<string>();

  constructor(source: string, collectsFields = true) {
    super(source);
    this.#collectsFields = collectsFields;
  }

  read(): string {
    const source = this.source;
    const special = /[\\%${}~&#^_]|``|''|---?|\n[ \t]*\n\s*/g;
    while (this.index < source.length) {
      special.lastIndex = this.index;
      const found = special.exec(source);
      if (found === null) {
        this.#out.push(source.slice(this.index));
        break;
      }
      this.#out.push(source.slice(this.index, found.index));
      this.index = found.index + found[0].length;
      this.#special(found[0]);
    }
    return this.#out.join('');
  }

  #special(token: string): void {
    if (token === '\\') this.#command();
    else if (token === '%') this.#comment();
    else if (token === '$') this.#formula();
    else this.#out.push(SIGNS.get(token) ?? '\n\n');
  }

  #comment(): void {
    const end = this.source.indexOf('\n', this.index);
    this.index = end < 0 ? this.source.length : end + 1;
  }

  /** Skips a formula up to its delimiter. A formula contains no blank line; a delimiter before one is text. */
  #formula(): void {
    const display = this.source[this.index] === '$';
    const end = display ? /\$\$|\n[ \t]*\n/g : /\\.|\$|\n[ \t]*\n/gs;
    const start = this.index + (display ? 1 : 0);
    end.lastIndex = start;
    let found = end.exec(this.source);
    while (found?.[0].startsWith('\\') === true) found = end.exec(this.source);
    if (found?.[0].startsWith('$')) this.index = end.lastIndex;
    else if (display) this.index = start;
    this.#out.push(' ');
  }

  #command(): void {
    const name = this.match(/[A-Za-z@]+\*?|[\s\S]/y)?.[0] ?? '';
    const plain = name.replace(/\*$/, '');
    if (/^[A-Za-z@]/.test(name)) this.#named(plain);
    else if (TEX_ACCENTS.has(name)) this.#accent(name);
    else if (name === '(' || name === '[') this.#skipPast(name === '(' ? '\\)' : '\\]');
    else if (name === '\\') this.#out.push('\n');
    else if ('&%#$_{}'.includes(name)) this.#out.push(name);
    else if (' \n\t,;:!'.includes(name)) this.#out.push(name === '!' ? '' : ' ');
  }

  #named(name: string): void {
    const character = CHARACTERS.get(name);
    if (character !== undefined) {
      this.#skipBlanks();
      this.#out.push(character);
    } else if (name.length === 1 && TEX_ACCENTS.has(name)) this.#accent(name);
    else if (name === 'verb') this.#verb();
    else if (name === 'begin' || name === 'end') this.#environment(name);
    else if (DEFINITIONS.has(name)) this.#definition(name);
    else if (INCLUSIONS.has(name)) this.#inclusion();
    else {
      if (this.#collectsFields) this.#field(name);
      const groups = !this.#collectsFields && NOTES.has(name) ? 1 : WITHOUT_TEXT.get(name);
      if (groups !== undefined) this.#skipArguments(groups);
      else this.#separate();
    }
  }

  /**
   * Skips the options after a command's name. Without options, a blank separates the texts on both sides of the
   * name if whitespace follows it; callers collapse runs of blanks. A brace after the name begins text.
   */
  #separate(): void {
    const found = this.match(/[ \t]*\[[^[\]]{0,300}\]/y);
    if (found === undefined && /\s/.test(this.source[this.index] ?? '')) this.#out.push(' ');
  }

  /** `\input{name}`; `\input name` of plain TeX ends at a blank. */
  #inclusion(): void {
    const group = this.#group();
    const written = group ?? this.match(/[ \t]*([^\s\\{}%#$&]{1,200})/y)?.[1];
    if (written !== undefined && this.#collectsFields) this.inclusions.add(written);
    this.#out.push(' ');
  }

  #skipBlanks(): void {
    while (/[ \t]/.test(this.source[this.index] ?? '')) this.index++;
  }

  #accent(name: string): void {
    const match = this.match(/\s*(?:\{\s*\\([ij])\s*\}|\\([ij])(?![A-Za-z])|\{\s*(\p{L})\s*\}|(\p{L}))/uy);
    if (match === undefined) return;
    const letter = match[1] ?? match[2] ?? match[3] ?? match[4]!;
    this.#out.push(`${letter}${TEX_ACCENTS.get(name)!}`.normalize('NFC'));
  }

  #verb(): void {
    const sign = this.source[this.index] ?? '';
    const end = this.#next(sign, this.index + 1);
    if (sign === '' || end < 0 || end - this.index > 1000) return;
    this.#out.push(this.source.slice(this.index + 1, end));
    this.index = end + 1;
  }

  #environment(which: string): void {
    const name = this.#group()?.trim() ?? '';
    if (which === 'end') {
      if (name === 'abstract' && this.#abstractFrom >= 0) {
        this.#add(this.fields.abstract, this.#out.slice(this.#abstractFrom).join(''));
        this.#abstractFrom = -1;
      }
      this.#out.push('\n');
      return;
    }
    if (FORMULAS.has(name)) {
      this.#skipPast(`\\end{${name}}`);
      return;
    }
    if (VERBATIM.has(name)) {
      const end = this.source.indexOf(`\\end{${name}}`, this.index);
      const stop = end < 0 ? this.source.length : end;
      this.#out.push('\n', this.source.slice(this.index, stop));
      this.index = stop;
      return;
    }
    this.#skipArguments(ENVIRONMENT_ARGUMENTS.get(name) ?? 0);
    this.#out.push('\n');
    if (name === 'abstract' && this.#collectsFields) this.#abstractFrom = this.#out.length;
    // The preamble contains settings. A second `\begin{document}` is an example.
    if (name === 'document' && !this.#begun) {
      this.#out.length = 0;
      this.#begun = true;
    }
  }

  /** Skips the definition of `\def\name#1{...}` and similar commands. */
  #definition(name: string): void {
    const head = /\s*\\(?:[A-Za-z@]+|.)[^{}\\\n]{0,100}(?:\\[A-Za-z@]+)?/y;
    head.lastIndex = this.index;
    const found = head.exec(this.source);
    if (found === null) return;
    if (name.endsWith('def') && name.length <= 4) {
      // Up to the brace only: a parameter text may contain commands.
      const brace = this.source.indexOf('{', this.index);
      if (brace < 0 || brace - this.index > 200) return;
      this.index = brace;
      this.#group();
    } else if (name === 'let' || name === 'font') {
      const end = this.source.indexOf('\n', this.index);
      this.index = Math.min(end < 0 ? this.source.length : end, this.index + found[0].length);
    } else {
      this.index += /\s*\\?(?:[A-Za-z@]+|.)/.exec(found[0])?.[0].length ?? 0;
    }
  }

  /** Collects a field; its content also remains in the text. */
  #field(name: string): void {
    const { fields } = this;
    if (
      name === 'title' ||
      name === 'author' ||
      name === 'date' ||
      name === 'keywords' ||
      name === 'abstract'
    ) {
      const raw = this.#peekGroup();
      if (raw === undefined) return;
      const parts = name === 'author' ? authorParts(raw) : [raw];
      for (const part of parts) this.#add(fields[name], part);
    } else if (HEADINGS.has(name)) {
      const raw = this.#peekGroup();
      if (raw !== undefined) this.#add(fields.headings, raw);
    } else if (name === 'index') {
      const raw = this.#peekGroup();
      if (raw !== undefined) this.#add(fields.keywords, raw.replace(/[!@|].*$/s, ''));
    } else if (name === 'href' || name === 'url') {
      const raw = this.#peekGroup()?.trim();
      if (raw !== undefined && raw !== '' && fields.references.length < MAX_FIELDS)
        fields.references.push(raw);
    } else if (name === 'bibitem') {
      const end = /\\bibitem\b|\\end\s*\{|\n[ \t]*\n/g;
      end.lastIndex = this.index;
      const stop = end.exec(this.source.slice(0, this.index + MAX_FIELD))?.index ?? this.index;
      const raw = this.source.slice(this.index, stop).replace(/^\s*(?:\[[^\]]*\]\s*)?\{[^}]*\}/, '');
      this.#add(fields.references, raw);
    }
  }

  #add(field: string[], raw: string): void {
    if (field.length >= MAX_FIELDS) return;
    const text = oneLine(new TexReader(raw.slice(0, MAX_FIELD), false).read());
    if (text !== '') field.push(text);
  }

  #skipArguments(groups: number): void {
    for (let remaining = groups; ; ) {
      if (this.match(/\s*\[[^\]]{0,500}\]|[ \t]*\*/y) !== undefined) continue;
      if (remaining-- <= 0) return;
      if (this.match(/\s*\\[A-Za-z@]+/y) === undefined && this.#group() === undefined) return;
    }
  }

  /** Returns the index of the next occurrence, or -1. Caches the texts that do not occur again. */
  #next(text: string, from = this.index): number {
    if (this.#missing.has(text)) return -1;
    const found = this.source.indexOf(text, from);
    if (found < 0) this.#missing.add(text);
    return found;
  }

  #skipPast(text: string): void {
    const end = this.#next(text);
    if (end >= 0) this.index = end + text.length;
    this.#out.push(' ');
  }

  #peekGroup(): string | undefined {
    const index = this.index;
    this.match(/\s*\[[^\]]{0,300}\]/y);
    const raw = this.#group();
    this.index = index;
    return raw;
  }

  /**
   * Consumes and returns the content of the next pair of braces. Consumes nothing and returns undefined if
   * there is no complete pair.
   */
  #group(): string | undefined {
    const source = this.source;
    let index = this.index;
    while (index < source.length && /\s/.test(source[index]!)) index++;
    if (source[index] !== '{' || this.#unclosed > MAX_UNCLOSED) return undefined;
    const start = index + 1;
    const limit = Math.min(source.length, start + MAX_FIELD);
    let depth = 0;
    for (; index < limit; index++) {
      const c = source[index];
      if (c === '\\') index++;
      else if (c === '{') depth++;
      else if (c === '}' && --depth === 0) {
        this.index = index + 1;
        return source.slice(start, index);
      }
    }
    this.#unclosed++;
    return undefined;
  }
}
