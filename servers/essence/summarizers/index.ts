import type { EssenceContext } from '../context.js';
import type { SourceDocument } from '../document.js';
import { mainText } from '../html/main-text.js';
import { type HtmlSummary, summarizeHtml } from '../html/walk.js';
import type { Summary } from '../summary.js';
import { summarizeBibliographic, summarizeRefer } from './bibliography.js';
import { summarizeArchive, summarizeBinary, summarizeObject } from './binaries.js';
import { summarizePatch, summarizeRcs, summarizeSccs } from './revisions.js';
import {
  summarizeFramemaker,
  summarizeLsm,
  summarizeRfc,
  summarizeSymbolicLink,
  summarizeWaisSource,
} from './small-formats.js';
import { LANGUAGES } from './source/languages.js';
import { summarizeProgram } from './source/program.js';
import {
  summarizeC,
  summarizeCHeader,
  summarizeMakefile,
  summarizeOtherCode,
  summarizePerl,
  summarizeShell,
  summarizeShellScript,
} from './source-code.js';
import { summarizeFullText, summarizeText, summarizeUnrecognized } from './text.js';
import { unreadArchive } from './unread-archives.js';

/** Summarizes a document of one type; asynchronous if it uses an asynchronous library or a program. */
export type Summarizer = (
  document: SourceDocument,
  context: EssenceContext,
) => Summary | HtmlSummary | Promise<Summary | HtmlSummary>;

/** Types whose full text is the document itself (E-117). */
const TEXTS: readonly (readonly [type: string, summarizer: Summarizer])[] = [
  ['Text', summarizeText],
  ['README', summarizeFullText],
  ['FAQ', summarizeFullText],
  ['FullText', summarizeFullText],
  ['C', summarizeC],
  ['CHeader', summarizeCHeader],
  ['Perl', summarizePerl],
  ['ShellScript', summarizeShell],
  ['Awk', summarizeShellScript],
  ['Tcl', summarizeShellScript],
  ['OtherCode', summarizeOtherCode],
  ...Array.from(LANGUAGES.keys(), (type): [string, Summarizer] => [
    type,
    (document) => summarizeProgram(document, type),
  ]),
  ['Makefile', summarizeMakefile],
  ['Patch', summarizePatch],
  ['RCS', summarizeRcs],
  ['SCCS', summarizeSccs],
  ['Bibliographic', summarizeBibliographic],
  ['ReferBibliographic', summarizeRefer],
  ['WaisSource', summarizeWaisSource],
  ['LSM', summarizeLsm],
];

/** The summarizer of one vocabulary of XML. */
function xmlDocument(type: string): Summarizer {
  return async (document) => (await import('./xml/xml-document.js')).summarizeXmlDocument(document, type);
}

/**
 * Types whose text is extracted, and types without text: `--full-text` indexes the summary's `text`. Readers with libraries or many files are
 * loaded at their first document: threads never use them, because `trust.ts` leaves these types to reader processes.
 */
