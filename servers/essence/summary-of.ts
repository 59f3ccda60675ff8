import type { EssenceContext } from './context.js';
import type { SourceDocument, Summary } from './document.js';
import { isModule, summarizeByModule } from './external/modules.js';
import { summarizeByProgram } from './external/programs.js';
import { type HtmlSummary, summarizeHtml } from './html/walk.js';
import type { EssenceLink } from './model.js';
import { OutlinkCollector } from './outlinks/collector.js';
import { outlinksOf } from './outlinks/outlinks.js';
import type { QuickRule } from './recognition/type-rules.js';
import { TYPES } from './recognition/types.js';
import { summarizeSgml } from './sgml/summarize.js';
import { summarizeFile, summarizeFullText, summarizeUnrecognized } from './summarizers/text.js';

/** A summary, with the links and META robots of pages. */
export interface FullSummary extends Summary {
  readonly noindex: boolean;
  /** For enumeration; absent if the document was not read for links. */
  readonly links?: readonly EssenceLink[] | undefined;
}

/** Characters of a text that are kept before it is read; a shorter one is read at once. */
const KEPT_TEXT = 64 * 1024;

/** The empty table: a walk for links only. */
const NO_MAPPINGS: ReadonlyMap<string, never> = new Map<string, never>();

/**
 * The links of a document: those of a page (G-60), or all references of any document (CRAWL-11.2).
 *
 * @param summary - the part that was read already. Without it a page is read for its links only (E-25)
 */
export function linksOf(
  document: SourceDocument,
  summary?: Summary | HtmlSummary,
): readonly EssenceLink[] | undefined {
  const { isHtml, outlinks } = document;
  const read = summary !== undefined && isHtmlSummary(summary) ? summary : undefined;
  const page = read ?? (isHtml ? summarizeHtml(document, NO_MAPPINGS) : undefined);
  const { url, contentType, settings } = document;
  const linked = summary?.linkedUrls ?? [];
  if (page === undefined && outlinks === undefined && linked.length > 0) {
    return linksTo(linked, document);
  }
  if (outlinks === undefined || page?.nofollow === true) return page?.links;
  const source = { url, ...outlinks, contentType, isHtml, text: () => document.text };
  const all = outlinksOf(source, linked, settings.maxLinks);
  if (all === undefined) return page?.links;
  document.droppedLinks = all.dropped;
  return all.links;
}

/** G-60: the links of a document whose summarizer knows its language. */
function linksTo(references: readonly string[], document: SourceDocument): readonly EssenceLink[] {
  const collector = new OutlinkCollector(document.url, document.settings.maxLinks);
  for (const reference of references) collector.add(reference, 'L');
  document.droppedLinks = collector.dropped;
  return collector.links;
}

/**
 * Summarizes a document that is not nested by the user's program or module, or the built-in summarizer, then
 * adds the lines of quick-sum.cf (E-60, E-67, E-71).
 */
export async function summaryOf(
  document: SourceDocument,
  type: string,
  context: EssenceContext,
): Promise<FullSummary> {
  const { settings } = context;
  if (!settings.access) return { ...enumerated(document), ...summarizeUnrecognized(document) };
  if (settings.typeOnly) return { ...enumerated(document), attributes: [] };
  // E-117: the full text of the original is the raw content.
  if (settings.rawText) return { attributes: [['Full-Text', document.text]], noindex: false };
  const summary = await withSelected(document, await basicSummary(document, type, context), context);
  const links = linksOf(document, summary);
  return {
    ...withQuickValues(document, asFullText(summary, settings.fullText), context.quick.get(type)),
    noindex: isHtmlSummary(summary) && summary.noindex,
    links,
  };
}

/**
 * Without a summary (E-116 `--type-only`, E-118 `--no-access`) a page is still read if it was fetched: the
 * enumeration follows its links, and it may forbid to be indexed.
 */
function enumerated(document: SourceDocument): Omit<FullSummary, 'attributes'> {
  const page = document.isHtml ? summarizeHtml(document, NO_MAPPINGS) : undefined;
  const links = linksOf(document, page);
  return { noindex: page?.noindex === true, links };
}

