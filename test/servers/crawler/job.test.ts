// Whole crawls by an order, over a site on loopback: all components of the crawl engine together.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { parseGathererConf } from '../../../protocols/config/index.js';
import type { CrawlControl } from '../../../servers/crawler/index.js';
import { listCheckpoints, verifyCheckpoint } from '../../../servers/crawler/index.js';
import { readJournal } from '../../../servers/crawler/journal/journal-reader.js';
import { parseCrawlLogLine } from '../../../servers/crawler/logs/crawl-log.js';
import { type CrawlOrderInput, crawlOrderSchema } from '../../../servers/crawler/order/order.js';
import {
  type DocumentEvent,
  documentChannel,
  Gatherer,
  type GathererOptions,
} from '../../../servers/gatherer/index.js';
import { type Page, page, Site } from '../../helpers/site.js';
import { waitUntil } from '../../helpers/wait-until.js';

const never = new AbortController().signal;

/** Answers with a page of HTML and further fields. */
function html(text: string, headers: Record<string, string> = {}): Exclude<Page, string> {
  return (_, response) => response.writeHead(200, { 'content-type': 'text/html', ...headers }).end(text);
}

/** Returns the configuration of a Gatherer with these RootNodes. */
function config(roots: string): GathererOptions['config'] {
  const text = `Gatherer-Name: Test\nGatherer-Host: g.example.org\nAccess-Delay: 0\n<RootNodes>\n${roots}\n</RootNodes>\n`;
  return parseGathererConf(text, 'test.cf', {}).config;
}

/** Parses an order that crawls as fast as possible. */
function order(input: CrawlOrderInput): NonNullable<GathererOptions['order']> {
  const { settings, ...rest } = input;
  return crawlOrderSchema.parse({
    ...rest,
    settings: { delayFactor: 0, minDelayMs: 0, retryDelaySeconds: 0.01, maxRetries: 2, ...settings },
  });
}

/**
 * Opens a Gatherer, calls `run` with it, and returns the events of its URIs. @param onEvent is called with
 * those until now
 */
async function gather(
  options: Omit<GathererOptions, 'essenceWorkers'>,
  run: (gatherer: Gatherer) => Promise<unknown> = (gatherer) => gatherer.run(never),
  onEvent: (events: readonly DocumentEvent[]) => void = () => undefined,
): Promise<DocumentEvent[]> {
  const events: DocumentEvent[] = [];
  const listen = (message: unknown): void => {
    events.push(message as DocumentEvent);
    onEvent(events);
  };
  documentChannel.subscribe(listen);
  try {
    await using gatherer = await Gatherer.open({ essenceWorkers: 0, ...options });
    await run(gatherer);
  } finally {
    documentChannel.unsubscribe(listen);
  }
  return events;
}

t.test('logs, journal, WARC files, checkpoint and reports of a crawl agree', async (t) => {
  const pages = Object.fromEntries(
    Array.from({ length: 30 }, (_, i) => [`/p${i}`, page(`Page ${i}`, [`/p${(i + 1) % 30}`, '/missing'])]),
  );
  await using site = await Site.start({ '/': page('Start', ['/p0', '/p7']), ...pages });
  const directory = t.testdir();
  const warc = join(directory, 'warc');
  let control: CrawlControl | undefined;
  let checkpoint: Promise<unknown> | undefined;
  const events = await gather(
    {
      directory,
      config: config(`${site.url}/ Delay=0 URL=100,/dev/null`),
      order: order({
        name: 'whole',
        recoveryJournal: true,
        sourceTagSeeds: true,
        warc: { directory: warc },
      }),
      onControl: (running) => {
        control = running;
      },
    },
    async (gatherer) => {
      const report = await gatherer.run(never);
      await checkpoint;
      t.equal(report.end, 'finished');
      t.equal(report.counts.summarized, 31);
    },
    ({ length }) => {
      if (length !== 3) return;
      control?.pause();
      checkpoint = control?.checkpoint().finally(() => control?.resume());
    },
  );

  const crawl = join(directory, 'crawl');
  const log = readFileSync(join(crawl, 'logs', 'crawl.log'), 'utf8');
  const rotated = readdirSync(join(crawl, 'logs')).filter((name) => /^crawl\.log\./.test(name));
  const lines = [...rotated.map((name) => readFileSync(join(crawl, 'logs', name), 'utf8')), log]
    .join('')
    .trimEnd()
    .split('\n')
    .map((line) => parseCrawlLogLine(line));
  const disposed = events.filter(({ disposition }) => disposition !== 'retry');
  t.same(
    lines.map((line) => line?.url).sort(),
    disposed.map(({ url }) => url).sort(),
    'CRAWL-16.1: the crawl log has a line for each finished URI, across its rotation',
  );
  t.ok(
    lines.every((line) => line?.status === 404 || line?.digest.startsWith('sha1:') === true),
    'each fetched page has a digest',
  );

  const journals = readdirSync(join(crawl, 'logs')).filter((name) => name.startsWith('recover.gz'));
  const tags: string[] = [];
  for (const name of journals.sort().reverse())
    for await (const event of readJournal(join(crawl, 'logs', name))) tags.push(event.tag);
  const count = (tag: string): number => tags.filter((one) => one === tag).length;
  t.equal(count('F+'), 32, 'CRAWL-17.1.1: the journal adds every URI once');
  t.equal(count('Fs') + count('Ff'), 32, 'the journal finishes every URI');

  const [file] = readdirSync(warc);
  const text = gunzipSync(readFileSync(join(warc, file!))).toString('latin1');
  const targets = [...text.matchAll(/^WARC-Type: response\r\n(?:.+\r\n)*?WARC-Target-URI: (.*)\r$/gm)];
  t.ok(file?.endsWith('.warc.gz'), 'the WARC file is finished');
  // The 32 documents and robots.txt.
  t.equal(new Set([...text.matchAll(/^WARC-Target-URI: (.*)\r$/gm)].map((found) => found[1])).size, 33);
  t.ok(targets.length <= 33);

  const names = await listCheckpoints(join(crawl, 'checkpoints'));
  t.equal(names.length, 1, 'CRAWL-17.3.1: the requested checkpoint');
  await verifyCheckpoint(join(crawl, 'checkpoints', names[0]!));
  t.match(readFileSync(join(crawl, 'reports', 'crawl-report.txt'), 'utf8'), /finished/);

  const snapshot = control!.snapshot();
  t.equal(snapshot.state, 'finished');
  t.equal(snapshot.succeeded, 32, 'CRAWL-8.2: a 404 is a success for the counters');
  t.equal(snapshot.queued, 0);
  t.equal(snapshot.discovered, 32);
});

