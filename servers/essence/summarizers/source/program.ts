import type { SourceDocument, Summary } from '../../document.js';
import { boundedSource, openingText } from '../extracted.js';
import { LANGUAGES, type Language } from './languages.js';
import { type Comment, SpanReader } from './spans.js';

/** Maximum number of names, imports and comments of one program. */
const MAX_NAMES = 5000;
/** Maximum length of the description, in characters. */
const MAX_DESCRIPTION = 256 * 1024;

const READERS = new Map<Language, SpanReader>();

/**
 * Programs (E-75): names of declarations, imports, comments. The description begins with the comments that
 * document something; other comments, as a license, follow. The title is the module and the type that the
 * program itself names.
 */
export function summarizeProgram(document: SourceDocument, type: string): Summary {
  const language = LANGUAGES.get(type);
  if (language === undefined) return { attributes: [] };
  const source = boundedSource(document, 'program');
  let reader = READERS.get(language);
  if (reader === undefined) {
    reader = new SpanReader(language.spans);
    READERS.set(language, reader);
  }
  const { code, comments } = reader.split(source);
  const texts = documentationFirst(comments, source, language);
  const description = texts.join('\n');
  return {
    attributes: [
      ['Title', titleOf(code, language)],
      ['Description', description],
      ['References', names(code, language.imports).join('\n')],
      ['Keywords', names(code, language.declarations, language.keywords).join('\n')],
    ],
    description: openingText(description),
  };
}

/** The module, with the main type of a language that has one type for each file. */
function titleOf(code: string, { module, mainType }: Language): string {
  const name = module?.exec(code)?.[1] ?? '';
  const main = mainType?.pattern.exec(code)?.[1];
  if (mainType === undefined || main === undefined) return name;
  return name === '' ? main : `${name}${mainType.separator}${main}`;
}

function names(code: string, patterns: readonly RegExp[], keywords?: ReadonlySet<string>): string[] {
  const found = new Set<string>();
  for (const pattern of patterns) {
    for (const match of code.matchAll(pattern)) {
      for (const written of membersOf(match[1]!)) {
        const name = written
          .trim()
          .replace(/\s+as\s.*$/s, '')
          .replace(/(?:::|\.)$/, '');
        if (name !== '' && keywords?.has(name) !== true) found.add(name);
      }
      if (found.size >= MAX_NAMES) return [...found];
    }
  }
  return [...found];
}

/** The names of a list. */
function membersOf(list: string): string[] {
  return list.startsWith('(')
    ? Array.from(list.matchAll(/"([^"\n]{1,300})"/g), ([, name]) => name!)
    : list.split(',');
}

function documentationFirst(
  comments: readonly Comment[],
  source: string,
  { documented }: Language,
): string[] {
  const docs: string[] = [];
  const others: string[] = [];
  let length = 0;
  // Comments by lines are documentation if the last of them is.
  let pending: string[] = [];
  comments.forEach(({ text, isDoc, end }, index) => {
    if (length > MAX_DESCRIPTION) return;
    const clean = cleanComment(text);
    length += clean.length;
    if (isDoc) {
      docs.push(clean);
      return;
    }
    const isAlone = startsLine(source, end - text.length);
    pending.push(clean);
    const next = comments[index + 1];
    const isContinued =
      isAlone &&
      next !== undefined &&
      /^\n[ \t]{0,200}$/.test(source.slice(end, Math.min(end + 202, next.end - next.text.length)));
    if (isContinued) return;
    if (documented !== undefined) documented.lastIndex = end;
    (isAlone && documented?.test(source) === true ? docs : others).push(...pending);
    pending = [];
  });
  return [...docs, ...others, ...pending].filter((text) => text !== '');
}

/** Whether only blanks precede the index on its line. */
function startsLine(source: string, index: number): boolean {
  return /(?:^|\n)[ \t]*$/.test(source.slice(Math.max(0, index - 100), index));
}

/**
 * Without the mark that ends a comment. An expression would try each of many asterisks as the first one of the
 * mark.
 */
function withoutEnd(text: string): string {
  if (text.endsWith('*/')) {
    let end = text.length - 1;
    while (end > 0 && text[end - 1] === '*') end--;
    return text.slice(0, end);
  }
  const mark = ['"""', "'''", '\n=end'].find((ending) => text.endsWith(ending));
  return mark === undefined ? text : text.slice(0, -mark.length);
}

/** Without the marks of comments, rulers and the elements of C#. */
function cleanComment(text: string): string {
  return withoutEnd(text.replace(/^(?:\/\/[/!]*|\/\*[*!]*|#+|--+|=begin|[rRuU]?(?:"""|'''))/, ''))
    .split('\n')
    .map((line) =>
      line
        .replace(/^[ \t]*\*+(?![*\w])/, '')
        .replace(/[#*=_~-]{4,}/g, '')
        .replace(
          /<\/?(?:summary|remarks|para|param|returns|see|c|code|example|exception|value|typeparam)\b[^<>]{0,200}>/g,
          '',
        )
        .trim(),
    )
    .filter((line) => line !== '')
    .join('\n');
}
