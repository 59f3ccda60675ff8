import { createHash } from 'node:crypto';
import { assembleObject } from './assemble.js';
import type { EssenceContext, EssenceInput, EssenceLink, EssenceOutput } from './context.js';
import { SourceDocument, type Summary } from './document.js';
import { type HtmlSummary, summarizeHtml } from './html/walk.js';
import { isRejected, NESTED_TYPES, recognize } from './recognize.js';
import { summarizerFor } from './summarizers/index.js';
import type { QuickRule } from './type-rules.js';

/**
 * The synchronous core of essence (E-1, E-3): type, selection, summary, keywords, bookkeeping. It never throws for
 * what a document holds; a document that cannot be summarised is rejected with a warning.
 */
export function summarizeDocument(input: EssenceInput, context: EssenceContext): EssenceOutput {
  const md5 = createHash('md5').update(input.body).digest('hex');
  const { type, isHtml } = recognize(input, context.rules);
  const document = new SourceDocument(input, context.settings, isHtml);
  const { warnings } = document;
  const rejected = isRejected(type, context.rules);
  if (rejected || NESTED_TYPES.has(type)) {
    if (!rejected) document.warn(`${type} is a nested type; unnesting comes later`);
    // E-25: what is not indexed still leads on.
    return {
      type,
      rejected: true,
      md5,
      links: isHtml ? summarizeHtml(document, NO_MAPPINGS).links : [],
      warnings,
    };
  }
  const summary = summarizerFor(type, context.settings.fullText)(document, context);
  const html = isHtmlSummary(summary) ? summary : undefined;
  const links: readonly EssenceLink[] =
    html?.links ?? (isHtml ? summarizeHtml(document, NO_MAPPINGS).links : []);
  if (html?.noindex === true) {
    document.warn('the page asks not to be indexed (META robots)');
    return { type, rejected: true, md5, links, warnings };
  }
  const soif = assembleObject(
    input,
    type,
    md5,
    document,
    withQuickValues(document, summary, context.quick.get(type)),
  );
  return { type, rejected: false, soif, md5, links, warnings };
}

/** A table without a line: a walk for links only. */
const NO_MAPPINGS: ReadonlyMap<string, never> = new Map<string, never>();

function isHtmlSummary(summary: Summary | HtmlSummary): summary is HtmlSummary {
  return 'noindex' in summary;
}

/** E-64, E-67: every line that matches is appended to the attribute. */
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
  return { ...summary, attributes: [...summary.attributes, ...values] };
}