t.test('CRAWL-18.2 a second crawl finds unchanged pages by digest and by 304', async (t) => {
  await using site = await Site.start({
    '/': page('Start', ['/etag']),
    '/etag': ({ headers }, response) => {
      const isKnown = headers['if-none-match'] === '"1"';
      response.writeHead(isKnown ? 304 : 200, { etag: '"1"', 'content-type': 'text/html' });
      response.end(isKnown ? '' : page('E', []));
    },
  });
  const options = {
    directory: t.testdir(),
    config: { ...config(`${site.url}/ Delay=0`), httpIfModifiedSince: true },
    order: order({ warc: { directory: join(t.testdirName, 'warc') } }),
    force: true,
  };
  await gather(options);
  const annotations = new Map(annotationsOf(await gather(options)));
  t.match(annotations.get('/'), /duplicate:digest/);
  t.match(annotations.get('/etag'), /duplicate:server-not-modified/);
});

t.test('CRAWL-16.4 uri-errors.log lists each link that is not a URI once, without credentials', async (t) => {
  const malformed = [
    'http://[bad/x',
    'http://[bad/x#part',
    'http://user:secret@[bad/',
    `/${'x'.repeat(3000)}`,
  ];
  const elsewhere = ['javascript:void(0)', 'mailto:a@b.example', 'data:,x', '', '#top', 'skype:me'];
  await using site = await Site.start({ '/': page('Start', [...malformed, ...elsewhere]) });
  const directory = t.testdir();
  await gather({ directory, config: config(`${site.url}/ Delay=0`), order: order({}) });
  const log = readFileSync(join(directory, 'crawl', 'logs', 'uri-errors.log'), 'utf8');
  t.same(
    log
      .trimEnd()
      .split('\n')
      .map((line) => line.replace(/^\S+ /, '').replace(/x{100,}/, 'xxx')),
    [
      `${site.url}/ "not a URL" http://[bad/x`,
      `${site.url}/ "not a URL" http://[bad/`,
      `${site.url}/ "longer than 2083 characters" /xxx…`,
    ],
  );
});

/** Returns URL path and annotations of each finished URI, in the order of the paths. */
function annotationsOf(events: readonly DocumentEvent[]): [string, string][] {
  return events
    .filter(({ disposition }) => disposition !== 'retry')
    .map(({ url, annotations }): [string, string] => [new URL(url).pathname, annotations.join()])
    .sort();
}

