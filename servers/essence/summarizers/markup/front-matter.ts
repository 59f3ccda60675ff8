import { namesByWord } from '../../word-tables.js';
import type { MarkupField, Outline } from './outline.js';

/** Maximum length of the fields before a document, in characters. */
const MAX_FRONT_MATTER = 64 * 1024;

const FIELDS: ReadonlyMap<string, MarkupField> = namesByWord({
  Title: 'title',
  Author: 'author authors',
  Date: 'date published',
  Description: 'description summary abstract excerpt',
  Keywords: 'keywords tags',
});

/**
 * Reads the fields before a document: YAML between lines of `---`, TOML between lines of `+++`, or the three
 * lines of Pandoc that begin with `%`. Of YAML it reads scalars, lists and the names in lists of persons;
 * everything else is ignored.
 *
 * @returns the text after them; the whole text without fields
 */
export function readFrontMatter(text: string, outline: Outline): string {
  const fence = /^(---|\+\+\+)[ \t]*\n/.exec(text);
  if (fence === null) return text.startsWith('% ') ? readPandoc(text, outline) : text;
  const head = text.slice(fence[0].length, MAX_FRONT_MATTER);
  const end = (fence[1] === '---' ? /^(?:---|\.\.\.)[ \t]*$/m : /^\+\+\+[ \t]*$/m).exec(head);
  if (end === null) return text;
  const lines = head.slice(0, end.index).split('\n');
  // A text between two thematic breaks has no fields.
  if (!lines.some((line) => /^[\w"-]+ *[:=]/.test(line)) && lines.some((line) => line.trim() !== ''))
    return text;
  if (fence[1] === '---') readYaml(lines, outline);
  else readToml(lines, outline);
  return text.slice(fence[0].length + end.index + end[0].length);
}

function readPandoc(text: string, outline: Outline): string {
  const fields: readonly MarkupField[] = ['Title', 'Author', 'Date'];
  let rest = text;
  for (const field of fields) {
    const line = /^%(?: ([^\n]*))?(?:\n|$)/.exec(rest);
    if (line === null) break;
    const value = line[1] ?? '';
    for (const one of field === 'Author' ? value.split(';') : [value]) outline.field(field, one);
    rest = rest.slice(line[0].length);
  }
  return rest;
}

function readYaml(lines: readonly string[], outline: Outline): void {
  let field: MarkupField | undefined;
  let value: string | undefined;
  const flush = () => {
    if (field !== undefined && value !== undefined) addValues(field, value, outline);
    value = undefined;
  };
  for (const line of lines) {
    const entry = /^["']?([A-Za-z_][\w-]{0,60})["']?:(?:[ \t]+(.*))?$/s.exec(line);
    if (entry !== null) {
      flush();
      field = FIELDS.get(entry[1]!.toLowerCase());
      value = (entry[2] ?? '').replace(/^[|>][+-]?\d?[ \t]*$/, '');
      continue;
    }
    if (field === undefined) continue;
    const inner = line.trim();
    const isItem = /^-[ \t]/.test(inner);
    const content = isItem ? inner.slice(1).trimStart() : inner;
    const pair = /^\{?[ \t]*([A-Za-z_][\w-]{0,60}):[ \t]+(.*)$/s.exec(content);
    if (isItem) flush();
    if (field === 'Author' && pair !== null) {
      if (pair[1] === 'name') addValues(field, pair[2]!.replace(/[,}].*$/s, ''), outline);
    } else if (isItem) value = content;
    else if (pair === null && /^\s/.test(line) && value !== undefined && value.length < 4096) {
      value += ` ${inner}`;
    }
  }
  flush();
}

function readToml(lines: readonly string[], outline: Outline): void {
  for (const line of lines) {
    // The fields of tables are of others.
    if (line.startsWith('[')) return;
    const [, key, value] = /^([A-Za-z_][\w-]{0,60})[ \t]*=[ \t]*(.*)$/s.exec(line) ?? [];
    const field = FIELDS.get(key?.toLowerCase() ?? '');
    if (field !== undefined && value !== undefined) addValues(field, value, outline);
  }
}

/** Adds a scalar, or the members of a list in brackets; keywords may also be separated by commas. */
function addValues(field: MarkupField, written: string, outline: Outline): void {
  const value = written.trim();
  const isList = value.startsWith('[') && value.endsWith(']');
  if (!isList && field !== 'Keywords') {
    outline.field(field, unquoted(value));
    return;
  }
  const members = isList ? value.slice(1, -1) : unquoted(value);
  for (const member of members.split(',')) outline.field(field, unquoted(member.trim()));
}

function unquoted(value: string): string {
  const quote = value[0];
  if ((quote !== '"' && quote !== "'") || value.length < 2 || !value.endsWith(quote)) {
    return value.startsWith('#') ? '' : value;
  }
  const inner = value.slice(1, -1);
  return quote === "'" ? inner.replaceAll("''", "'") : inner.replace(/\\(["\\])/g, '$1');
}
