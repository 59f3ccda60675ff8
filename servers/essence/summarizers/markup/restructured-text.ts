import type { SourceDocument, Summary } from '../../document.js';
import { namesByWord, wordSet } from '../../word-tables.js';
import { bareUrl, type MarkupField, type Outline, summarizeOutline } from './outline.js';

/** Bibliographic fields of docutils, and those of the header of a Python enhancement proposal. */
const FIELDS: ReadonlyMap<string, MarkupField> = namesByWord({
  Title: 'title',
  Author: 'author authors',
  Date: 'date created',
  Description: 'abstract description',
  Keywords: 'keywords',
});

/**
 * Directives whose content is neither text nor program: trees of documents, other formats, formulas, settings.
 */
const SKIPPED = wordSet(
  'toctree contents raw math include literalinclude replace unicode date class role default-role highlight image index ' +
    'only sectnum header footer target-notes ifconfig graphviz digraph plot testsetup testcleanup',
);

/** Maximum depth of section titles; a document with more kinds of lines under its titles has the last level. */
const MAX_LEVELS = 20;

/** A line of punctuation below, or above and below, a title. */
const ADORNMENT = /^([!-/:-@[-`{-~])\1{1,}[ \t]*$/;

const INLINE = new RegExp(
  [
    // `text <url>`_ and `name`_, with or without a role
    '(?<role>:[\\w.+:-]{1,80}:)?`(?!`)(?<quoted>[^`]{1,2000})`(?<reference>__?)?',
    '``(?<literal>[^`]{1,2000})``',
    '\\*\\*(?<strong>[^*]{1,2000})\\*\\*',
    '(?<![\\w*])\\*(?<emphasis>[^*\\s](?:[^*]{0,1000}[^*\\s])?)\\*(?![\\w*])',
    '(?<url>(?:https?|ftp)://[^\\s<>"]+)',
    '\\|(?<substitution>[^|\\s][^|\\n]{0,80})\\|_{0,2}',
    '\\[(?<note>[#\\w*.-]{1,40})\\]_',
    '(?<=\\w)__?(?![\\w_])',
    '\\\\(?<escaped>[^\\s])?',
  ].join('|'),
  'gu',
);

/**
 * ReStructuredText (docutils): document title, bibliographic fields, section titles, targets; the Text rule on
 * the plain text.
 */
export function summarizeReStructuredText(document: SourceDocument): Summary {
  return summarizeOutline(document, 'reStructuredText', (source, outline) =>
    new RstReader(source.split('\n'), outline).read(),
  );
}

class RstReader {
  readonly #lines: readonly string[];
  readonly #outline: Outline;
  /** Kinds of adornments, in the order of their first occurrence, which is the order of the levels. */
  readonly #levels: string[] = [];
  #paragraph: string[] = [];
  #hasText = false;
  /** The paragraph before ended with `::`. */
  #isLiteralNext = false;
  #literalIndent = 0;

  constructor(lines: readonly string[], outline: Outline) {
    this.#lines = lines;
    this.#outline = outline;
  }