function basicSummary(
  document: SourceDocument,
  type: string,
  context: EssenceContext,
): Summary | HtmlSummary | Promise<Summary | HtmlSummary> {
  const { programs } = context;
  const { summarizers, installed } = programs?.found ?? {};
  const program = summarizers?.[type] ?? (hasSummarizer(type) ? undefined : installed?.summarizers[type]);
  if (isModule(program)) return summarizeByModule(document, program);
  if (programs !== undefined && program !== undefined) {
    return summarizeByProgram(document, program, programs.settings);
  }
  const { sgml } = context;
  if (sgml !== undefined && isByTable(type, context)) {
    const { syntaxCheck = false } = context.settings;
    return summarizeSgml(document, type, sgml, { syntaxCheck, openSp: programs?.settings });
  }
  return ownSummary(document, type, context);
}

function hasSummarizer(type: string): boolean {
  return TYPES.get(type)?.summarize !== undefined;
}

/**
 * The summary by the built-in summarizer. E-117: with full text, text types yield the whole document, other
 * types their `text` in addition to their fields. HTML has a separate table for full text.
 */
function ownSummary(
  document: SourceDocument,
  type: string,
  context: EssenceContext,
): Summary | HtmlSummary | Promise<Summary | HtmlSummary> {
  const { isWhole, summarize } = TYPES.get(type) ?? {};
  if (isWhole === true && document.body.length > KEPT_TEXT) {
    document.keep({ text: document.text.slice(0, KEPT_TEXT) });
  }
  if (isWhole === true && context.settings.fullText) return summarizeFullText(document);
  return summarize?.(document, context) ?? summarizeFile(document);
}

/** E-80, E-86: SGML, XML, and the user's types that have a table or a script that only calls SGML.sum. */
function isByTable(type: string, { programs, sgml }: EssenceContext): boolean {
  if (programs?.found.sgml[type] !== undefined) return true;
  // E-71: the user's table precedes the built-in reader of a vocabulary.
  if (TYPES.get(type)?.isVocabulary === true) return sgml?.types.has(type.toLowerCase()) === true;
  if (hasSummarizer(type)) return false;
  return type === 'SGML' || type === 'XML' || sgml?.types.has(type.toLowerCase()) === true;
}

/** Adds the values of selectors.cf to the summary of a page. */
async function withSelected(
  document: SourceDocument,
  summary: Summary | HtmlSummary,
  { selectors }: EssenceContext,
): Promise<Summary | HtmlSummary> {
  const rules = document.isHtml ? selectors.of(document.url) : [];
  if (rules.length === 0) return summary;
  const { selectValues } = await import('./selectors/extract.js');
  const values = selectValues(document, rules);
  const found = new Set(values.map(([name]) => name.toLowerCase()));
  const replaced = new Set(
    rules.filter(({ replaces }) => replaces).map(({ attribute }) => attribute.toLowerCase()),
  );
  const others = summary.attributes.filter(
    ([name]) => !replaced.has(name.toLowerCase()) || !found.has(name.toLowerCase()),
  );
  return { ...summary, attributes: [...others, ...values] };
}

function isHtmlSummary(summary: Summary | HtmlSummary): summary is HtmlSummary {
  return 'noindex' in summary;
}

/** E-117: the full text of a converted document is the extracted text. */
export function asFullText(summary: Summary, fullText: boolean): Summary {
  if (!fullText || summary.text === undefined) return summary;
  const others = summary.attributes.filter(([name]) => name !== 'Partial-Text' && name !== 'Full-Text');
  return { ...summary, attributes: [...others, ['Full-Text', summary.text]] };
}

/** E-64, E-67: appends every matching line to the attribute. */
function withQuickValues(
  document: SourceDocument,
  summary: Summary,
  rules: readonly QuickRule[] | undefined,
): Summary {
  if (rules === undefined) return summary;
  const values: (readonly [string, string])[] = [];
  for (const line of document.text.split('\n')) {
    for (const { attribute, pattern } of rules) {
      const value = pattern.extract(line)?.trim();
      if (value !== undefined && value !== '') values.push([attribute, value]);
    }
  }
  // E-67: the title by the file name stands for one that nothing gives; it must not come before that of the
  // lines.
  const given = new Set(values.map(([name]) => name.toLowerCase()));
  const byName = new Map(summarizeUnrecognized(document).attributes);
  const kept = summary.attributes.filter(
    ([name, value]) => !given.has(name.toLowerCase()) || byName.get(name) !== value,
  );
  return { ...summary, attributes: [...kept, ...values] };
}
