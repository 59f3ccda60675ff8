import type { EssenceContext } from '../context.js';
import type { SourceDocument } from '../document.js';
import { type HtmlSummary, summarizeHtml } from '../html/walk.js';
import type { Summary } from '../summary.js';
import { summarizeBibliographic, summarizeRefer } from './bibliography.js';
import { summarizeArchive, summarizeBinary, summarizeObject } from './binaries.js';
import { summarizeDvi } from './dvi/dvi.js';
import { summarizeMail, summarizeNews } from './mail.js';
import { summarizeManPage } from './man-page.js';
import { summarizeAudio } from './media/audio.js';
import { summarizeFont } from './media/font.js';
import { summarizeImage } from './media/image.js';
import { summarizeExcel } from './office/excel.js';
import { summarizeOffice } from './office/office.js';
import { summarizeWord } from './office/word.js';
import { summarizeWordPerfect } from './office/word-perfect.js';
import { summarizePdf } from './pdf/pdf.js';
import { summarizePostScript } from './postscript/postscript.js';
import { summarizePatch, summarizeRcs, summarizeSccs } from './revisions.js';
import { summarizeRtf } from './rtf/rtf.js';
import {
  summarizeFramemaker,
  summarizeLsm,
  summarizeRfc,
  summarizeSymbolicLink,
  summarizeWaisSource,
} from './small-formats.js';
import {
  summarizeC,
  summarizeCHeader,
  summarizeMakefile,
  summarizeOtherCode,
  summarizePerl,
  summarizeShellScript,
} from './source-code.js';
import { summarizeLatex, summarizeTex } from './tex/tex.js';
import { summarizeTexinfo } from './texinfo.js';
import { summarizeFullText, summarizeText, summarizeUnrecognized } from './text.js';
import { summarizeTroff } from './troff/troff.js';
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
  ['ShellScript', summarizeShellScript],
  ['Awk', summarizeShellScript],
  ['Tcl', summarizeShellScript],
  ['OtherCode', summarizeOtherCode],
  ['Makefile', summarizeMakefile],
  ['Patch', summarizePatch],
  ['RCS', summarizeRcs],
  ['SCCS', summarizeSccs],
  ['Bibliographic', summarizeBibliographic],
  ['ReferBibliographic', summarizeRefer],
  ['WaisSource', summarizeWaisSource],
  ['LSM', summarizeLsm],
];

/** Types whose text is extracted, and types without text: `--full-text` indexes the summary's `text`. */
const EXTRACTED: readonly (readonly [type: string, summarizer: Summarizer])[] = [
  ['RFC', summarizeRfc],
  ['FYI', summarizeRfc],
  ['Internet-Draft', summarizeRfc],
  ['ManPage', summarizeManPage],
  ['Troff', summarizeTroff],
  ['TeX', summarizeTex],
  ['LaTeX', summarizeLatex],
  ['Texinfo', summarizeTexinfo],
  ['Dvi', summarizeDvi],
  ['PostScript', summarizePostScript],
  ['Pdf', summarizePdf],
  ['RTF', summarizeRtf],
  ['Framemaker', summarizeFramemaker],
  ['Word', summarizeWord],
  ['Excel', summarizeExcel],
  ['WordPerfect', summarizeWordPerfect],
  ['OpenDocument', summarizeOffice],
  ['OfficeOpenXML', summarizeOffice],
  ['Mail', summarizeMail],
  ['News', summarizeNews],
  ['Object', summarizeObject],
  ['Archive', summarizeArchive],
  ['Binary', summarizeBinary],
  ['ARJ', unreadArchive('ARJ')],
  ['LHa', unreadArchive('LHa')],
  ['Zoo', unreadArchive('Zoo')],
  ['Font', summarizeFont],
  ['Image', summarizeImage],
  ['Audio', summarizeAudio],
  ['SymbolicLink', summarizeSymbolicLink],
  ['Unrecognized', summarizeUnrecognized],
];

/** E-60, E-71: the built-in summarizers by type. README.md lists the steps for a new type. */
export const SUMMARIZERS: ReadonlyMap<string, Summarizer> = new Map<string, Summarizer>([
  ['HTML', (document, context) => summarizeHtml(document, context.htmlTable)],
  ...TEXTS,
  ...EXTRACTED,
]);

const TEXT_TYPES: ReadonlySet<string> = new Set(TEXTS.map(([type]) => type));

/**
 * Returns the summarizer of a type. E-117: with full text, text types yield the whole document, other types their `text` in addition to
 * their fields. HTML has a separate table for full text.
 */
export function summarizerFor(type: string, fullText: boolean): Summarizer {
  const known = SUMMARIZERS.get(type) ?? summarizeUnrecognized;
  return fullText && TEXT_TYPES.has(type) ? summarizeFullText : known;
}
