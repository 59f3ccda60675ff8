// The contacts of whole crawls with real servers: how often, how soon, and when a crawl gives up (CRAWL-7, 8.3,
// 20.3).
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import t, { type Test } from 'tap';
import { createFetcher } from '../../../clients/fetch/index.js';
import {
  CrawlController,
  crawlSettingsSchema,
  type DocumentEvent,
  FetchProcessor,
  Frontier,
  FrontierPreparer,
  LinksScoper,
  PreconditionEnforcer,
  ResponseClassifier,
  ServerCache,
} from '../../../servers/crawler/index.js';
import { CrawlStatistics } from '../../../servers/crawler/logs/statistics.js';
import type { CrawlSettingsInput } from '../../../servers/crawler/order/settings.js';
import { GathererStore } from '../../../storage/index.js';
import { TLS_CERTIFICATE, TLS_KEY } from '../../helpers/tls.js';

interface Visit {
  readonly url: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Starts a server on 127.0.0.1; returns its origin. Its requests are added to `visits`. */
async function serve(
  t: Test,
  scheme: 'http' | 'https',
  visits: Visit[],
  answer: RequestListener,
): Promise<string> {
  const listener: RequestListener = (request, response) => {
    visits.push({ url: `${scheme}:${request.url}`, at: Date.now() });
    answer(request, response);
  };
  const server =
    scheme === 'http'
      ? createServer(listener)
      : createTlsServer({ key: TLS_KEY, cert: TLS_CERTIFICATE }, listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Crawls the URLs, without links; returns the events of the returned URIs. */
async function crawl(
  t: Test,
  urls: readonly string[],
  input: CrawlSettingsInput,
  onStart: (controller: CrawlController) => void = () => undefined,
): Promise<DocumentEvent[]> {
  const settings = crawlSettingsSchema.parse(input);
  const settingsFor = () => settings;
  const directory = t.testdir();
  const userAgent = 'example/1.0';
  await using fetcher = createFetcher({ userAgent, ca: TLS_CERTIFICATE });
  await using store = await GathererStore.open(directory);
  await using seen = await store.openSeenFilter();
  const preparer = new FrontierPreparer({ settingsFor });
  const frontier = await Frontier.open({ store, seen, prepare: (uri) => preparer.prepare(uri) });
  const servers = new ServerCache({ fetcher, settingsFor, robotsAgent: userAgent, timeoutMs: 10_000 });
  const limits = { maxBytes: 1 << 20, timeoutMs: 10_000 };
  const events: DocumentEvent[] = [];
  const controller = new CrawlController({
    name: 'contacts',
    store,
    directory,
    frontier,
    seen,
    servers,
    settingsFor,
    workers: 4,
    chains: {
      'pre-fetch': [new PreconditionEnforcer(servers)],
      fetch: [new FetchProcessor(fetcher, limits, servers), new ResponseClassifier(limits)],
      extract: [],
      write: [],
      'post-process': [
        new LinksScoper({ frontier, scope: { async prepare() {}, candidate: () => undefined } }),
      ],
    },
    onDocument: (event) => {
      if (event.disposition !== 'retry') events.push(event);
    },
  });
  const common = {
    root: 0,
    isLeaf: false,
    forceFetch: false,
    sourceTag: '',
    via: '',
    pathFromSeed: '',
    depth: 0,
  };
  await frontier.schedule(urls.map((url) => ({ ...common, url })));
  onStart(controller);
  await controller.run(new AbortController().signal);
  return events;
}

/** The shortest time between two visits, milliseconds. */
function shortestGap(visits: readonly Visit[]): number {
  return Math.min(...visits.slice(1).map(({ at }, i) => at - visits[i]!.at));
}

t.test('CRAWL-8.3 a robots.txt that expires before the URI returns does not defer it for ever', async (t) => {
  const visits: Visit[] = [];
  const origin = await serve(t, 'http', visits, (_, response) => response.end('User-agent: *\nAllow: /\n'));
  const settings = { delayFactor: 0, minDelayMs: 1200, robotsValiditySeconds: 1, maxRetries: 3 };
  const events = await crawl(t, [`${origin}/a`], settings);
  t.same(
    visits.map(({ url }) => url),
    ['http:/robots.txt', 'http:/robots.txt', 'http:/robots.txt'],
  );
  t.match(events, [{ status: -50, disposition: 'failed', reason: /expired/ }]);
});

t.test(
  'CRAWL-13.3.11 under rfc9309 a robots.txt with 429 holds the server until Retry-After, else for the pause',
  async (t) => {
    for (const [header, retryDelaySeconds] of [
      [{ 'retry-after': '1' }, 900],
      [{}, 1],
    ] as const) {
      const visits: Visit[] = [];
      const origin = await serve(t, 'http', visits, ({ url }, response) => {
        if (url === '/robots.txt' && visits.length === 1) response.writeHead(429, header).end();
        else response.end('User-agent: *\nDisallow: /private');
      });
      const events = await crawl(t, [`${origin}/page`, `${origin}/private`], {
        ...{ robotsPolicy: 'rfc9309', retryDelaySeconds, minDelayMs: 0, delayFactor: 0 },
      });
      t.same(
        visits.map(({ url }) => url),
        ['http:/robots.txt', 'http:/robots.txt', 'http:/page'],
      );
      t.ok(visits[1]!.at - visits[0]!.at >= 990, 'no request meanwhile');
      t.same(
        events.map(({ status }) => status),
        [200, -9998],
      );
    }
  },
);

t.test('CRAWL-20.3, G-38 the pause holds after a killed worker', async (t) => {
  const visits: Visit[] = [];
  const origin = await serve(t, 'http', visits, (request, response) => {
    // A page that never ends, and a robots.txt that a first request never gets.
    if (request.url === '/robots.txt') response.writeHead(404).end();
    else if (request.url !== '/hangs') response.end('done');
  });
  const killed: number[] = [];
  const events = await crawl(
    t,
    ['/hangs', '/after'].map((path) => origin + path),
    { delayFactor: 0, minDelayMs: 700 },
    (controller) => {
      const timer = setInterval(() => {
        const hanging = controller.workers
          .reports()
          .find(({ url, step }) => url.endsWith('/hangs') && step === 'Fetch');
        if (hanging === undefined || !visits.some(({ url }) => url.endsWith('/hangs'))) return;
        if (killed.length === 0 && controller.workers.kill(hanging.worker)) killed.push(Date.now());
      }, 5);
      t.teardown(() => clearInterval(timer));
    },
  );
  t.same(events.map(({ status }) => status).sort(), [-7000, 200]);
  const after = visits.find(({ url }) => url.endsWith('/after'))!;
  t.ok(after.at - killed[0]! >= 690, `${after.at - killed[0]!} ms after the kill`);
});

t.test('G-38 http and https of a host keep one pause, also with a redirected robots.txt', async (t) => {
  const visits: Visit[] = [];
  let secure = '';
  const plain = await serve(t, 'http', visits, (request, response) => {
    if (request.url === '/robots.txt') response.writeHead(301, { location: `${secure}/robots.txt` }).end();
    else response.end('page');
  });
  secure = await serve(t, 'https', visits, (_, response) => response.end('User-agent: *\nAllow: /\n'));
  const urls = ['/a', '/b', '/c'].flatMap((path) => [plain + path, secure + path]);
  const events = await crawl(t, urls, { delayFactor: 0, minDelayMs: 300 });
  t.same(
    events.map(({ status }) => status),
    urls.map(() => 200),
  );
  t.equal(visits.length, 9, 'six pages, two robots.txt and a redirect');
  t.ok(
    shortestGap(visits) >= 280,
    `the shortest gap: ${shortestGap(visits)} ms: ${visits.map(({ url, at }) => `${at - visits[0]!.at} ${url}`).join(', ')}`,
  );
});

/** A server of raw bytes on 127.0.0.1: each connection gets the bytes for its path, and closes. */
async function serveBytes(
  t: Test,
  visits: Visit[],
  wireOf: (path: string) => string | undefined,
): Promise<string> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (chunk) => {
      const path = /^GET (\S+)/.exec(String(chunk))?.[1] ?? '';
      visits.push({ url: path, at: Date.now() });
      socket.end(wireOf(path) ?? 'HTTP/1.1 404 no\r\nContent-Length: 0\r\n\r\n', 'latin1');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const BROKEN_PAGES: Readonly<Record<string, string>> = {
  '/robots.txt': 'HTTP/1.1 200 OK\r\nno colon\r\n\r\nUser-agent: *\nDisallow: /secret\n',
  '/plain': 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage',
  '/folded': 'HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 4\r\n\r\npage',
  '/old': 'page',
  '/short': 'HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\npage',
  '/secret': 'page',
};

t.test('CRAWL-7, 22.11 an untidy response is read leniently, with one request', async (t) => {
  const visits: Visit[] = [];
  const origin = await serveBytes(t, visits, (path) => BROKEN_PAGES[path]);
  const urls = ['/plain', '/folded', '/old', '/short', '/secret'].map((path) => origin + path);
  // Also where a host has several queues.
  const settings = { delayFactor: 0, minDelayMs: 300, parallelQueues: 3, lostMaxRetries: 1 };
  const events = await crawl(t, urls, settings);
  const found = events.map(({ url, status, bytes, annotations }) => [
    url.slice(origin.length),
    status,
    bytes,
    annotations.filter((text) => text === 'lenientHttp' || text === 'incomplete'),
  ]);
  t.same(found.sort(), [
    ['/folded', 200, 4, ['lenientHttp']],
    ['/old', 200, 4, ['lenientHttp']],
    ['/plain', 200, 4, []],
    ['/secret', -9998, 0, []],
    ['/short', 200, 4, ['lenientHttp', 'incomplete']],
  ]);
  t.same(visits.map(({ url }) => url).sort(), ['/folded', '/old', '/plain', '/robots.txt', '/short']);
  t.ok(shortestGap(visits) >= 280, `${shortestGap(visits)} ms between them`);
  const statistics = new CrawlStatistics();
  for (const event of events) statistics.document(event);
  t.equal(statistics.counters.lenientHttp, 3);
  t.equal(CrawlStatistics.restore(JSON.parse(JSON.stringify(statistics))).counters.lenientHttp, 3);
});

t.test('CRAWL-22.11 without lenientHttp only an incomplete response is an error', async (t) => {
  const visits: Visit[] = [];
  const origin = await serveBytes(t, visits, (path) =>
    path === '/robots.txt' ? undefined : BROKEN_PAGES[path],
  );
  const settings = { delayFactor: 0, minDelayMs: 50, lenientHttp: false, maxRetries: 1 };
  const events = await crawl(t, [`${origin}/old`, `${origin}/short`], settings);
  t.match(events, [
    { status: 200, bytes: 4 },
    { status: -3, disposition: 'failed', reason: /40 bytes were announced, 4 sent/ },
  ]);
  t.same(
    visits.map(({ url }) => url),
    ['/robots.txt', '/old', '/short'],
  );
});

t.test('CRAWL-22 robots.txt that is not complete is not obeyed in part', async (t) => {
  const visits: Visit[] = [];
  const cut = 'HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\nUser-agent: *\nAllow: /\n';
  const origin = await serveBytes(t, visits, (path) => (path === '/robots.txt' ? cut : 'page'));
  const settings = { delayFactor: 0, minDelayMs: 50, maxRetries: 3, retryDelaySeconds: 0.1 };
  const events = await crawl(t, [`${origin}/page`], settings);
  t.ok(events.length === 1 && events[0]!.status < 0, `status ${events[0]?.status}`);
  t.notOk(visits.some(({ url }) => url === '/page'));
});
