// The title page of a document with the macros -me, which have none for title and author: centered lines before
// the first paragraph.
import { oneLine } from '../extracted.js';
import { macroArguments, removeEscapes } from './escapes.js';
import { defineString, expandStrings } from './roff-text.js';

/** Title and author of a document. */
export interface TitlePage {
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
export function readTitlePage(source: string): TitlePage {
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
