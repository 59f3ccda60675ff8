// The crawl's console over HTTP: access, pages, JSON, events, plots, metrics.
import { once } from 'node:events';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { load } from 'cheerio';
import t from 'tap';
import { StorageError } from '../../../protocols/errors.js';
import { ConsoleAccess } from '../../../servers/crawler/console/access.js';
import { CrawlConsole } from '../../../servers/crawler/console/console.js';
import { eventText, SnapshotFeed } from '../../../servers/crawler/console/feed.js';
import { RateHistory } from '../../../servers/crawler/console/history.js';
import { plotsSection, roundUp } from '../../../servers/crawler/console/plots.js';
import type { HostReport, QueueReport, RecentError, WorkerReport } from '../../../servers/crawler/control.js';
import { formatDuration } from '../../../servers/crawler/values.js';
import { consoleScene, LOG, PASSWORD } from './console-scene.js';
import { FakeCrawl, NOW, queue } from './fake-control.js';

const PAGE = { accept: 'text/html' };

/** The fields of the console's JSON answers; each address fills some of them. */
interface Answer {
  readonly queues: readonly QueueReport[];
  readonly next?: string;
  readonly hosts: readonly HostReport[];
  readonly workers: readonly WorkerReport[];
  readonly errors: readonly RecentError[];
  readonly processors: readonly object[];
  readonly samples: readonly object[];
}

type ConsoleScene = Awaited<ReturnType<typeof consoleScene>>;

/** Logs in on the login page; returns the cookie and the token of the page's forms. */
async function logIn({ request }: ConsoleScene) {
  const reply = await request('/login', {
    method: 'POST',
    body: new URLSearchParams({ password: PASSWORD }),
  });
  const set = reply.headers.get('set-cookie') ?? '';
  const cookie = set.split(';')[0] ?? '';
  const page = await (await request('/', { headers: { ...PAGE, cookie } })).text();
  const formToken = load(page)('form[action="/api/pause"] input[name=token]').attr('value') ?? '';
  return { reply, set, cookie, formToken };
}

/** Reads a stream until `count` events have arrived. */
async function events(response: Response, count: number): Promise<{ event: string; data: unknown }[]> {
  const found: { event: string; data: unknown }[] = [];
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (found.length < count) {
    const { value, done } = await reader.read();
    if (done) break;
    text += value;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const match = /^event: (\w+)\ndata: (.*)$/.exec(text.slice(0, end));
      if (match !== null) found.push({ event: match[1]!, data: JSON.parse(match[2]!) });
      text = text.slice(end + 2);
    }
  }
  await reader.cancel();
  return found;
}

t.test('every page and API requires the password or the token', async (t) => {
  const scene = await consoleScene(t);
  const { request, crawl } = scene;
  for (const path of ['/api/snapshot', '/api/queues', '/events', '/metrics', '/api/nonsense'])
    t.equal((await request(path)).status, 401, path);
  const page = await request('/', { headers: PAGE });
  t.same([page.status, page.headers.get('location')], [303, '/login']);
  t.equal((await request('/api/stop', { method: 'POST' })).status, 401);
  for (const path of ['/login', '/style.css', '/console.css', '/console.js', '/icon.svg'])
    t.equal((await request(path)).status, 200, path);

  const wrong = await request('/login', {
    method: 'POST',
    body: new URLSearchParams({ password: 'sesame' }),
  });
  t.equal(wrong.status, 403);
  t.equal(wrong.headers.get('set-cookie'), null);
  const foreign = await request('/login', {
    method: 'POST',
    body: new URLSearchParams({ password: PASSWORD }),
    headers: { origin: 'http://evil.example' },
  });
  t.equal(foreign.status, 403);

  const { reply, set, cookie } = await logIn(scene);
  t.equal(reply.status, 303);
  t.match(set, /^harvest-console-\d+=[\w-]{32}; Path=\/; HttpOnly; SameSite=Strict$/);
  const shown = await request('/', { headers: { ...PAGE, cookie } });
  t.equal(shown.status, 200);
  t.equal(shown.headers.get('cache-control'), 'no-store');
  t.match(shown.headers.get('content-security-policy'), /default-src 'none'.*frame-ancestors 'none'/);
  t.notMatch(await shown.text(), PASSWORD);
  const basic = Buffer.from(`anybody:${PASSWORD}`).toString('base64');
  t.equal((await request('/metrics', { headers: { authorization: `Basic ${basic}` } })).status, 200);
  t.equal((await request('/metrics', { headers: { authorization: 'Bearer nonsense' } })).status, 401);

  const $ = load(await (await request('/', { headers: { ...PAGE, cookie } })).text());
  const token = $('form[action="/logout"] input[name=token]').attr('value') ?? '';
  await request('/logout', { method: 'POST', headers: { cookie }, body: new URLSearchParams({ token }) });
  t.equal((await request('/api/snapshot', { headers: { cookie } })).status, 401, 'invalid after logging out');
  t.same(crawl.actions, []);
});

