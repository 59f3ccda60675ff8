// The OpenAPI document of the console: every address for programs is in it, and answers are as it says.
import { fastify } from 'fastify';
import t from 'tap';
import { z } from 'zod';
import { ConsoleAccess } from '../../../servers/crawler/console/access.js';
import { ACTIONS } from '../../../servers/crawler/console/actions.js';
import { addApi } from '../../../servers/crawler/console/api.js';
import type { ConsoleContext } from '../../../servers/crawler/console/context.js';
import { SnapshotFeed } from '../../../servers/crawler/console/feed.js';
import { openApiDocument } from '../../../servers/crawler/console/openapi.js';
import { failureSchema, QUERIES } from '../../../servers/crawler/console/queries.js';
import { addPageRoutes } from '../../../servers/crawler/console/routes.js';
import { LogLimiter } from '../../../servers/host/index.js';
import { cli } from '../../helpers/cli.js';
import { consoleScene, LOG } from './console-scene.js';
import { FakeCrawl } from './fake-control.js';

type Document = {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
};

const document = openApiDocument() as Document;

t.test('CRAWL-22: the document has every address for programs, and no other', async (t) => {
  const app = fastify({ exposeHeadRoutes: false });
  t.teardown(() => app.close());
  const all: string[] = [];
  app.addHook('onRoute', ({ method, url }) => void all.push(`${String(method)} ${url}`));
  const control = new FakeCrawl();
  const feed = new SnapshotFeed({ control, log: LOG, intervalMs: 0 });
  t.teardown(() => feed[Symbol.dispose]());
  const context: ConsoleContext = {
    control,
    feed,
    access: new ConsoleAccess(''),
    secure: false,
    name: 'routes',
    log: LOG,
    lines: new LogLimiter(() => undefined),
    callerOf: () => {
      throw new Error('no request is made');
    },
    cookieName: () => '',
  };
  addPageRoutes(app, context);
  addApi(app, context);
  const routes = all.filter((route) => /^\w+ \/(?:api\/|metrics$|events$)/.test(route));
  const documented = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  );
  t.same(documented.toSorted(), routes.toSorted());
});

t.test('CRAWL-22: answers and failures are as the document says', async (t) => {
  const { request, bearer } = await consoleScene(t);
  for (const [name, { answer: schema }] of Object.entries(QUERIES)) {
    const answer: unknown = await (await request(`/api/${name}`, { headers: bearer })).json();
    t.strictSame(schema.parse(answer), answer, `${name}: no member is missing or unknown`);
  }
  const fields: Readonly<Record<string, object>> = {
    'delete-uris': { pattern: 'http://a\\.example/.*' },
    'kill-worker': { worker: 0 },
  };
  for (const [name, { answer: members }] of Object.entries(ACTIONS)) {
    const schema = z.strictObject({ ok: z.literal(true), text: z.string(), ...members });
    const reply = await request(`/api/${name}`, {
      method: 'POST',
      headers: { ...bearer, 'content-type': 'application/json' },
      body: JSON.stringify(fields[name] ?? {}),
    });
    const answer: unknown = await reply.json();
    t.strictSame(schema.parse(answer), answer, name);
  }
  for (const [path, init, status] of [
    ['/api/queues?limit=0', { headers: bearer }, 400],
    ['/api/queues?state=x', { headers: bearer }, 400],
    ['/api/delete-uris', { method: 'POST', headers: bearer }, 400],
    [
      '/api/kill-worker',
      { method: 'POST', headers: bearer, body: new URLSearchParams({ worker: '77' }) },
      409,
    ],
    ['/api/snapshot', {}, 401],
  ] as const) {
    const reply = await request(path, init);
    t.equal(reply.status, status, path);
    if (status === 401) continue;
    const answer: unknown = await reply.json();
    t.strictSame(failureSchema.parse(answer), answer, path);
  }
});

t.test('the document is served and printed', async (t) => {
  const { request, bearer } = await consoleScene(t);
  t.same(await (await request('/api/openapi.json', { headers: bearer })).json(), document);
  const { code, stdout } = await cli('crawl', 'openapi');
  t.equal(code, 0);
  t.same(JSON.parse(stdout), document);
  t.equal(document.openapi, '3.1.0');
  const ids = Object.values(document.paths).flatMap((operations) =>
    Object.values(operations).map(({ operationId }) => operationId),
  );
  t.equal(new Set(ids).size, ids.length, 'each operation has its own name');
  const text = JSON.stringify(document);
  t.notMatch(text, /"\$ref":"#\/\$defs/, 'no reference leads outside the schemas');
});
