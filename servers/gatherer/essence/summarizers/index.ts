import type { EssenceContext } from '../context.js';
import type { SourceDocument, Summary } from '../document.js';
import { type HtmlSummary, summarizeHtml } from '../html/walk.js';
import { summarizeManPage } from './man-page.js';
import {
  summarizeC,
  summarizeCHeader,
  summarizeMakefile,
  summarizeOtherCode,
  summarizePerl,
  summarizeShellScript,
} from './source-code.js';
import { summarizeFullText, summarizeText, summarizeUnrecognized } from './text.js';

/** Makes a summary of a document of one type. */
export type Summarizer = (document: SourceDocument, context: EssenceContext) => Summary | HtmlSummary;

/** E-60, E-71: the built-in summarizers by type. A new type is a new line here. */
export const SUMMARIZERS: ReadonlyMap<string, Summarizer> = new Map<string, Summarizer>([
  ['HTML', (document, context) => summarizeHtml(document, context.htmlTable)],
  ['Text', summarizeText],
  ['RFC', summarizeText],
  ['FYI', summarizeText],
  ['Internet-Draft', summarizeText],
  ['README', summarizeFullText],
  ['FAQ', summarizeFullText],
  ['FullText', summarizeFullText],
  ['C', summarizeC],
  ['CHeader', summarizeCHeader],
  ['Perl', summarizePerl],
  ['ShellScript', summarizeShellScript],
  ['Awk', summarizeShellScript],
  ['Tcl', summarizeShellScript],
  ['OtherCode', summarizeOtherCode],
  ['Makefile', summarizeMakefile],
  ['ManPage', summarizeManPage],
  ['Unrecognized', summarizeUnrecognized],
]);

/** E-117: with full text every summarizer of a text gives way to the whole text; HTML has a table for it. */
export function summarizerFor(type: string, fullText: boolean): Summarizer {
  const known = SUMMARIZERS.get(type) ?? summarizeUnrecognized;
  return fullText && type !== 'HTML' && known !== summarizeUnrecognized ? summarizeFullText : known;
}