t.test('wrong passwords are throttled, and sessions expire', async (t) => {
  const scene = await consoleScene(t);
  const guess = (password: string) =>
    scene.request('/login', { method: 'POST', body: new URLSearchParams({ password }) });
  for (let i = 0; i < 10; i++) t.equal((await guess(`no ${i}`)).status, 403);
  const throttled = await guess(PASSWORD);
  t.equal(throttled.status, 429, 'even the right password is refused');
  t.match(throttled.headers.get('retry-after'), /^\d+$/);
  const basic = Buffer.from(`:${PASSWORD}`).toString('base64');
  const program = await scene.request('/api/snapshot', { headers: { authorization: `Basic ${basic}` } });
  t.equal(program.status, 429);
  t.equal((await scene.request('/api/snapshot', { headers: scene.bearer })).status, 200, 'the token works');
  const wrong = { authorization: 'Bearer wrong' };
  for (let i = 0; i < 10; i++)
    t.equal((await scene.request('/api/snapshot', { headers: wrong })).status, 401, 'a wrong token');
  const refused = await scene.request('/api/snapshot', { headers: wrong });
  t.equal(refused.status, 429, 'after ten wrong tokens no further one is looked at');
  t.match(refused.headers.get('retry-after'), /^\d+$/);
  const owner = await scene.request('/api/snapshot', { headers: scene.bearer });
  t.equal(owner.status, 200, 'others at the same address do not lock out the owner');

  let now = NOW;
  const access = new ConsoleAccess(PASSWORD, () => now);
  const session = access.begin();
  now += 11 * 3_600_000;
  t.equal(access.session(session.id), session, 'a session that was used within twelve hours is valid');
  now += 13 * 3_600_000;
  t.equal(access.session(session.id), undefined);
  const first = access.begin();
  for (let i = 0; i < 100; i++) access.begin();
  t.equal(access.session(first.id), undefined, 'at most a hundred sessions');
  t.same(
    new ConsoleAccess('').tryPassword('192.0.2.1', ''),
    { outcome: 'wrong' },
    'the empty one is refused',
  );
});

t.test('an action requires the form token and the origin of the console', async (t) => {
  const scene = await consoleScene(t);
  const { cookie, formToken } = await logIn(scene);
  const pause = (headers: Record<string, string>, token: string) =>
    scene.request('/api/pause', { method: 'POST', headers, body: new URLSearchParams({ token }) });
  for (const [name, headers, token] of [
    ['no token', { cookie }, ''],
    ['a foreign token', { cookie }, formToken.replace(/.$/, '!')],
    ['another site', { cookie, 'sec-fetch-site': 'cross-site' }, formToken],
    ['another origin', { cookie, origin: 'http://evil.example' }, formToken],
    ['no origin', { cookie, origin: 'null' }, formToken],
    ['a token for the cookie', { ...scene.bearer, 'sec-fetch-site': 'cross-site' }, formToken],
  ] as const)
    t.equal((await pause(headers, token)).status, 403, name);
  t.same(scene.crawl.actions, []);
  const done = await pause({ cookie, origin: scene.crawlConsole.url.slice(0, -1) }, formToken);
  t.same([done.status, done.headers.get('location')], [303, '/']);
  t.same(scene.crawl.actions, ['pause']);
});

