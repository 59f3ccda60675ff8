import type { SourceDocument, SummarizerContext, Summary } from '../document.js';
import { namesByWord, wordPairs } from '../word-tables.js';
import { oneLine, present, summarizeFields } from './extracted.js';
import { SourceReader } from './source-reader.js';
import { TexReader } from './tex/tex-reader.js';
import { summarizeUnrecognized, withLineFeeds } from './text.js';

/** Maximum number of entries of one bibliography that are read. */
const MAX_ENTRIES = 5000;
/** Maximum number of fields of one refer file that are read. */
const MAX_REFER_FIELDS = 50_000;
/** Maximum length of one value, in characters. */
const MAX_VALUE = 20_000;

/** Attributes by BibTeX field (6.2). */
const BIBTEX: ReadonlyMap<string, string> = namesByWord({
  Author: 'author editor',
  Title: 'title',
  Journal: 'booktitle journal',
  Year: 'year date',
  Abstract: 'abstract',
  Keywords: 'keywords keyword',
});

/** Attributes by refer field (E-65). */
const REFER: ReadonlyMap<string, string> = wordPairs(`
  A Author C City D Date E Editor H Comments I Issuer J Journal K Keywords L Label N Number
  O Comments P Page-Number R Unpublished-Info S Series-Title T Title V Volume X Abstract
`);

/** Bibliographic: author and titles of every BibTeX entry (6.2). */
export function summarizeBibliographic(document: SourceDocument): Summary {
  const values: (readonly [string, string])[] = [];
  const { text } = document;
  const strings = new Map<string, string>();
  const entry = /@[ \t]*([A-Za-z]+)\s*[{(]/g;
  let entries = 0;
  for (
    let found = entry.exec(text);
    found !== null && entries < MAX_ENTRIES;
    found = entry.exec(text), entries++
  ) {
    const kind = found[1]!.toLowerCase();
    if (kind === 'comment' || kind === 'preamble') continue;
    const reader = new BibReader(text, entry.lastIndex, strings);
    for (const [name, value] of reader.fields(kind !== 'string')) {
      if (kind === 'string') strings.set(name, value.slice(0, MAX_VALUE));
      else values.push([BIBTEX.get(name) ?? '', plainText(value)]);
    }
    entry.lastIndex = Math.max(reader.index, entry.lastIndex);
  }
  const attributes = present(values.filter(([name]) => name !== ''));
  return summarizeFields({ attributes, text: attributes.map(([, value]) => value).join('\n') });
}

function plainText(value: string): string {
  return oneLine(new TexReader(value, false).read());
}

/** Reads the fields of one entry after its opening brace. */
class BibReader extends SourceReader {
  readonly #strings: ReadonlyMap<string, string>;

  constructor(text: string, index: number, strings: ReadonlyMap<string, string>) {
    super(text, index);
    this.#strings = strings;
  }

  fields(hasKey: boolean): [string, string][] {
    const fields: [string, string][] = [];
    if (hasKey) this.match(/[^,{}"=@]{0,300},/y);
    for (;;) {
      const found = this.match(/[\s,]*([A-Za-z][\w:.+/-]{0,60})\s*=\s*/y);
      if (found === undefined) return fields;
      fields.push([found[1]!.toLowerCase(), this.#value()]);
    }
  }

  /** Reads a value: texts in braces or quotes, numbers and names of strings, joined by `#`. */
  #value(): string {
    let value = '';
    for (;;) {
      const c = this.source[this.index];
      if (c === '{' || c === '"') value += this.#delimited(c);
      else {
        const found = this.match(/[^\s,#{}"=]+/y);
        if (found === undefined) return value;
        // Strings can be doubled by each other.
        if (value.length < MAX_VALUE) value += this.#strings.get(found[0].toLowerCase()) ?? found[0];
      }
      if (this.match(/\s*#\s*/y) === undefined) return value;
    }
  }

  #delimited(opening: string): string {
    const start = this.index + 1;
    const limit = Math.min(this.source.length, start + MAX_VALUE);
    let depth = 0;
    for (let index = start; index < limit; index++) {
      const c = this.source[index];
      if (c === '\\') index++;
      else if (c === '{') depth++;
      else if (
        (c === '"' && opening === '"' && depth === 0) ||
        (c === '}' && opening === '{' && depth === 0)
      ) {
        this.index = index + 1;
        return this.source.slice(start, index);
      } else if (c === '}') depth--;
    }
    this.index = limit;
    return '';
  }
}

/**
 * ReferBibliographic: the fields of E-65. A line without `%` continues the previous field. If the user's
 * quick-sum.cf has lines for this type, only those lines apply (example 4 of the manual); otherwise every value
 * would appear twice.
 */
export function summarizeRefer(document: SourceDocument, context: SummarizerContext): Summary {
  if (context.quick.has('ReferBibliographic')) return summarizeUnrecognized(document);
  const values: [string, string][] = [];
  for (const line of withLineFeeds(document.text).split('\n')) {
    if (values.length >= MAX_REFER_FIELDS) {
      document.warn(`fields beyond the first ${MAX_REFER_FIELDS} left out (E-45)`);
      break;
    }
    const found = /^%([A-Z])[ \t]+(.*)$/s.exec(line);
    const last = values[values.length - 1];
    if (found !== null) values.push([REFER.get(found[1]!) ?? '', found[2]!.trim()]);
    else if (line.trim() !== '' && last !== undefined && last[1].length < MAX_VALUE)
      last[1] += ` ${line.trim()}`;
    else if (line.trim() === '') values.push(['', '']);
  }
  const attributes = present(values.filter(([name]) => name !== ''));
  return summarizeFields({ attributes, text: attributes.map(([, value]) => value).join('\n') });
}
