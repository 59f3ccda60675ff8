import type { SourceDocument, Summary } from '../../document.js';
import { namesByWord } from '../../word-tables.js';
import { boundedSource, oneLine, present, summarizeExtracted } from '../extracted.js';
import { summarizeManPage } from '../man-page.js';
import { macroArguments, removeEscapes } from './escapes.js';
import { defineString, expandStrings, roffText } from './roff-text.js';

type Field = 'title' | 'author' | 'abstract' | 'heading' | 'none';

/**
 * E-74: macros of -ms, -me and -mm that begin a field; the lines up to the next macro of the list belong to it.
 */
const FIELDS: ReadonlyMap<string, Field> = namesByWord({
  title: 'TL',
  author: 'AU',
  none: 'AI AF AE PP LP P pp lp ip IP bp',
  abstract: 'AB AS',
  heading: 'SH NH H HU sh uh',
});

/** Maximum number of headings of one document. */
const MAX_HEADINGS = 2000;

/**
 * Troff: title, author, abstract and headings by the macros of -ms, -me and -mm (E-74), then the Text rule. A
 * manual page is summarized as one.
 */
export function summarizeTroff(document: SourceDocument): Summary {
  if (/^\.[ \t]*(?:TH|Dt)[ \t]/m.test(document.text)) return summarizeManPage(document);
  const source = boundedSource(document, 'troff source');
  const found: Record<Exclude<Field, 'none'>, string[]> = {
    title: [],
    author: [],
    abstract: [],
    heading: [],
  };
  // A document may define a macro of the same name for something else.
  const own = new Set(Array.from(source.matchAll(/^[.']de1?[ \t]+(\S{1,20})/gm), ([, name]) => name));
  let field: Field = 'none';
  let words: string[] = [];
  const flush = () => {
    const text = field === 'abstract' ? words.join('\n') : oneLine(words.join(' '));
    if (field !== 'none' && text !== '' && found[field].length < MAX_HEADINGS) found[field].push(text);
    words = [];
  };
  for (const line of source.split('\n')) {
    const macro = /^[.'][ \t]*([A-Za-z]{1,3})(?:[ \t]+(.*))?$/s.exec(line);
    if (macro === null) {
      if (field !== 'none' && !/^[.']/.test(line)) words.push(removeEscapes(line));
      continue;
    }
    const next = own.has(macro[1]!) ? undefined : FIELDS.get(macro[1]!);
    const args = macroArguments(macro[2] ?? '');
    if (next === undefined) {
      if (field !== 'none' && /^(?:B|I|R|BI|SM|CW|ul|b|i)$/.test(macro[1]!)) words.push(args.join(' '));
      continue;
    }
    flush();
    field = next;
    if (next === 'heading') {
      const level = /^(?:H|NH|sh)$/.test(macro[1]!) ? args.slice(1) : args;
      words.push(...level);
      if (level.length > 0) {
        flush();
        field = 'none';
      }
    }
  }
  flush();
  const page = found.title.length > 0 || found.author.length > 0 ? undefined : readTitlePage(source);
  return summarizeExtracted({
    attributes: present([
      ['Title', found.title[0] ?? page?.title],
      ['Author', page?.author ?? found.author],
      ['Abstract', found.abstract],
      ['Headings', found.heading],
    ]),
    text: roffText(source),
  });
}

// The title page of a document with the macros -me, which have none for title and author: centered lines before
// the first paragraph.

/** Title and author of a document. */
interface TitlePage {
  readonly title: string | undefined;
  readonly author: string | undefined;
}

/** Lines in which the title page must end. */
const MAX_LINES = 500;

/** What ends the title page: headings, paragraphs, the next page, chapters. */
const END = /^(?:sh|uh|pp|lp|ip|np|bp|\+\+|\(b|\(q|SH|PP|LP)$/;
/** What only a title page has before the first paragraph: centered lines. */
const CENTERED = /^(?:\(l|\(c|ce|tp)$/;
/** Macros whose arguments are text. Italic text names a version or an address. */
const FONTS = /^(?:b|bi|r|rb|sm|u|bx|q)$/;

/**
 * Returns the first centered block as title, and the first line of the next one as author; nothing if no line
 * is centered. Footnotes, definitions and italic lines are not part of it.
 */
function readTitlePage(source: string): TitlePage {
  const strings = new Map<string, string>();
  const blocks: string[][] = [];
  let block: string[] = [];
  let isCentered = false;
  let until: RegExp | undefined;
  const end = () => {
    if (block.length > 0) blocks.push(block);
    block = [];
  };
  const add = (text: string) => {
    const words = oneLine(removeEscapes(text)).replace(/[*†‡]+$/, '');
    if (isCentered && words !== '') block.push(words);
  };
  for (const raw of source.split('\n', MAX_LINES)) {
    if (until !== undefined) {
      if (until.test(raw)) until = undefined;
      continue;
    }
    const line = expandStrings(raw, strings);
    const [, macro, rest = ''] = /^[.'][ \t]*(\S{1,20})[ \t]*(.*)$/s.exec(line) ?? [];
    if (macro === undefined) {
      if (!/^[.']/.test(line)) add(line);
    } else if (END.test(macro)) break;
    else if (macro === 'de' || macro === 'am') until = /^[.']\.\s*$/;
    else if (macro === '(f' || macro === '(d') until = macro === '(f' ? /^[.']\)f/ : /^[.']\)d/;
    else if (macro === 'ds') defineString(strings, rest);
    else if (CENTERED.test(macro)) {
      end();
      isCentered = true;
    } else if (macro === 'sp') end();
    else if (FONTS.test(macro)) add(macroArguments(rest).join(' '));
  }
  end();
  const [first, ...others] = blocks.map((lines) => lines.filter((text) => !/^(?:by|par|von)$/i.test(text)));
  return {
    title: first === undefined || first.length === 0 ? undefined : first.join(' '),
    author: others.find((lines) => lines.length > 0)?.[0],
  };
}