t.test('the name in Host must be allowed (DNS rebinding)', async (t) => {
  const scene = await consoleScene(t, { allowedHosts: ['Crawler.Example'] });
  const status = async (host: string) => {
    const request = httpGet(`${scene.crawlConsole.url}login`, { headers: { host } });
    const [reply] = (await once(request, 'response')) as [IncomingMessage];
    reply.resume();
    return reply.statusCode;
  };
  t.equal(await status('evil.example'), 421);
  t.equal(await status('evil.example:80'), 421);
  t.equal(await status(`localhost:${scene.crawlConsole.address.port}`), 200);
  t.equal(await status('crawler.example:8090'), 200);
  t.equal(await status('[::1]:80'), 200);
  t.equal(await status('127.0.0.1.evil.example'), 421);
  await t.rejects(
    CrawlConsole.start({ control: scene.crawl, host: '0.0.0.0', port: 0, password: '', name: 'x', log: LOG }),
    /a password is required to listen on 0\.0\.0\.0/,
  );
  await t.rejects(
    CrawlConsole.start({
      control: scene.crawl,
      port: scene.crawlConsole.address.port,
      password: '',
      name: 'x',
      log: LOG,
    }),
    { name: 'ConnectionError', message: /cannot listen/ },
  );
});

t.test('CRAWL-22: JSON says why each queue waits', async (t) => {
  const { request, bearer, crawl, crawlConsole } = await consoleScene(t);
  const json = async (path: string, status = 200) => {
    const reply = await request(path, { headers: bearer });
    t.equal(reply.status, status, path);
    return (await reply.json()) as Answer;
  };
  t.same(await json('/api/snapshot'), crawl.snapshot());
  const snoozed = await json('/api/queues?state=snoozed&limit=1');
  t.same(
    snoozed.queues.map(({ classKey, reason, wakeTime }) => [classKey, reason, wakeTime]),
    [['b.example', 'politeness', NOW + 4000]],
  );
  t.equal(snoozed.next, 'b.example');
  const rest = await json('/api/queues?state=snoozed&limit=1&after=b.example');
  t.equal(rest.queues[0]?.reason, 'retry-after');
  t.notOk('next' in rest, 'the last page');
  t.equal((await json('/api/hosts?match=8080')).hosts.length, 1);
  t.same((await json('/api/workers')).workers, crawl.workerReports);
  t.same((await json('/api/errors')).errors, crawl.errorReports);
  t.same((await json('/api/chains')).processors, crawl.chains());
  t.equal((await json('/api/history')).samples.length, 1);
  for (const path of ['/api/queues?state=nonsense', '/api/queues?limit=0', '/api/queues?limit=1001'])
    t.match(await json(path, 400), { ok: false, error: /: expected .+/ });
  await json('/api/nothing', 404);
  const large = await request('/api/delete-uris', {
    method: 'POST',
    headers: bearer,
    body: new URLSearchParams({ pattern: 'x'.repeat(20_000) }),
  });
  t.equal(large.status, 413);
  t.match(crawlConsole.url, /^http:\/\/127\.0\.0\.1:\d+\/$/);
});