  read(): void {
    const lines = this.#lines;
    let index = 0;
    if (/^PEP: /.test(lines[0] ?? '')) index = this.#header(/^([A-Za-z-]+): (.*)$/, 0);
    while (index < lines.length && !this.#outline.isFull) index = this.#block(index);
    this.#flush();
  }

  /** Handles what begins at the line; returns the index of the next one. */
  #block(index: number): number {
    const line = this.#lines[index]!;
    if (line.trim() === '') {
      this.#flush();
      return index + 1;
    }
    if (this.#isLiteralNext && this.#paragraph.length === 0) {
      this.#isLiteralNext = false;
      if (/^\s/.test(line)) {
        const end = this.#indentedEnd(index, this.#literalIndent);
        this.#outline.text(dedented(this.#lines.slice(index, end)));
        if (end > index) return end;
      }
    }
    const title = this.#paragraph.length === 0 ? this.#title(index) : undefined;
    if (title !== undefined) return title;
    if (/^\.\.(?:\s|$)/.test(line.trimStart())) {
      this.#flush();
      return this.#explicit(index);
    }
    if (/^__ \S/.test(line)) {
      this.#outline.link(line.slice(3));
      return index + 1;
    }
    const field = /^:([^:\s][^:]{0,80}):(?:\s|$)/.test(line);
    if (field && this.#paragraph.length === 0)
      return this.#header(/^:([^:\s][^:]{0,80}):[ \t]*(.*)$/s, index);
    if (this.#paragraph.length === 0) this.#literalIndent = line.search(/\S/);
    const item = /^(\s*)(?:[-*+\u2022]|(?:\d{1,4}|#|[a-zA-Z])[.)])\s+/.exec(line);
    if (item !== null) this.#flush();
    this.#paragraph.push(line.slice(item?.[0].length ?? 0).trim());
    return index + 1;
  }

  /** A section title with its adornments. */
  #title(index: number): number | undefined {
    const [first = '', second = '', third = ''] = this.#lines.slice(index, index + 3);
    const over = ADORNMENT.exec(first);
    if (over !== null) {
      const closed = third.trimEnd() === first.trimEnd();
      if (!closed || second.trim() === '') {
        // A transition, or an incomplete table.
        return first.trimEnd().length >= 4 ? index + 1 : undefined;
      }
      this.#heading(second, `${over[1]}${over[1]}`);
      return index + 3;
    }
    const under = /^\s/.test(first) ? null : ADORNMENT.exec(second);
    if (under === null || second.trimEnd().length < Math.min(4, first.trimEnd().length)) return undefined;
    this.#heading(first, under[1]!);
    return index + 2;
  }

  #heading(written: string, style: string): void {
    let level = this.#levels.indexOf(style);
    if (level < 0) {
      if (this.#levels.length < MAX_LEVELS) this.#levels.push(style);
      level = this.#levels.length - 1;
    }
    const text = this.#inline(written.trim());
    this.#outline.heading(text, level + 1);
    this.#outline.text(text);
  }

  /**
   * A list of fields; those at the start of the document are its own. Returns the index of the line after them.
   */
  #header(pattern: RegExp, from: number): number {
    let index = from;
    for (
      let found = pattern.exec(this.#lines[index] ?? '');
      found !== null;
      found = pattern.exec(this.#lines[index] ?? '')
    ) {
      const end = this.#indentedEnd(index + 1, 0);
      const name = found[1]!.toLowerCase();
      const more = this.#lines.slice(index + 1, Math.min(end, index + 50));
      const items = more.map((line) => line.trim().replace(/^[-*] /, ''));
      const field = this.#hasText ? undefined : FIELDS.get(name);
      const values =
        name === 'authors' && more.length > 0 ? [found[2]!, ...items] : [[found[2]!, ...items].join(' ')];
      const text = values.map((value) => this.#inline(value));
      if (field === undefined) this.#outline.text(`${found[1]}: ${text.join(' ')}`);
      else {
        const separator = field === 'Keywords' ? /[,;]/ : field === 'Author' ? /;|,\s*\n?/ : /$(?![\s\S])/;
        for (const value of text) for (const one of value.split(separator)) this.#outline.field(field, one);
      }
      index = end;
    }
    return index;
  }

  /**
   * `.. ` and what it begins: target, directive, substitution, footnote or comment. Returns the index of the
   * line after it.
   */
  #explicit(index: number): number {
    const line = this.#lines[index]!;
    const indent = line.length - line.trimStart().length;
    const text = line.trim().slice(2).trim();
    const end = this.#indentedEnd(index + 1, indent);
    const target = /^_(?:`[^`]{1,500}`|(?:[^:\\]|\\.){0,500}):(?:\s+(\S.*))?$/.exec(text);
    if (target !== null) {
      const more = this.#lines.slice(index + 1, Math.min(end, index + 5)).map((part) => part.trim());
      const url = [target[1] ?? '', ...more].join('');
      if (!url.endsWith('_')) this.#outline.link(url);
      return end;
    }
    const directive = /^(?:\|[^|]{1,100}\|\s+)?([\w.:+-]{1,80}?)::(?:\s+(.*))?$/.exec(text);
    if (directive !== null)
      return this.#directive(directive[1]!.toLowerCase(), directive[2] ?? '', index + 1, end);
    const note = /^\[([^\]]{1,80})\](?:\s+(.*))?$/.exec(text);
    if (note === null) return end;
    if (note[2] !== undefined) this.#paragraph.push(note[2]);
    return index + 1;
  }

  /** Returns the index of the first line after the directive, or of its content, which is then read as text. */
  #directive(name: string, argument: string, from: number, end: number): number {
    let index = from;
    const options: (readonly [string, string])[] = [];
    for (; index < end; index++) {
      const option = /^\s+:([\w-]{1,80}):[ \t]*(.*)$/s.exec(this.#lines[index]!);
      if (option === null) break;
      options.push([option[1]!, option[2]!]);
    }
    if (name === 'title') this.#outline.field('Title', argument);
    if (name === 'image' || name === 'figure') {
      this.#outline.image(argument);
      for (const [key, value] of options)
        if (key === 'target' && !value.endsWith('_')) this.#outline.link(value);
    }
    if (name === 'meta') {
      for (const [key, value] of options) {
        const field = FIELDS.get(key.toLowerCase());
        if (field !== undefined) this.#outline.field(field, value);
      }
    }
    if (SKIPPED.has(name) || name === 'meta') return end;
    if (
      /^(?:code|code-block|sourcecode|parsed-literal|highlight|productionlist|doctest|prompt)$/.test(name)
    ) {
      this.#outline.text(dedented(this.#lines.slice(index, end)));
      return end;
    }
    // The argument of an admonition, a topic or a description of a function is text.
    if (argument !== '' && name !== 'figure') this.#paragraph.push(argument);
    return index;
  }

  /** Returns the index of the first line from `from` that is not blank and not indented by more than `indent`. */
  #indentedEnd(from: number, indent: number): number {
    let index = from;
    let end = from;
    for (; index < this.#lines.length; index++) {
      const line = this.#lines[index]!;
      const start = line.search(/\S/);
      if (start >= 0 && start <= indent) break;
      if (start >= 0) end = index + 1;
    }
    return end;
  }

  #flush(): void {
    if (this.#paragraph.length === 0) return;
    const text = this.#paragraph.filter((line) => !isTableRule(line)).join('\n');
    this.#paragraph = [];
    this.#isLiteralNext = text.endsWith('::');
    const plain = this.#inline(text.replace(/::$/, ':'));
    this.#hasText ||= /\p{L}{3}/u.test(plain);
    this.#outline.paragraph(plain);
  }

  #inline(source: string): string {
    return source.replace(INLINE, (...found) => this.#replacement(found.at(-1)));
  }

  #replacement(groups: Readonly<Record<string, string | undefined>>): string {
    const { quoted, literal, strong, emphasis, url, note, escaped } = groups;
    if (quoted !== undefined) {
      const target = quoted.endsWith('>') ? quoted.lastIndexOf('<') : -1;
      if (target < 0) return quoted;
      const written = quoted.slice(target + 1, -1).replace(/\s+/g, '');
      // A role refers to a name of the documentation, not to an address.
      if (groups.role === undefined && !written.endsWith('_')) this.#outline.link(written);
      return quoted.slice(0, target).trimEnd() || written;
    }
    const plain = literal ?? strong ?? emphasis;
    if (plain !== undefined) return plain;
    if (url !== undefined) {
      const bare = bareUrl(url);
      this.#outline.link(bare);
      return url;
    }
    if (note !== undefined) return `[${note}]`;
    if (escaped !== undefined) return escaped;
    return '';
  }
}

function dedented(lines: readonly string[]): string {
  let indent = Number.POSITIVE_INFINITY;
  for (const line of lines) {
    const start = line.search(/\S/);
    if (start >= 0 && start < indent) indent = start;
  }
  return Number.isFinite(indent) ? lines.map((line) => line.slice(indent)).join('\n') : '';
}

/** The lines of grid tables and simple tables. */
function isTableRule(line: string): boolean {
  return /^[+=|-][\s+=|-]*$/.test(line);
}