const EXTRACTED: readonly (readonly [type: string, summarizer: Summarizer])[] = [
  ['RFC', summarizeRfc],
  ['FYI', summarizeRfc],
  ['Internet-Draft', summarizeRfc],
  ['ManPage', async (document) => (await import('./man-page.js')).summarizeManPage(document)],
  ['Troff', async (document) => (await import('./troff/troff.js')).summarizeTroff(document)],
  ['TeX', async (document) => (await import('./tex/tex.js')).summarizeTex(document)],
  ['LaTeX', async (document) => (await import('./tex/tex.js')).summarizeLatex(document)],
  ['Texinfo', async (document) => (await import('./texinfo.js')).summarizeTexinfo(document)],
  ['Markdown', async (document) => (await import('./markup/markdown.js')).summarizeMarkdown(document)],
  [
    'ReStructuredText',
    async (document) => (await import('./markup/restructured-text.js')).summarizeReStructuredText(document),
  ],
  ['AsciiDoc', async (document) => (await import('./markup/asciidoc.js')).summarizeAsciiDoc(document)],
  ['Org', async (document) => (await import('./markup/org.js')).summarizeOrg(document)],
  ['Jupyter', async (document) => (await import('./markup/jupyter.js')).summarizeJupyter(document)],
  ['DocBook', xmlDocument('DocBook')],
  ['JATS', xmlDocument('JATS')],
  ['FB2', xmlDocument('FB2')],
  ['TEI', xmlDocument('TEI')],
  ['Dvi', async (document) => (await import('./dvi/dvi.js')).summarizeDvi(document)],
  [
    'PostScript',
    async (document) => (await import('./postscript/postscript.js')).summarizePostScript(document),
  ],
  ['Pdf', async (document) => (await import('./pdf/pdf.js')).summarizePdf(document)],
  ['RTF', async (document) => (await import('./rtf/rtf.js')).summarizeRtf(document)],
  ['Framemaker', summarizeFramemaker],
  ['Word', async (document) => (await import('./office/word.js')).summarizeWord(document)],
  ['Excel', async (document) => (await import('./office/excel.js')).summarizeExcel(document)],
  ['PowerPoint', async (document) => (await import('./office/power-point.js')).summarizePowerPoint(document)],
  [
    'WordPerfect',
    async (document) => (await import('./office/word-perfect.js')).summarizeWordPerfect(document),
  ],
  ['EPUB', async (document) => (await import('./office/epub.js')).summarizeEpub(document)],
  ['OpenDocument', async (document) => (await import('./office/office.js')).summarizeOffice(document)],
  ['OfficeOpenXML', async (document) => (await import('./office/office.js')).summarizeOffice(document)],
  ['Mail', async (document) => (await import('./mail.js')).summarizeMail(document)],
  ['News', async (document) => (await import('./mail.js')).summarizeNews(document)],
  ['Object', summarizeObject],
  ['Archive', summarizeArchive],
  ['Binary', summarizeBinary],
  ['ARJ', unreadArchive('ARJ')],
  ['LHa', unreadArchive('LHa')],
  ['Zoo', unreadArchive('Zoo')],
  ['Font', async (document) => (await import('./media/font.js')).summarizeFont(document)],
  ['Image', async (document) => (await import('./media/image.js')).summarizeImage(document)],
  ['Audio', async (document) => (await import('./media/audio.js')).summarizeMedia(document)],
  ['Video', async (document) => (await import('./media/audio.js')).summarizeMedia(document)],
  ['SymbolicLink', summarizeSymbolicLink],
  ['Unrecognized', summarizeUnrecognized],
];

/** E-60, E-71: the built-in summarizers by type. README.md lists the steps for a new type. */
export const SUMMARIZERS: ReadonlyMap<string, Summarizer> = new Map<string, Summarizer>([
  ['HTML', summarizePage],
  ...TEXTS,
  ...EXTRACTED,
]);

/** A page: its attributes by the table, and its main text if that is wanted. */
function summarizePage(document: SourceDocument, { htmlTable, settings }: EssenceContext): HtmlSummary {
  const summary = summarizeHtml(document, htmlTable);
  if (!settings.mainText) return summary;
  const main: readonly [string, string] = ['Main-Text', mainText(document.text, settings.maxObjectBytes)];
  return { ...summary, attributes: [...summary.attributes, main] };
}

const TEXT_TYPES: ReadonlySet<string> = new Set(TEXTS.map(([type]) => type));

/** Characters of a text that are kept before it is read; a shorter one is read at once. */
const KEPT_TEXT = 64 * 1024;

/**
 * Returns the summarizer of a type. E-117: with full text, text types yield the whole document, other types their `text` in addition to
 * their fields. HTML has a separate table for full text.
 */
export function summarizerFor(type: string, fullText: boolean): Summarizer {
  const known = SUMMARIZERS.get(type) ?? summarizeUnrecognized;
  if (!TEXT_TYPES.has(type)) return known;
  const reader = fullText ? summarizeFullText : known;
  return (document, context) => {
    if (document.body.length > KEPT_TEXT) document.keep({ text: document.text.slice(0, KEPT_TEXT) });
    return reader(document, context);
  };
}
