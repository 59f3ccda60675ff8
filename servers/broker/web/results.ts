// Extracts the shown part of each hit.
import { type BrokerHit, MISSING_WORDS, parseMatchedLine } from '../../../protocols/broker/index.js';
import type { FacetCounts } from './facets.js';
import type { QueryForm } from './form.js';

/** Attributes that the page requests in addition to those of every result. */
export const SHOWN_ATTRIBUTES = [
  'title',
  'type',
  'file-size',
  'last-modification-time',
  'update-time',
] as const;

/** Characters of a description that are shown. */
const MAX_DESCRIPTION = 600;

/** Characters of a matched line that are shown. */
const MAX_LINE = 400;

/** Characters of an attribute (title, type) that are shown. */
const MAX_ATTRIBUTE = 200;

/** Matched lines of one object that are shown; all are counted. */
const MAX_LINES = 100;

/** A matched line, parsed and as the broker sent it. */
interface ShownLine {
  readonly attribute?: string;
  readonly text: string;
  readonly raw: string;
}

/** The part of a hit that is shown. Its size is limited, whatever the broker sends. */
export interface ShownHit {
  /** One character a byte. */
  readonly url: string;
  readonly objectUrl?: string;
  readonly title?: string;
  readonly description?: string;
  readonly lines: readonly ShownLine[];
  /** Number of matched lines, including those that are not in `lines`. */
  readonly lineCount: number;
  readonly type?: string;
  /** Decimal bytes. */
  readonly size?: string;
  /** Decimal seconds since 1970. */
  readonly modified?: string;
  /** Words of the query that the object lacks (BRK-2.27); absent if it has all. */
  readonly lacks?: readonly string[];
}

/** The result of a search. */
export interface Results {
  readonly hits: readonly ShownHit[];
  /** There are more objects than requested (BRK-4.16). */
  readonly truncated: boolean;
  /** The broker's messages (`101`) and errors (`103`). */
  readonly messages: readonly string[];
  readonly errors: readonly string[];
  /** Why the results ended early: a `111`, or the connection broke. */
  readonly failure?: string | undefined;
}

/** The last listed object of a host with more, and how many are not listed; undefined if not all are known. */
export type FoldedHosts = ReadonlyMap<
  ShownHit,
  { readonly host: string; readonly objects: number | undefined }
>;

/** The objects of one page of a result. */
export interface ResultPage {
  readonly hits: readonly ShownHit[];
  /** Index of the first of them in the list. */
  readonly first: number;
  readonly page: number;
  readonly pages: number;
  /** Number of objects that all pages list. */
  readonly listed: number;
  /** Number of objects found, listed or not. */
  readonly total: number;
  /** False if there may be more. */
  readonly isExact: boolean;
  /** The most that pages list, if this leaves out objects. */
  readonly limit: number | undefined;
  readonly folded: FoldedHosts;
}

/** A result, as each format shows it. */
export interface ShownResult {
  readonly form: QueryForm;
  readonly results: Results;
  /** Path of the query program. */
  readonly action: string;
  /** Path of the search page. */
  readonly home: string;
  /** Counts of the whole result. */
  readonly counts?: FacetCounts | undefined;
  /** The requested page of it. */
  readonly part: ResultPage;
  /** Number of documents that link to the object's document, by its URL; absent if not known. */
  readonly linkedFrom: ReadonlyMap<string, number>;
  /**
   * Path of the readable view of an object, from the URL in its `125`; undefined for objects of other brokers.
   */
  readonly summaryPath: (objectUrl: string) => string | undefined;
}

/** Extracts the part of a hit that the page shows. */
export function shownHit(hit: BrokerHit): ShownHit {
  const lacks = hit
    .text(MISSING_WORDS)
    ?.split(/\s+/)
    .filter((word) => word !== '');
  const modified = attributeText(hit, 'last-modification-time');
  const optional = {
    objectUrl: hit.objectUrl,
    title: attributeText(hit, 'title'),
    description: hit.description === undefined ? undefined : cut(hit.description.trim(), MAX_DESCRIPTION),
    type: attributeText(hit, 'type'),
    size: attributeText(hit, 'file-size'),
    lacks: lacks?.length === 0 ? undefined : lacks,
    modified: modified !== undefined && modified !== '0' ? modified : attributeText(hit, 'update-time'),
  };
  return {
    url: hit.url,
    lines: hit.matchedLines.slice(0, MAX_LINES).map(shownLine),
    lineCount: hit.matchedLines.length,
    ...Object.fromEntries(
      Object.entries(optional).filter(([, value]) => value !== undefined && value !== ''),
    ),
  };
}

function shownLine(line: string): ShownLine {
  const parsed = parseMatchedLine(line);
  const text = cut((parsed?.text ?? line).trim(), MAX_LINE);
  const raw = cut(line, MAX_LINE);
  return parsed === undefined ? { text, raw } : { attribute: parsed.attribute, text, raw };
}

function attributeText(hit: BrokerHit, name: string): string | undefined {
  const value = hit.text(name);
  return value === undefined ? undefined : cut(value.replace(/\s+/g, ' ').trim(), MAX_ATTRIBUTE);
}

function cut(value: string, most: number): string {
  return value.length <= most ? value : `${value.slice(0, most).trimEnd()}…`;
}
