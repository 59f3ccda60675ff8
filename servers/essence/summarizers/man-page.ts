import type { SourceDocument, Summary } from '../document.js';
import { boundedSource } from './extracted.js';
import { summarizeText } from './text.js';
import { macroArguments, removeEscapes } from './troff/escapes.js';
import { roffText } from './troff/roff-text.js';

/** Sections that become attributes (E-74). */
const SECTIONS: ReadonlyMap<string, string> = new Map([
  ['NAME', 'Description'],
  ['SYNOPSIS', 'Synopsis'],
  ['AUTHOR', 'Author'],
  ['AUTHORS', 'Author'],
  ['SEE ALSO', 'References'],
]);

/** Macros whose arguments are text. */
const FONTS = /^(?:[BIRS]|SM|SB|[BIR][BIR]|Nm|An|Ar|Fl|Op|Pa|Cm|Fn|Ft|In|Fa)$/;

/**
 * ManPage: title, section and the common sections, by the -man and -mdoc macros (E-74). A page without these
 * macros is a text.
 */
export function summarizeManPage(document: SourceDocument): Summary {
  const source = boundedSource(document, 'manual page');
  const lines = source.split('\n');
  const attributes: [string, string][] = [];
  const headings: string[] = [];
  let section = '';
  let words: string[] = [];
  let known = false;
  const flush = () => {
    const attribute = SECTIONS.get(section);
    if (attribute !== undefined && words.length > 0) attributes.push([attribute, words.join('\n')]);
    words = [];
  };
  for (const line of lines) {
    const macro = /^[.'][ \t]*([A-Za-z][A-Za-z0-9]?)(?:[ \t]+(.*))?$/s.exec(line);
    if (macro === null) {
      if (!/^[.']/.test(line) && section !== '') addText(words, line);
      continue;
    }
    const args = macroArguments(macro[2] ?? '');
    const name = macro[1]!;
    if (name === 'TH' || name === 'Dt') {
      known = true;
      if (args[0] !== undefined) attributes.push(['Title', args[0]]);
      if (args[1] !== undefined) attributes.push(['Section', args[1]]);
    } else if (name === 'SH' || name === 'Sh') {
      flush();
      section = args.join(' ').toUpperCase();
      if (section !== '') headings.push(args.join(' '));
    } else if (name === 'SS' || name === 'Ss') {
      if (args.length > 0) headings.push(args.join(' '));
    } else if (name === 'Nd') addText(words, `- ${args.join(' ')}`);
    else if (name === 'Xr') addText(words, `${args[0] ?? ''}${args[1] === undefined ? '' : `(${args[1]})`}`);
    else if (FONTS.test(name) && args.length > 0)
      addText(words, args.join(/^[BIR][BIR]$/.test(name) ? '' : ' '));
  }
  flush();
  if (!known) return summarizeText(document);
  attributes.push(['Headings', headings.join('\n')]);
  return { attributes, text: roffText(source) };
}

function addText(words: string[], line: string): void {
  const text = removeEscapes(line).trim();
  if (text !== '') words.push(text);
}