t.test('CRAWL-5.6.6 CRAWL-20.3 every action of an operator reaches the crawl', async (t) => {
  const { request, bearer, crawl } = await consoleScene(t);
  const runAction = async (name: string, fields: object = {}) => {
    const body = JSON.stringify(fields);
    const headers = { ...bearer, 'content-type': 'application/json' };
    const reply = await request(`/api/${name}`, { method: 'POST', headers, body });
    return [reply.status, await reply.json()] as const;
  };
  for (const name of ['pause', 'resume', 'force-wake']) t.match(await runAction(name), [200, { ok: true }]);
  t.match(await runAction('checkpoint'), [200, { ok: true, checkpoint: { name: 'cp00008' } }]);
  t.match(await runAction('reconsider-retired'), [200, { queues: 1, text: '1 retired queue may continue.' }]);
  t.match(await runAction('delete-uris', { pattern: 'a+', queuePattern: '^x' }), [200, { deleted: 17 }]);
  t.match(await runAction('kill-worker', { worker: 0 }), [200, { ok: true }]);
  t.match(await runAction('kill-worker', { worker: 1 }), [409, { ok: false, error: 'Worker 1 is idle.' }]);
  t.match(await runAction('stop'), [200, { ok: true }]);
  const received = [
    ...['pause', 'resume', 'wake', 'checkpoint', 'reconsider'],
    ...['delete a+ in ^x', 'kill 0', 'kill 1', 'stop'],
  ];
  t.same(crawl.actions, received);
  for (const [name, fields] of [
    ['delete-uris', {}],
    ['delete-uris', { pattern: '(' }],
    ['delete-uris', { pattern: 'a', queuePattern: '(?=x)' }],
    ['delete-uris', { pattern: 'a'.repeat(1025) }],
    ['kill-worker', { worker: 'x' }],
  ] as const)
    t.match(
      await runAction(name, fields),
      [400, { ok: false }],
      `${name} ${JSON.stringify(fields).slice(0, 40)}`,
    );
  t.same(crawl.actions, received, 'an invalid request performs no action');
  crawl.checkpointError = new StorageError('no room on the disk');
  t.match(await runAction('checkpoint'), [500, { ok: false, error: 'no room on the disk' }]);
  crawl.checkpointError = new TypeError('secret');
  const [status, reply] = await runAction('checkpoint');
  t.equal(status, 500);
  t.notMatch(JSON.stringify(reply), /secret/);
});