t.test('CRAWL-18.8 skipUnchanged in a sheet: the links of an unchanged page are not followed', async (t) => {
  let hits = 0;
  const counter: Page = (_, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end(page('Counter', ['/b'], `${++hits} hits`));
  await using site = await Site.start({
    '/': page('Start', ['/skipped/', '/counter', '/followed']),
    '/skipped/': page('Skipped', ['/a']),
    '/followed': page('Followed', []),
    '/counter': counter,
    '/a': page('A', []),
    '/b': page('B', []),
  });
  const options = {
    directory: t.testdir(),
    config: config(`${site.url}/ Delay=0`),
    force: true,
    order: order({
      logs: false,
      settings: { digestStripPattern: '[0-9]+ hits' },
      sheets: ['/skipped/', '/counter'].map((path) => ({
        name: path,
        rules: [{ rule: 'matches', answer: 'ACCEPT', patterns: [`.*${path}`] }],
        settings: { skipUnchanged: true },
      })),
    }),
  };
  await gather(options);
  const requests = site.requests.length;
  const events = await gather(options, async (gatherer) => {
    await gatherer.run(never);
    const { store } = gatherer;
    t.ok(store.summaries.count > 0);
    const record = await store.documents.get(`${site.url}/skipped/`);
    t.same(
      record?.links.map(({ url }) => url),
      [`${site.url}/a`],
      'the links of the unchanged document are kept in the store',
    );
  });
  t.same(annotationsOf(events), [
    ['/', 'duplicate:digest'],
    ['/counter', 'duplicate:digest,unchanged'],
    ['/followed', 'duplicate:digest'],
    ['/skipped/', 'duplicate:digest,unchanged'],
  ]);
  t.notOk(site.requests.slice(requests).some(({ path }) => path === '/a' || path === '/b'));
});

t.test('CRAWL-18.5 warc.digestHistory: the same body under another URI is a revisit record', async (t) => {
  const same = page('Same', []);
  await using site = await Site.start({ '/': page('Start', ['/one', '/two']), '/one': same, '/two': same });
  const directory = t.testdir();
  const warc = join(directory, 'warc');
  const events = await gather({
    directory,
    config: config(`${site.url}/ Delay=0`),
    order: order({ logs: false, warc: { directory: warc, digestHistory: true } }),
  });
  t.same(annotationsOf(events), [
    ['/', ''],
    ['/one', ''],
    ['/two', 'duplicate:digest,warcRevisit:digest'],
  ]);
  const files = readdirSync(warc)
    .filter((name) => name.endsWith('.gz'))
    .map((name) => gunzipSync(readFileSync(join(warc, name))).toString('latin1'));
  t.match(files.join(''), `WARC-Refers-To-Target-URI: ${site.url}/one`);
});

t.test('CRAWL-11.3 runtimeSeconds: the crawl pauses, ends, or blocks the URIs that follow', async (t) => {
  await using site = await Site.start({
    // The crawl has run for more than a second when the limited pages are found.
    '/': (request, response) => void setTimeout(() => html(page('Start', ['/a']))(request, response), 1100),
    '/a': page('A', ['/b']),
    '/b': page('B', []),
  });
  const directory = t.testdir();
  const run = async (runtimeOperation: 'pause' | 'terminate' | 'block') => {
    let end: string | undefined;
    let paused = 0;
    const resumeOnce = async (control: CrawlControl): Promise<void> => {
      await waitUntil(() => ['paused', 'finished'].includes(control.snapshot().state));
      if (control.snapshot().state === 'finished') return;
      paused++;
      control.resume();
    };
    const events = await gather(
      {
        directory: join(directory, runtimeOperation),
        config: config(`${site.url}/ Delay=0`),
        order: order({
          logs: false,
          sheets: [
            {
              name: 'limited',
              rules: [{ rule: 'matches', answer: 'ACCEPT', patterns: ['.*/[ab]'] }],
              settings: { runtimeSeconds: 1, runtimeOperation },
            },
          ],
        }),
        onControl: (control) => void resumeOnce(control),
      },
      async (gatherer) => {
        end = (await gatherer.run(never)).end;
      },
    );
    return { end, paused, paths: annotationsOf(events) };
  };
  const limited = [
    ['/', ''],
    ['/a', 'runtimeLimit:1s'],
  ];
  t.same(await run('pause'), { end: 'finished', paused: 1, paths: [...limited, ['/b', '']] });
  t.same(await run('terminate'), { end: 'time limit', paused: 0, paths: limited });
  t.same(await run('block'), { end: 'finished', paused: 0, paths: limited });
});

t.test('G-172 Enumeration=sitemap gathers the URLs of sitemaps only', async (t) => {
  const site = await Site.start({});
  t.teardown(() => site.close());
  const { url } = site;
  const xml =
    (body: string): Page =>
    (_, response) =>
      response.writeHead(200, { 'content-type': 'application/xml' }).end(`<?xml version="1.0"?>${body}`);
  const pages: [string, Page][] = [
    ['/robots.txt', `User-agent: *\nDisallow: /secret\nSitemap: ${url}/index.xml\n`],
    ['/index.xml', xml(`<sitemapindex><sitemap><loc>${url}/maps/one.xml</loc></sitemap></sitemapindex>`)],
    [
      '/maps/one.xml',
      xml(
        `<urlset><url><loc>${url}/a</loc></url><url><loc>${url}/b</loc></url><url><loc>${url}/secret</loc></url></urlset>`,
      ),
    ],
    ['/a', page('A', ['/not-listed', '/b'])],
    ['/b', page('B', [])],
    ['/not-listed', page('No', [])],
    ['/secret', page('Secret', [])],
  ];
  for (const [path, content] of pages) site.pages.set(path, content);
  const events = await gather(
    {
      directory: t.testdir(),
      config: config(`${url}/ Delay=0 URL=100,/dev/null Enumeration=sitemap`),
      retryDelayMs: 5,
    },
    async (gatherer) => {
      const { counts } = await gatherer.run(never);
      t.equal(counts.summarized, 2, 'the two listed pages');
    },
  );
  t.notOk(site.paths.includes('/not-listed'), 'links of listed documents are not followed');
  t.notOk(site.paths.includes('/secret'), 'G-62: robots.txt applies to listed URLs too');
  t.equal(events.find(({ url }) => url.endsWith('/secret'))?.status, -9998);
});

t.test('CRAWL-13.6 X-Robots-Tag is obeyed; CRAWL-8 so is a Retry-After with a date', async (t) => {
  let busy = 1;
  await using site = await Site.start({
    '/': page('Start', ['/nofollow', '/noindex', '/busy']),
    '/nofollow': html(page('N', ['/hidden']), { 'x-robots-tag': 'nofollow' }),
    '/noindex': html(page('N', ['/found']), { 'x-robots-tag': 'otherbot: nofollow, harvest: noindex' }),
    '/busy': (request, response) => {
      if (busy-- > 0)
        response.writeHead(503, { 'retry-after': new Date(Date.now() + 2000).toUTCString() }).end();
      else html(page('Busy', []))(request, response);
    },
    '/found': page('Found', []),
    '/hidden': page('Hidden', []),
  });
  await gather(
    { directory: t.testdir(), config: config(`${site.url}/ Delay=0`), retryDelayMs: 5 },
    async (gatherer) => {
      const { counts } = await gatherer.run(never);
      t.equal(counts.rejected, 1);
      t.notOk(site.paths.includes('/hidden'));
      t.ok(site.paths.includes('/found'), 'noindex does not mean nofollow');
      const [first, second] = site.requests.filter(({ path }) => path === '/busy');
      t.ok(second!.at - first!.at >= 900, 'the date is obeyed, with a precision of one second');
    },
  );
});

t.test('CRAWL-20 an operator acts on the crawl; CRAWL-11.3 limits and quotas end it', async (t) => {
  const pages = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [`/p${i}`, page(`P${i}`, [`/p${i + 1}`])]),
  );
  let control: CrawlControl | undefined;
  await using site = await Site.start({
    '/': page('Start', ['/p0', '/hangs']),
    ...pages,
    '/hangs': () => {
      const hanging = control?.workers.reports().find(({ url }) => url.endsWith('/hangs'));
      t.equal(hanging?.step, 'Fetch');
      t.ok(control?.workers.kill(hanging?.worker ?? -1));
    },
  });
  const roots = `${site.url}/ Delay=0 URL=100,/dev/null`;
  const pauseFirst = async (running: CrawlControl): Promise<void> => {
    running.pause();
    await waitUntil(() => running.snapshot().state === 'paused');
    t.equal(site.requests.length, 0, 'no server is contacted while the crawl is paused');
    running.resume();
  };
  const directory = t.testdir();
  const events = await gather(
    {
      directory,
      config: config(roots),
      order: order({ maxDocuments: 5, logs: false, settings: { parallelQueues: 1 } }),
      onControl: (running) => {
        if (control === undefined) void pauseFirst(running);
        control = running;
      },
    },
    async (gatherer) => {
      const report = await gatherer.run(never);
      t.equal(report.end, 'document limit');
      const again = await gatherer.run(never);
      t.equal(again.resumed, true, 'the remaining URIs are kept for the next run');
    },
  );
  t.equal(events.find(({ url }) => url.endsWith('/hangs'))?.status, -7000, 'CRAWL-20.3');

  let retireReason: string | undefined;
  const limited = await gather(
    {
      directory: join(directory, 'quota'),
      config: config(`${site.url}/p0 Delay=0 URL=100,/dev/null`),
      order: order({ logs: false, settings: { quotas: { hostMaxSuccesses: 4 } } }),
    },
    async (gatherer) => {
      const report = await gatherer.run(never);
      t.equal(report.end, 'finished');
      for await (const [record] of gatherer.store.queueRecords.pages()) retireReason = record?.reason;
    },
  );
  t.equal(retireReason, 'quota');
  t.match(limited.at(-1)?.annotations, ['Q:hostMaxSuccesses']);
});
