import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { References } from '../../../storage/references/contract.js';
import type { ReferencesReader } from '../../../storage/references/reader.js';
import { sendPage } from '../../web/replies.js';
import { type LinksView, readLinksView, VIEWS } from './links-view.js';
import { renderHomePage, renderLinksPage, renderUnknownPage } from './pages.js';
import { randomSubject } from './subject.js';

const querySchema = z.object({
  q: z.string().trim().max(4096).catch(''),
  view: z.enum(VIEWS).optional().catch(undefined),
  start: z.coerce.number().int().min(0).max(0xffff_ffff).catch(0),
  format: z.enum(['html', 'json']).catch('html'),
  random: z.string().optional().catch(undefined),
});

/**
 * Adds the route `/`: the links from and to a document or a site, as a page, or as JSON with `format=json`;
 * `random=1` leads to a document chosen at random.
 */
export function addLinkPages(app: FastifyInstance, current: () => ReferencesReader | undefined): void {
  app.route({
    method: ['GET', 'HEAD', 'POST'],
    url: '/',
    handler: (request, reply) => {
      const { q, view, start, format, random } = querySchema.parse(request.query);
      const references = current();
      const chosen = random === undefined || q !== '' ? undefined : references && randomSubject(references);
      if (chosen !== undefined) {
        const parameters = new URLSearchParams({ q: chosen, ...(format === 'json' ? { format } : {}) });
        return reply.header('cache-control', 'no-store').redirect(`./?${parameters}`, 303);
      }
      const shown = references && q !== '' ? readLinksView(references, { query: q, view, start }) : undefined;
      const status = q !== '' && shown === undefined ? 404 : 200;
      reply.header('cache-control', 'no-store');
      if (format === 'json') {
        return reply
          .code(status)
          .type('application/json; charset=utf-8')
          .send(JSON.stringify(shown === undefined ? emptyJson(q, references) : linksJson(shown)));
      }
      const page =
        shown !== undefined
          ? renderLinksPage(shown)
          : q === ''
            ? renderHomePage(references?.counts)
            : renderUnknownPage(q);
      return sendPage(reply, status, page);
    },
  });
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

function emptyJson(query: string, references: References | undefined): object {
  return query === '' ? { counts: references?.counts ?? null } : { query, found: 0, results: [] };
}