t.test('the page works without scripts', async (t) => {
  const scene = await consoleScene(t);
  scene.crawl.queueReports = Array.from({ length: 60 }, (_, i) =>
    queue(`q${String(i).padStart(2, '0')}.example`, {
      state: 'snoozed',
      count: i,
      reason: 'crawl-delay',
      wakeTime: NOW + 90_000,
    }),
  );
  const { cookie, formToken } = await logIn(scene);
  const page = async (path: string) => {
    const reply = await scene.request(path, { headers: { ...PAGE, cookie } });
    return load(await reply.text());
  };
  const $ = await page('/?state=snoozed');
  t.equal($('h1').text(), 'example');
  t.equal($('[data-part=state]').text(), 'running');
  t.match($('[data-part=totals]').text(), /1,234.*71 of 2,000 discovered.*1 h 2 min/s);
  t.equal($('[data-part=plots] svg[role=img]').length, 4);
  t.match($('[data-part=states]').text(), /snoozed2.*pause after a contact1.*its server asked to wait1/s);
  t.equal($('[data-part=queues] tbody tr').length, 50);
  t.match(
    $('[data-part=queues] tbody tr').first().text(),
    /robots\.txt asks for a longer pause, 1 min 30 s left/,
  );
  t.match($('[data-part=hosts]').text(), /b\.example:8080.*has rules, delay 7 s/s);
  t.match($('[data-part=workers]').text(), /<script>alert\(1\)<\/script>.*fetch2 s.*1idle/s);
  t.match($('[data-part=errors]').text(), /1 min 5 s ago-2http:\/\/b\.example\/\ufffd\[2Jgone/);
  t.equal($('main script').length, 0, 'text from the network is escaped');
  t.equal($('[style], [onclick]').length, 0, 'the page has nothing that its Content-Security-Policy forbids');
  const next = $('a[rel=next]').attr('href') ?? '';
  t.equal(next, '/?state=snoozed&after=q49.example#queues');
  const second = await page(next);
  t.equal(second('[data-part=queues] tbody tr').length, 10);
  t.equal(second('a[rel=next]').length, 0);
  t.equal((await page('/?state=ready'))('[data-part=queues]').text().trim(), 'No queue is ready.');
  t.equal((await page('/?host=8080'))('[data-part=hosts] tbody tr').length, 1);

  t.ok($('form[action="/api/resume"] button').is('[disabled]'));
  const body = new URLSearchParams({ token: formToken });
  await scene.request('/api/pause', { method: 'POST', headers: { cookie, ...PAGE }, body });
  const after = await page('/');
  t.match(after('#outcome').text(), /pauses/);
  t.notOk(after('form[action="/api/resume"] button').is('[disabled]'));
  t.ok(after('form[action="/api/pause"] button').is('[disabled]'));
  t.equal((await page('/'))('#outcome').text(), '', 'the outcome is shown once');
  body.set('worker', '1');
  await scene.request('/api/kill-worker', { method: 'POST', headers: { cookie, ...PAGE }, body });
  const refused = await page('/');
  t.equal(refused('#outcome.error').text(), 'Worker 1 is idle.');
  t.equal((await scene.request('/', { headers: { ...PAGE, ...scene.bearer } })).status, 403);
});

t.test('the event stream sends snapshots and the sections of the page', async (t) => {
  const scene = await consoleScene(t, { intervalMs: 20 });
  const plain = await scene.request('/events', { headers: scene.bearer });
  t.equal(plain.headers.get('content-type'), 'text/event-stream');
  t.match(plain.headers.get('content-security-policy'), /default-src 'none'/);
  const snapshots = await events(plain, 3);
  t.same(
    snapshots.map(({ event }) => event),
    ['snapshot', 'snapshot', 'snapshot'],
  );
  t.same(snapshots[0]?.data, scene.crawl.snapshot());

  const { cookie } = await logIn(scene);
  const live = await events(
    await scene.request('/events?parts=yes&state=retired', { headers: { cookie } }),
    4,
  );
  t.same(
    live.map(({ event }) => event),
    ['snapshot', 'parts', 'snapshot', 'parts'],
  );
  const [, first, , second] = live.map(({ data }) => data as Record<string, string>);
  t.match(first?.queues, /e\.example/);
  t.notMatch(first?.queues, /a\.example/);
  t.same(Object.keys(first ?? {}).sort(), [
    ...['chains', 'errors', 'hosts', 'plots', 'queues', 'state', 'states', 'totals', 'workers'],
  ]);
  t.notOk('queues' in (second ?? {}), 'the slow sections are sent every third time');

  // A stream ends with its session, and with the console.
  const sessionStream = await scene.request('/events', { headers: { cookie } });
  const $ = load(await (await scene.request('/', { headers: { ...PAGE, cookie } })).text());
  const token = $('form[action="/logout"] input[name=token]').attr('value') ?? '';
  await scene.request('/logout', {
    method: 'POST',
    headers: { cookie },
    body: new URLSearchParams({ token }),
  });
  t.match(await sessionStream.text(), /^retry: 2000\n\nevent: snapshot\n/);
  const tokenStream = await scene.request('/events', { headers: scene.bearer });
  const remaining = tokenStream.text();
  await scene.crawlConsole.close();
  t.match(await remaining, /event: snapshot/);
});

t.test('a slow listener misses snapshots and does not delay the others', async (t) => {
  const crawl = new FakeCrawl();
  crawl.snapshotChanges = { name: 'x'.repeat(200_000) };
  const feed = new SnapshotFeed({ control: crawl, log: LOG, intervalMs: 0, maxMissed: 5 });
  const sink = {
    writableNeedDrain: false,
    destroyed: false,
    waiting: 0,
    ended: false,
    write(text: string) {
      this.waiting += text.length;
      this.writableNeedDrain = true;
      return false;
    },
    end() {
      this.ended = true;
    },
    destroy() {
      this.destroyed = true;
    },
  };
  let allowed = true;
  const follower = { sink, address: '192.0.2.1', moreEvents: async () => '', allowed: () => allowed };
  const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
  feed.follow(follower);
  await nextTurn();
  t.equal(feed.followers, 1);
  const snapshotLength = sink.waiting;
  t.ok(snapshotLength > 200_000);
  for (let i = 0; i < 4; i++) feed.tick();
  await nextTurn();
  t.equal(sink.waiting, snapshotLength, 'at most one snapshot is buffered for it');
  t.equal(feed.missed, 4);
  sink.writableNeedDrain = false;
  feed.tick();
  await nextTurn();
  t.equal(sink.waiting, 2 * snapshotLength, 'it receives the next snapshot after it has read');
  for (let i = 0; i < 5; i++) feed.tick();
  t.ok(sink.destroyed, 'it is disconnected after five missed snapshots');
  t.equal(feed.followers, 0);

  sink.destroyed = false;
  sink.writableNeedDrain = false;
  feed.follow(follower);
  await nextTurn();
  allowed = false;
  feed.tick();
  t.ok(sink.ended, 'a stream ends when its reader loses access');
  t.equal(feed.followers, 0);
  feed[Symbol.dispose]();
  t.equal(eventText('a', { b: 'c\nd' }), 'event: a\ndata: {"b":"c\\nd"}\n\n');
});

t.test('a ring buffer holds the last ten minutes for the plots', (t) => {
  const crawl = new FakeCrawl();
  const history = new RateHistory(4);
  for (let i = 0; i < 6; i++) {
    crawl.timeOffsetMs = i * 3000;
    crawl.snapshotChanges = { currentDocumentsPerSecond: i };
    history.add(crawl.snapshot());
  }
  t.same(
    history.samples().map(({ documentsPerSecond }) => documentsPerSecond),
    [2, 3, 4, 5],
  );
  const $ = load(plotsSection(history.samples(), NOW + 15_000).text);
  t.equal(
    $('polyline').first().attr('points'),
    '591,72.0 594,48.0 597,24.0 600,0.0',
    'upper edge 5, right edge now',
  );
  t.match($('svg').first().attr('aria-label'), /^Documents a second: now 5, at most 5 /);
  t.same([0, 0.3, 1, 1.1, 2, 3, 5.1, 99, 1234].map(roundUp), [1, 1, 1, 2, 2, 5, 10, 100, 2000]);
  t.same([0, 450, 12_000, 60_000, 200_000, 7_500_000, 273_600_000].map(formatDuration), [
    '0 ms',
    '450 ms',
    '12 s',
    '1 min',
    '3 min 20 s',
    '2 h 5 min',
    '3 d 4 h',
  ]);
  t.end();
});

t.test('the metrics are in the text format of Prometheus', async (t) => {
  const { request, bearer, crawl } = await consoleScene(t);
  crawl.snapshotChanges = { name: 'a "b" \\' };
  const reply = await request('/metrics', { headers: bearer });
  t.match(reply.headers.get('content-type'), 'text/plain; version=0.0.4');
  const text = await reply.text();
  const crawlLabel = 'crawl="a \\"b\\" \\\\"';
  for (const line of [
    `harvest_crawl_uris_succeeded_total{${crawlLabel}} 1234`,
    `harvest_crawl_queues{${crawlLabel},state="snoozed"} 2`,
    `harvest_crawl_queues_waiting{${crawlLabel},reason="retry-after"} 1`,
    `harvest_crawl_queues_waiting{${crawlLabel},reason="quota"} 0`,
    `harvest_crawl_disk_free_bytes{${crawlLabel}} 5000000000`,
    `harvest_crawl_state{${crawlLabel},state="running"} 1`,
  ])
    t.ok(text.split('\n').includes(line), line);
  const described = [...text.matchAll(/^# TYPE (\w+) (?:counter|gauge)$/gm)].map((match) => match[1]);
  const used = new Set([...text.matchAll(/^(\w+)\{/gm)].map((match) => match[1]));
  t.same([...used], described, 'each metric is described once');
});
