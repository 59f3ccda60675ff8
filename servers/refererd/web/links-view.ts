// Reads one page of the links of a document or a site.
import type { LinkKind, References } from '../../../storage/references/contract.js';
import { findSubject, type Subject } from './subject.js';

/** Links on one page. */
const PAGE_LINKS = 50;

/** The four lists, in the order of the page. */
export const VIEWS = ['to', 'from', 'site-to', 'site-from'] as const;

export type ViewName = (typeof VIEWS)[number];

const LIST: Readonly<Record<ViewName, LinkKind>> = {
  to: 'hubs',
  from: 'refs',
  'site-to': 'sitehubs',
  'site-from': 'siterefs',
};

/** One page of a list of links. */
export interface LinksView {
  readonly query: string;
  readonly view: ViewName;
  readonly subject: Subject;
  /** Lengths of the lists that the subject can have. */
  readonly totals: ReadonlyMap<ViewName, number>;
  readonly found: number;
  readonly start: number;
  readonly results: readonly { readonly id: number; readonly url: string | undefined }[];
  readonly pageSize: number;
}

/** The query of a page of links. */
export interface LinksQuery {
  readonly query: string;
  /** Default: the first list that the subject has. */
  readonly view: ViewName | undefined;
  readonly start: number;
}

/** Reads the links of a document or a site; undefined if the query names neither. */
export function readLinksView(
  references: References,
  { query, view: requested, start }: LinksQuery,
): LinksView | undefined {
  const subject = findSubject(references, query);
  if (subject === undefined) return undefined;
  const totals = new Map<ViewName, number>();
  const listOf = (view: ViewName) => {
    const id = view.startsWith('site-') ? subject.server?.id : subject.id;
    return id === undefined ? undefined : references.links(LIST[view], id);
  };
  for (const view of VIEWS) {
    const possible = view.startsWith('site-') ? subject.server !== undefined : subject.id !== undefined;
    if (possible) totals.set(view, listOf(view)?.total ?? 0);
  }
  const view = requested !== undefined && totals.has(requested) ? requested : ([...totals.keys()][0] ?? 'to');
  const list = listOf(view);
  const ids = list === undefined ? [] : [...list.page(start, PAGE_LINKS)];
  const results = ids.map((id) => ({ id, url: references.document(id)?.url }));
  return { query, view, subject, totals, found: list?.total ?? 0, start, results, pageSize: PAGE_LINKS };
}
