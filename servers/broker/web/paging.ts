// Divides a result into pages: how many objects a page needs from the Broker, and which of them it lists.
import { hostOfUrl } from '../admin/name-counter.js';
import { type FacetCounts, LISTED_OF_HOST } from './facets.js';
import type { QueryForm } from './form.js';
import type { FoldedHosts, ResultPage, Results, ShownHit } from './results.js';

/** Objects on one page of results. */
const PAGE_OBJECTS = 20;
/** Objects that are requested for the first pages, and for those after them. */
const FIRST_OBJECTS = 50;
const MORE_OBJECTS = 200;

/** How a result is divided. */
export interface Paging {
  readonly pageObjects: number;
  /** Objects that all pages list at most: those of the form, and those of one reply of the Broker. */
  readonly most: number;
  /** Whether a list has only the first objects of each host. */
  readonly folds: boolean;
}

/**
 * Divides a result. A program that gives a number of objects gets all of them at once.
 *
 * @param maxResults `Max-Results` of the Broker
 * @param hasPager whether the page has links to further pages; if not, it lists everything
 */
export function pagingOf(form: QueryForm, maxResults: number, hasPager: boolean): Paging {
  const most = Math.min(form.maxObjects ?? maxResults, maxResults);
  const isPage = form.format === 'html';
  const isWhole = isPage ? !hasPager : form.maxObjects !== undefined;
  return { pageObjects: isWhole ? Math.max(1, most) : PAGE_OBJECTS, most, folds: isPage && form.fold };
}

/**
 * Numbers of objects to request until a page is full, the least first. Every page has the same order: those by
 * date and by matched lines need the whole result.
 */
export function windowsOf({ page, sort }: QueryForm, { pageObjects, most }: Paging): readonly number[] {
  if (sort !== 'by-rank') return [most];
  const needed = page * pageObjects;
  return [FIRST_OBJECTS, MORE_OBJECTS, most].filter((size, i) => i === 2 || (size >= needed && size < most));
}

/** The least number of objects that the answer to a query keeps in memory, from 1. */
export function listedBy(form: QueryForm, paging: Paging): number {
  return Math.max(1, windowsOf(form, paging)[0] ?? 1);
}

/** Whether a result has the objects of the requested page, or there are no more. */
export function isFull(
  { page }: QueryForm,
  { pageObjects, folds }: Paging,
  { hits, truncated }: Results,
  counts: FacetCounts | undefined,
): boolean {
  return !truncated || (folds ? foldHosts(hits, counts).hits : hits).length >= page * pageObjects;
}

/** Returns the page of the result that the form requests, or the last page. */
export function selectPage(
  form: QueryForm,
  results: Results,
  counts: FacetCounts | undefined,
  { pageObjects, most, folds }: Paging,
): ResultPage {
  const { hits, folded } = folds
    ? foldHosts(results.hits, counts)
    : { hits: results.hits, folded: NOT_FOLDED };
  const counted = counts !== undefined && counts.objects >= results.hits.length ? counts : undefined;
  const total = counted?.objects ?? results.hits.length;
  const isWhole = !results.truncated || results.hits.length >= most;
  const further =
    folded.size > 0 ? (counted?.foldedObjects ?? hits.length + 1) : Math.max(total, hits.length + 1);
  const listed = isWhole ? hits.length : Math.min(further, most);
  const known = Math.max(1, Math.ceil(hits.length / pageObjects));
  const page = Math.min(form.page, known);
  // A count that stopped at a limit is less than the list may be.
  const pages = Math.max(known, Math.ceil(listed / pageObjects));
  const first = (page - 1) * pageObjects;
  return {
    hits: hits.slice(first, first + pageObjects),
    first,
    page,
    pages,
    listed,
    total,
    isExact: counted === undefined ? !results.truncated : counted.complete,
    limit:
      results.truncated && (total > most || counted === undefined || !counted.complete) ? most : undefined,
    folded,
  };
}

/** A folded list. */
interface FoldedHits {
  readonly hits: readonly ShownHit[];
  readonly folded: FoldedHosts;
}

const NOT_FOLDED: FoldedHosts = new Map();

/** Lists the first two objects of each host. A result from one host is not folded. */
function foldHosts(hits: readonly ShownHit[], counts: FacetCounts | undefined): FoldedHits {
  const hosts = new Map<string, { last: ShownHit; objects: number }>();
  const listed: ShownHit[] = [];
  for (const hit of hits) {
    const host = hostOfUrl(hit.url);
    const known = hosts.get(host) ?? { last: hit, objects: 0 };
    hosts.set(host, known);
    known.objects += 1;
    if (known.objects > LISTED_OF_HOST) continue;
    known.last = hit;
    listed.push(hit);
  }
  const facet = counts?.complete === true ? counts.facets.find(({ kind }) => kind === 'host') : undefined;
  const numberOfHosts = facet === undefined ? hosts.size : facet.values.length + facet.others;
  if (numberOfHosts < 2) return { hits, folded: NOT_FOLDED };
  const totalOf = (host: string) => facet?.values.find(({ value }) => value === host)?.objects;
  const more = [...hosts].filter(([, { objects }]) => objects > LISTED_OF_HOST);
  const folded = new Map(
    more.map(([host, { last, objects }]) => {
      const total = facet === undefined ? objects : totalOf(host);
      return [last, { host, objects: total === undefined ? undefined : total - LISTED_OF_HOST }];
    }),
  );
  return { hits: listed, folded };
}
