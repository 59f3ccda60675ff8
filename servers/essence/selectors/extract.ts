import { load } from 'cheerio/slim';
import { DomHandler } from 'htmlparser2';
import { ConfigError, messageOf } from '../../../protocols/errors.js';
import { UrlResolver } from '../../../protocols/urls/index.js';
import type { SourceDocument } from '../document.js';
import { type MarkupAttributes, MarkupLimitError, readMarkup } from '../html/markup-stream.js';
import { wordSet } from '../word-tables.js';
import type { SelectorRule } from './rules.js';

/**
 * Elements of a page that are read, and their depth: the cost of a selector is at least the product of both.
 */
const MAX_ELEMENTS = 50_000;
const MAX_DEPTH = 500;
/** Values of one rule, and characters of one value. */
const MAX_VALUES = 200;
const MAX_VALUE = 10_000;

/** Attributes with a URL, which is made absolute (E-99). */
const URL_ATTRIBUTES = wordSet('href src action cite data poster srcset');

/** Attributes with their values, in the order of the rules. */
export type Selected = readonly (readonly [attribute: string, value: string])[];

/** Checks the selectors. @throws ConfigError that names the line of the first wrong one */
export function checkSelectors(rules: readonly SelectorRule[]): void {
  const $ = load('<p></p>', { xml: { xmlMode: false } });
  for (const { selector, file, line } of rules) {
    try {
      $(selector).length;
    } catch (error) {
      throw new ConfigError(file, line, selector, `not a selector: ${messageOf(error)}`);
    }
  }
}

/**
 * Returns the values of the rules for a page. A rule that fails has no values, and a warning names its line.
 */
export function selectValues(document: SourceDocument, rules: readonly SelectorRule[]): Selected {
  const $ = load(treeOf(document));
  const { rawReferences } = document.settings;
  const resolver = rawReferences ? undefined : new UrlResolver(document.url);
  const values: (readonly [string, string])[] = [];
  for (const { attribute, selector, of, part, file, line } of rules) {
    try {
      const seen = new Set<string>();
      for (const node of $(selector).slice(0, MAX_VALUES)) {
        const written = (of === undefined ? $(node).text() : $(node).attr(of)) ?? '';
        const value = written.slice(0, MAX_VALUE).replace(/\s+/g, ' ').trim();
        const absolute =
          of !== undefined && URL_ATTRIBUTES.has(of) ? (resolver?.resolve(value) ?? value) : value;
        const kept = part === undefined ? absolute : part.extract(absolute)?.trim();
        if (kept !== undefined && kept !== '') seen.add(kept);
      }
      for (const value of seen) values.push([attribute, value]);
    } catch (error) {
      document.warn(`${file}:${line}: ${selector}: ${messageOf(error).slice(0, 200)}`);
    }
  }
  return values;
}

/** Reads a page as a tree, up to the limits. */
function treeOf(document: SourceDocument) {
  const handler = new DomHandler();
  const events = {
    open: (tag: string, attributes: MarkupAttributes) => handler.onopentag(tag, attributes),
    text: (text: string) => handler.ontext(text),
    close: () => handler.onclosetag(),
  };
  try {
    readMarkup(document.text, events, { dialect: 'html', maxDepth: MAX_DEPTH, maxElements: MAX_ELEMENTS });
  } catch (error) {
    if (!(error instanceof MarkupLimitError)) throw error;
    document.warn(
      `selectors.cf: more than ${MAX_ELEMENTS} elements, or deeper than ${MAX_DEPTH}: the rest is not read`,
    );
  }
  return handler.root;
}
