import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { LinkKind, References } from '../../../storage/references/index.js';
import { sendPage } from '../../web/replies.js';
import { homePage, linksPage, nothingPage, VIEWS, type ViewName } from './pages.js';
import { findSubject, type Subject } from './subject.js';

/** Links of one page. */
const PAGE = 50;

const querySchema = z.object({
  q: z.string().trim().max(4096).catch(''),
  view: z.enum(['to', 'from', 'site-to', 'site-from']).optional().catch(undefined),
  start: z.coerce.number().int().min(0).max(0xffff_ffff).catch(0),
  format: z.enum(['html', 'json']).catch('html'),
});

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
  /** Of each list that there can be for the subject. */
  readonly totals: ReadonlyMap<ViewName, number>;
  readonly found: number;
  readonly start: number;
  readonly results: readonly { readonly id: number; readonly url: string | undefined }[];
  readonly pageSize: number;
}

/** `/`: what a document or a site links to, and what links to it; for people, and with `format=json` for programs. */
export function addLinkPages(app: FastifyInstance, current: () => References | undefined): void {
  app.route({
    method: ['GET', 'HEAD', 'POST'],
    url: '/',
    handler: (request, reply) => {
      const { q, view, start, format } = querySchema.parse(request.query);
      const references = current();
      const shown = references && q !== '' ? viewOf(references, q, view, start) : undefined;
      const status = q !== '' && shown === undefined ? 404 : 200;
      reply.header('cache-control', 'no-store');
      if (format === 'json') {
        return reply
          .code(status)
          .type('application/json; charset=utf-8')
          .send(JSON.stringify(shown === undefined ? nothingJson(q, references) : linksJson(shown)));
      }
      const page =
        shown !== undefined ? linksPage(shown) : q === '' ? homePage(references?.counts) : nothingPage(q);
      return sendPage(reply, status, page);
    },
  });
}

function viewOf(
  references: References,
  query: string,
  wanted: ViewName | undefined,
  start: number,
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
  const view = wanted !== undefined && totals.has(wanted) ? wanted : ([...totals.keys()][0] ?? 'to');
  const list = listOf(view);
  const ids = list === undefined ? [] : [...list.page(start, PAGE)];
  const results = ids.map((id) => ({ id, url: references.document(id)?.url }));
  return { query, view, subject, totals, found: list?.total ?? 0, start, results, pageSize: PAGE };
}

function linksJson({ query, view, subject, found, start, results }: LinksView): object {
  const { document, id, server } = subject;
  return {
    query,
    view,
    document: id === undefined ? null : { ...document, id },
    server: server ?? null,
    found,
    start,
    results: results.map(({ id, url }) => ({ id, url: url ?? null })),
  };
}

function nothingJson(query: string, references: References | undefined): object {
  return query === '' ? { counts: references?.counts ?? null } : { query, found: 0, results: [] };
}
