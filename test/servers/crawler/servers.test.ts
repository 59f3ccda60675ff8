// The crawl's state of servers: robots.txt, addresses, counters. The network and the clock are fakes.

import t from 'tap';
import type { Fetcher, FetchRequest, FetchResult } from '../../../clients/fetch/index.js';
import { ConnectionError, RefusedError, StorageError } from '../../../protocols/errors.js';
import {
  type CrawlSettings,
  type CrawlSettingsInput,
  crawlSettingsSchema,
} from '../../../servers/crawler/order/settings.js';
import { HostLocks } from '../../../servers/crawler/servers/host-locks.js';
import {
  addressBytes,
  HostAddresses,
  ServerCache,
  type ServerCacheOptions,
} from '../../../servers/crawler/servers/index.js';
import { serverOf } from '../../../servers/crawler/servers/server-key.js';

const never = new AbortController().signal;

interface Reply {
  readonly status: number;
  readonly body?: string;
  readonly location?: string;
  readonly remoteAddress?: string;
}

/** Answers from a table; other URLs cannot be reached. */
class FakeNet implements Fetcher {
  readonly requests: FetchRequest[] = [];
  /** Answers wait for this promise. */
  gate: Promise<void> = Promise.resolve();

  constructor(
    readonly pages: Record<string, Reply | Error>,
    readonly clock: { now: number },
  ) {}

  async fetch(request: FetchRequest): Promise<FetchResult> {
    this.requests.push(request);
    const beginTime = this.clock.now;
    await this.gate;
    request.signal?.throwIfAborted();
    this.clock.now += 100;
    const page = this.pages[request.url] ?? new ConnectionError('nobody answers');
    if (page instanceof Error) throw page;
    const { status, body = '', location, remoteAddress } = page;
    const bytes = new TextEncoder().encode(body);
    const kept = bytes.slice(0, request.maxBytes);
    return {
      url: request.url,
      status,
      headers: {},
      lastModified: 0,
      etag: '',
      body: kept,
      truncated: kept.length < bytes.length,
      ...(location === undefined ? {} : { location }),
      ...(remoteAddress === undefined ? {} : { remoteAddress }),
      local: false,
      beginTime,
      endTime: this.clock.now,
    };
  }

  async close(): Promise<void> {}
  async [Symbol.asyncDispose](): Promise<void> {}
}

interface World {
  readonly net: FakeNet;
  readonly clock: { now: number };
  readonly servers: ServerCache;
}

function world(
  pages: Record<string, Reply | Error>,
  settings: CrawlSettingsInput = {},
  options: Partial<ServerCacheOptions> = {},
): World {
  const clock = { now: 1_000_000 };
  const net = new FakeNet(pages, clock);
  // Redirects of robots.txt wait for the pause in real time.
  const parsed: CrawlSettings = crawlSettingsSchema.parse({ minDelayMs: 0, ...settings });
  const servers = new ServerCache({
    fetcher: net,
    settingsFor: () => parsed,
    robotsAgent: 'Harvest',
    userAgent: 'Harvest/1.9 (+http://crawler.example/)',
    timeoutMs: 1000,
    now: () => clock.now,
    ...options,
  });
  return { net, clock, servers };
}

const ROBOTS = 'http://a.example/robots.txt';
const page = (path: string): string => `http://a.example${path}`;
const rules = (body: string): Record<string, Reply> => ({ [ROBOTS]: { status: 200, body } });

/** Fetches robots.txt of a.example until it is settled; returns the number of attempts. */
async function settle({ servers }: World, url = page('/')): Promise<number> {
  for (let tries = 0; ; tries++) {
    if (servers.robotsKnown(url)) return tries;
    await servers.fetchRobots(url, never);
  }
}

t.test('CRAWL-12.1 the identity of a server', async (t) => {
  const { servers } = world({});
  t.same(serverOf('http://user@A.Example/x'), {
    server: 'a.example',
    host: 'a.example',
    origin: 'http://a.example',
  });
  t.equal(serverOf('https://a.example/').server, 'a.example:443');
  t.equal(serverOf('http://a.example:8080/').server, 'a.example:8080');
  t.equal(serverOf('ftp://a.example/').server, 'a.example:21');
  t.equal(serverOf('http://[::1]:81/').host, '[::1]');
  t.equal(serverOf('dns:a.example').server, 'a.example');
  t.equal(serverOf('file:///etc/motd').server, '');
  t.ok(servers.robotsKnown('ftp://a.example/'), 'CRAWL-12.4: only http and https have robots.txt');
  t.notOk(servers.robotsKnown('https://a.example/'));
});

t.test('G-63 by default: rules, 4xx, three tries of 5xx, five redirects', async (t) => {
  const found = world(
    rules('User-agent: harvest\nDisallow: /private/\nCrawl-delay: 7\n\nUser-agent: *\nDisallow: /'),
  );
  t.equal(await settle(found), 1);
  const { servers } = found;
  t.same(servers.verdict(page('/private/x')), {
    allowed: false,
    unavailable: false,
    reason: 'robots.txt: Disallow: /private/ (line 2)',
    fetchAs: 'Harvest/1.9 (+http://crawler.example/)',
  });
  t.ok(servers.verdict(page('/public')).allowed);
  t.equal(servers.crawlDelay(page('/x')), 7);
  t.ok(servers.robotsKnown(page('/other')), 'one file for the server');
  t.notOk(servers.robotsKnown('http://a.example:81/'), 'another port is another server');

  const missing = world({ [ROBOTS]: { status: 404 } });
  await settle(missing);
  t.same(missing.servers.verdict(page('/x')).allowed, true);
  t.equal(missing.servers.crawlDelay(page('/x')), undefined);

  const broken = world({ [ROBOTS]: { status: 503 } });
  t.equal(await settle(broken), 3, 'CRAWL-13.3.12');
  t.match(broken.servers.verdict(page('/x')), {
    allowed: false,
    unavailable: true,
    reason: 'robots.txt: status 503',
  });

  const silent = world({});
  t.equal(await settle(silent), 3);
  t.match(silent.servers.verdict(page('/x')), { unavailable: true, reason: 'robots.txt: nobody answers' });

  const hops = (n: number): Record<string, Reply> => ({
    [ROBOTS]: { status: 301, location: 'http://b.example/1' },
    ...Object.fromEntries(
      Array.from({ length: n }, (_, i) => [
        `http://b.example/${i + 1}`,
        i + 1 === n
          ? { status: 200, body: 'User-agent: *\nDisallow: /' }
          : { status: 302, location: `http://b.example/${i + 2}` },
      ]),
    ),
  });
  const five = world(hops(5));
  await settle(five);
  t.notOk(
    five.servers.verdict(page('/x')).allowed,
    'RFC 9309 2.3.1.2: the fifth redirect leads to the rules',
  );
  const six = world(hops(6));
  await settle(six);
  t.ok(six.servers.verdict(page('/x')).allowed);
  t.equal(six.net.requests.length, 6);
});

t.test('G-174 a redirect of robots.txt does not lead from a public host to a private address', async (t) => {
  const moved = { status: 301, location: 'http://inside.example/robots.txt' };
  const refused = new RefusedError('an address of a private network');
  const outside = world({
    [ROBOTS]: { ...moved, remoteAddress: '192.0.32.10' },
    'http://inside.example/robots.txt': refused,
  });
  await settle(outside);
  t.same(
    outside.net.requests.map(({ publicOnly }) => publicOnly),
    [false, true],
  );
  t.ok(outside.servers.verdict(page('/x')).allowed);
  const inside = world({ [ROBOTS]: { ...moved, remoteAddress: '127.0.0.1' } });
  await inside.servers.fetchRobots(page('/'), never);
  t.equal(inside.net.requests[1]?.publicOnly, false);
});

t.test('CRAWL-13.3 by setting: how answers and failures are judged', async (t) => {
  const verdictOf = async (reply: Reply | Error, settings: CrawlSettingsInput): Promise<[number, object]> => {
    const it = world({ [ROBOTS]: reply }, settings);
    const tries = await settle(it);
    const { allowed, unavailable } = it.servers.verdict(page('/x'));
    return [tries, { allowed, unavailable }];
  };
  const yes = { allowed: true, unavailable: false };
  const no = { allowed: false, unavailable: false };
  const gone = { allowed: false, unavailable: true };
  const lost = new ConnectionError('broke off', {
    cause: Object.assign(new Error('x'), { code: 'ECONNRESET' }),
  });

  const original = { robotsAnswers: 'original' } as const;
  t.same(await verdictOf({ status: 500 }, original), [1, yes], 'item 11');
  t.same(await verdictOf({ status: 301, location: 'http://b.example/' }, original), [1, yes], 'item 11');
  t.same(await verdictOf(lost, original), [1, yes], 'item 12: an empty answer counts as 404');
  t.same(await verdictOf(lost, {}), [3, gone]);
  t.same(await verdictOf(new ConnectionError('no'), original), [3, gone], 'item 12');
  t.same(await verdictOf({ status: 500 }, { robotsUnreachable: 'allow' }), [3, yes], 'item 12, 3.x');
  t.same(await verdictOf(new ConnectionError('no'), { robotsPolicy: 'ignore' }), [1, yes], 'item 12, 14');
  t.same(await verdictOf({ status: 500 }, { robotsPolicy: 'rfc9309' }), [1, no], 'CRAWL-13.9');
  t.same(await verdictOf({ status: 500 }, { robotsPolicy: 'rfc9309', ...original }), [1, no]);
});

t.test('CRAWL-13.4 the policies by setting', async (t) => {
  const file = 'User-agent: lenient\nDisallow: /a\n\nUser-agent: harvest\nDisallow: /\n';
  const ask = async (settings: CrawlSettingsInput, path: string): Promise<[boolean, string]> => {
    const it = world(rules(file), settings);
    await settle(it);
    const { allowed, fetchAs } = it.servers.verdict(page(path));
    return [allowed, fetchAs.replace(/ .*/, '')];
  };
  t.same(await ask({}, '/b'), [false, 'Harvest/1.9']);
  t.same(await ask({ robotsPolicy: 'ignore' }, '/b'), [true, 'Harvest/1.9']);
  const customRobots = 'User-agent: *\nDisallow: /b\nCrawl-delay: 3';
  t.same(await ask({ robotsPolicy: 'custom', customRobots }, '/b'), [false, 'Harvest/1.9']);
  t.same(await ask({ robotsPolicy: 'custom', customRobots }, '/a'), [true, 'Harvest/1.9']);
  t.same(await ask({ robotsPolicy: 'most-favored' }, '/b'), [true, 'Harvest/1.9']);
  t.same(
    await ask({ robotsPolicy: 'most-favored', masquerade: true }, '/b'),
    [true, 'lenient'],
    'CRAWL-13.5',
  );
  t.same(await ask({ robotsPolicy: 'most-favored', masquerade: true }, '/a'), [false, 'Harvest/1.9']);
  const set: CrawlSettingsInput = {
    robotsPolicy: 'most-favored-set',
    userAgents: ['lenient bot'],
    masquerade: true,
  };
  t.same(await ask(set, '/b'), [true, 'lenient'], 'CRAWL-13.5');
  t.same(await ask({ masquerade: true }, '/b'), [false, 'Harvest/1.9'], 'CRAWL-21: not under classic');

  const nothing = world({ [ROBOTS]: { status: 404 } }, { robotsPolicy: 'custom', customRobots });
  await settle(nothing);
  t.notOk(nothing.servers.verdict(page('/b')).allowed, "the operator's text holds without the site's, too");
  t.equal(nothing.servers.crawlDelay(page('/b')), 3);
});

t.test('CRAWL-19.5 robots settings are those of the URL', async (t) => {
  const obey = crawlSettingsSchema.parse({});
  const ignore = crawlSettingsSchema.parse({ robotsPolicy: 'ignore' });
  const settingsFor = (url: string): CrawlSettings => (url.includes('/free/') ? ignore : obey);
  const it = world(rules('User-agent: *\nDisallow: /'), {}, { settingsFor });
  await settle(it);
  t.notOk(it.servers.verdict(page('/x')).allowed);
  t.ok(it.servers.verdict(page('/free/x')).allowed);
});

t.test('CRAWL-12.5 calculateRobotsOnly annotates URIs that robots.txt would forbid', async (t) => {
  const it = world(rules('User-agent: *\nDisallow: /x'), { calculateRobotsOnly: true });
  await settle(it);
  t.match(it.servers.verdict(page('/x')), { allowed: true, annotation: 'robotExcluded' });
  t.equal(it.servers.verdict(page('/y')).annotation, undefined);
});

t.test('G-63 concurrent requests for one robots.txt share one fetch', async (t) => {
  const it = world(rules('User-agent: *\nDisallow: /x'));
  const [first, second] = await Promise.all([
    it.servers.fetchRobots(page('/1'), never),
    it.servers.fetchRobots(page('/2'), never),
  ]);
  t.equal(it.net.requests.length, 1);
  t.equal(first, second, 'it is one contact');
  t.same(first, { begin: 1_000_000, end: 1_000_100, bytes: 26, status: 200, reason: '' });
  t.ok(it.servers.robotsKnown(page('/3')));

  const failing = world({});
  const failures = await Promise.all([1, 2, 3].map((n) => failing.servers.fetchRobots(page(`/${n}`), never)));
  t.equal(failures[0]?.end, 0, 'CRAWL-7.3: a failed connect has no end');
  t.notOk(failing.servers.robotsKnown(page('/')), 'three who share an attempt are one try');
  t.match(failing.servers.report(), [], 'nothing was counted yet');
});

t.test('G-63 a caller that stops waiting does not stop the others', async (t) => {
  const it = world(rules('User-agent: *\nDisallow: /x'));
  let open = (): void => {};
  it.net.gate = new Promise((resolve) => {
    open = resolve;
  });
  const impatient = new AbortController();
  const stopped = it.servers.fetchRobots(page('/1'), impatient.signal);
  const other = it.servers.fetchRobots(page('/2'), never);
  impatient.abort(new Error('enough'));
  await t.rejects(stopped, /enough/);
  t.notOk(it.net.requests[0]?.signal?.aborted);
  open();
  await other;
  t.ok(it.servers.robotsKnown(page('/')));

  const alone = world({});
  alone.net.gate = new Promise(() => {});
  const last = new AbortController();
  const waiting = alone.servers.fetchRobots(page('/'), last.signal);
  last.abort(new Error('enough'));
  await t.rejects(waiting, /enough/);
  t.ok(alone.net.requests[0]?.signal?.aborted, 'without a waiting caller the attempt is canceled');
  await t.rejects(alone.servers.fetchRobots(page('/'), last.signal), /enough/);
  t.equal(alone.net.requests.length, 1, 'an aborted signal starts no request');
});

t.test('CRAWL-13.3.13 robots.txt expires, and its last copy is used until there is a new one', async (t) => {
  const it = world(rules('User-agent: *\nDisallow: /x'), { robotsValiditySeconds: 60 });
  await settle(it);
  it.clock.now = 2_000_000;
  it.net.pages[ROBOTS] = { status: 200, body: 'User-agent: *\nDisallow: /x' };
  await it.servers.fetchRobots(page('/'), never);
  const fetched = 2_000_000;
  it.clock.now = fetched + 59_999;
  t.ok(it.servers.robotsKnown(page('/')));
  it.clock.now = fetched + 60_000;
  t.notOk(it.servers.robotsKnown(page('/')));
  it.net.pages[ROBOTS] = { status: 503 };
  t.equal(await settle(it), 3);
  t.notOk(it.servers.verdict(page('/x')).allowed);
  t.notOk(it.servers.verdict(page('/x')).unavailable, 'RFC 9309 2.4');
  const forEver = world(rules(''), { robotsValiditySeconds: 0 });
  await settle(forEver);
  forEver.clock.now = 1e15;
  t.ok(forEver.servers.robotsKnown(page('/')));
});

t.test('CRAWL-13.1.7 a long robots.txt is truncated, and the memory for all is bounded', async (t) => {
  const long = `User-agent: *\nDisallow: /first\n${'#'.repeat(600_000)}\nDisallow: /last\n`;
  const it = world(rules(long));
  const contact = await it.servers.fetchRobots(page('/'), never);
  t.equal(contact.bytes, 512_000);
  t.notOk(it.servers.verdict(page('/first')).allowed);
  t.ok(it.servers.verdict(page('/last')).allowed);

  const pages = Object.fromEntries(
    [1, 2, 3].map((n) => [`http://${n}.example/robots.txt`, { status: 200, body: '#'.repeat(1000) }]),
  );
  const small = world(pages, {}, { maxRobotsBytes: 2200 });
  for (const n of [1, 2, 3]) await small.servers.fetchRobots(`http://${n}.example/`, never);
  t.same(
    [1, 2, 3].map((n) => small.servers.robotsKnown(`http://${n}.example/`)),
    [false, true, true],
    'the one used longest ago is fetched again when it is needed',
  );
});

t.test('a robots.txt that alone exceeds the memory limit stays until the next one', async (t) => {
  const text = (path: string) => ({
    status: 200,
    body: `User-agent: *\nDisallow: ${path}\n#${'#'.repeat(1000)}`,
  });
  const pages = { 'http://1.example/robots.txt': text('/a'), 'http://2.example/robots.txt': text('/b') };
  const { servers } = world(pages, {}, { maxRobotsBytes: 100 });
  await servers.fetchRobots('http://1.example/', never);
  t.equal(servers.verdict('http://1.example/a').allowed, false);
  await servers.fetchRobots('http://2.example/', never);
  t.same([servers.robotsKnown('http://1.example/'), servers.robotsKnown('http://2.example/')], [false, true]);
});

t.test('CRAWL-16.6 CRAWL-8.4 the counters of servers and hosts', async (t) => {
  const { servers } = world({});
  const note = (
    url: string,
    status: number,
    disposition: 'summarized' | 'failed' | 'rejected' | 'retry',
    bytes = 0,
    annotations: string[] = [],
  ): void => servers.note({ url, status, disposition, bytes, annotations });
  note(page('/1'), 200, 'summarized', 100);
  note(page('/2'), 404, 'failed', 10);
  note(page('/3'), -2, 'retry');
  note(page('/3'), -2, 'failed');
  note(page('/4'), -50, 'retry');
  note(page('/5'), -9998, 'rejected');
  note(page('/6'), 200, 'rejected', 7, ['duplicate:digest']);
  note(page('/7'), 304, 'summarized', 1, ['duplicate:server-not-modified']);
  note(page('/8'), 503, 'retry', 5);
  note('https://a.example/', 200, 'summarized', 1000);
  note('file:///tmp/x', 200, 'summarized', 1000);
  const expected = {
    successes: 4,
    failures: 1,
    disregarded: 1,
    responses: 5,
    nonResponses: 2,
    robotsDenials: 1,
    successBytes: 118,
    totalBytes: 123,
    novelUris: 2,
    novelBytes: 110,
    notModifiedUris: 1,
    notModifiedBytes: 1,
    duplicateUris: 1,
    duplicateBytes: 7,
  };
  t.same(servers.serverTraffic(page('/')), expected, 'CRAWL-8.2: a 404 is a success');
  t.equal(servers.hostTraffic(page('/')).successes, 5, 'CRAWL-11.3: the host is all its ports');
  t.equal(servers.serverTraffic('http://other.example/').responses, 0);
});

t.test('CRAWL-12.2 contacts, emission times and reports', async (t) => {
  const it = world({
    ...rules('User-agent: *\nCrawl-delay: 4'),
    'https://b.example/robots.txt': { status: 404 },
  });
  const { servers, clock } = it;
  servers.contact(page('/'), false);
  servers.contact(page('/'), false);
  t.equal(servers.report()[0]?.connectionErrors, 2);
  await settle(it);
  clock.now = 5_000_000;
  servers.contact(page('/'), true);
  servers.contact('https://b.example/', true);
  await servers.addresses.resolve(['127.0.0.1']);
  servers.contact('http://127.0.0.1:99/', true);
  t.match(servers.report(), [
    { server: '127.0.0.1:99', addresses: ['127.0.0.1'], robots: 'none' },
    { server: 'b.example:443', addresses: [], robots: 'none', lastContact: 5_000_000 },
    { server: 'a.example', robots: 'rules', crawlDelay: 4, connectionErrors: 0, lastContact: 5_000_000 },
  ]);
  await settle(it, 'https://b.example/');
  t.match(servers.report({ match: 'B.EX' }), [{ server: 'b.example:443', robots: 'allow-all' }]);
  t.equal(servers.report({ limit: 1 }).length, 1);
  servers.contact('http://c.example/', false);
  await servers.fetchRobots('http://c.example/', never);
  t.match(servers.report({ limit: 1 }), [{ server: 'c.example', robots: 'pending' }]);
  await settle(it, 'http://c.example/');
  t.match(servers.report({ limit: 1 }), [{ server: 'c.example', robots: 'unavailable' }]);

  t.equal(servers.hostEmission(page('/')), 0);
  servers.setHostEmission(page('/'), 77);
  t.equal(servers.hostEmission('https://a.example:99/'), 77, 'of the host, not of the server');
});

t.test('CRAWL-17.2 a checkpoint keeps counters and waits, but no robots.txt', async (t) => {
  const it = world(rules('User-agent: *\nDisallow: /'));
  await settle(it);
  it.servers.note({ url: page('/'), status: 200, disposition: 'summarized', bytes: 9, annotations: [] });
  it.servers.contact(page('/'), false);
  it.servers.setHostEmission(page('/'), 77);
  const text = JSON.stringify(it.servers.snapshot());
  const next = world({});
  next.servers.restore(JSON.parse(text));
  t.equal(next.servers.serverTraffic(page('/')).successBytes, 9);
  t.equal(next.servers.hostTraffic(page('/')).successes, 1);
  t.equal(next.servers.hostEmission(page('/')), 77);
  t.match(next.servers.report(), [{ server: 'a.example', connectionErrors: 1, robots: 'none' }]);
  t.notOk(next.servers.robotsKnown(page('/')));
  t.equal(JSON.stringify(next.servers.snapshot()), text);
  t.throws(() => next.servers.restore({ version: 2 }), StorageError);
});

t.test('CRAWL-12.2 the cache is bounded', async (t) => {
  const { servers } = world({}, {}, { maxServers: 3 });
  for (let n = 0; n < 10; n++) servers.contact(`http://${n}.example/`, true);
  t.same(
    servers.report().map(({ server }) => server),
    ['9.example', '8.example', '7.example'],
  );
});

t.test('CRAWL-12.3 addresses expire', async (t) => {
  const clock = { now: 0 };
  const asked: string[] = [];
  const answers: Record<string, { addresses: string[]; ttlSeconds?: number }> = {
    'short.example': { addresses: ['192.0.2.2', '192.0.2.1'], ttlSeconds: 10 },
    'system.example': { addresses: ['192.0.2.3'] },
    'none.example': { addresses: [] },
  };
  const options = {
    lookup: async (name: string) => {
      asked.push(name);
      return answers[name] ?? Promise.reject(new Error('no such name'));
    },
    now: () => clock.now,
  };
  const hosts = new HostAddresses({ ...options, validitySeconds: 60 });
  const names = ['short.example', 'system.example', 'none.example', '192.0.2.9', 'fails.example'];
  t.notOk(hosts.knows('short.example'), 'never looked up');
  await hosts.resolve([...names, ...names]);
  t.equal(asked.length, 4, 'each once; a numeric host needs no look-up');
  t.same(hosts.of('short.example'), ['192.0.2.1', '192.0.2.2']);
  t.same(hosts.of('fails.example'), []);
  const known = (): string[] => names.filter((name) => hosts.knows(name));
  clock.now = 59_999;
  t.same(known(), names);
  clock.now = 60_000;
  t.same(
    known(),
    ['system.example', '192.0.2.9'],
    'the setting, or the longer lifetime: the system counts six hours',
  );
  clock.now = 21_600_000;
  t.same(known(), ['192.0.2.9']);
  await hosts.resolve(['short.example']);
  t.equal(asked.length, 5);
  const forEver = new HostAddresses({ ...options, validitySeconds: 0 });
  await forEver.resolve(['short.example']);
  clock.now = 1e15;
  t.ok(forEver.knows('short.example'));
});

t.test('CRAWL-12.3 look-ups: limited concurrency, a timeout, one look-up for all callers', async (t) => {
  let running = 0;
  let most = 0;
  const releases: (() => void)[] = [];
  const hosts = new HostAddresses({
    atOnce: 2,
    lookup: (name) =>
      new Promise((resolve) => {
        most = Math.max(most, ++running);
        releases.push(() => {
          running--;
          resolve({ addresses: [`192.0.2.${name.slice(1)}`] });
        });
      }),
    timeoutMs: 60_000,
  });
  const all = hosts.resolve(['h1', 'h2', 'h3', 'h4', 'h5']);
  const again = hosts.resolve(['h5', 'h1']);
  const stop = new AbortController();
  const impatient = hosts.resolve(['h5'], stop.signal);
  stop.abort(new Error('enough'));
  await t.rejects(impatient, /enough/);
  for (let done = 0; done < 5; done++) {
    while (releases.length === 0) await new Promise((resolve) => setImmediate(resolve));
    releases.shift()?.();
  }
  await Promise.all([all, again]);
  t.equal(most, 2);
  t.same(hosts.of('h5'), ['192.0.2.5']);

  const slow = new HostAddresses({ lookup: () => new Promise(() => {}), timeoutMs: 1 });
  await slow.resolve(['never.example']);
  t.same([slow.knows('never.example'), slow.of('never.example')], [true, []]);
  t.equal(slow.identity('never.example'), 'never.example', 'G-33: it stands for itself');
});

t.test('G-33 aliases count as one host, even when their addresses change', async (t) => {
  const answers: Record<string, string[]> = {
    a: ['192.0.2.1'],
    b: ['192.0.2.1', '192.0.2.2'],
    c: ['192.0.2.2'],
  };
  const clock = { now: 0 };
  const hosts = new HostAddresses({
    lookup: async (name) => ({ addresses: answers[name] ?? [], ttlSeconds: 1 }),
    validitySeconds: 1,
    now: () => clock.now,
  });
  await hosts.resolve(['a', 'b', 'c']);
  const identity = hosts.identity('a');
  t.equal(hosts.identity('b'), identity);
  t.equal(hosts.identity('c'), identity, 'through b');
  answers.a = ['192.0.2.77'];
  clock.now = 10_000;
  await hosts.resolve(['a']);
  t.same(hosts.of('a'), ['192.0.2.77']);
  t.equal(hosts.identity('a'), identity);
});

t.test('CRAWL-9.5 an address as bytes', async (t) => {
  t.same([...(addressBytes('192.0.2.255') ?? [])], [192, 0, 2, 255]);
  t.same(
    [...(addressBytes('2001:db8::ff00:1') ?? [])],
    [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0, 0, 1],
  );
  t.same(
    [...(addressBytes('::ffff:192.0.2.1') ?? [])],
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 192, 0, 2, 1],
  );
  t.same([...(addressBytes('fe80::1%eth0') ?? [])].slice(0, 2), [0xfe, 0x80]);
  t.equal(addressBytes('a.example'), undefined);
  const hosts = new HostAddresses();
  await hosts.resolve(['[::1]']);
  t.equal(hosts.bytesOf('[::1]')?.length, 16);
  t.equal(hosts.bytesOf('unknown.example'), undefined);
});

t.test(
  'RFC 9309 2.3.1.2, CRAWL-5.6.4 a robots.txt that moved to another host waits for that host',
  async (t) => {
    const locks = new HostLocks();
    const order: string[] = [];
    let leave: () => void = () => undefined;
    const busy = locks.shared('b.example', never, async () => {
      order.push('own begins');
      await new Promise<void>((resolve) => {
        leave = resolve;
      });
      order.push('own ends');
    });
    const guest = locks.exclusive('b.example', 60, never, async () => {
      order.push('guest');
      return Date.now();
    });
    await new Promise(setImmediate);
    leave();
    const ended = Date.now();
    await busy;
    const came = await guest;
    t.ok(came - ended >= 59, 'the pause after the contact before is kept');
    await locks.shared('b.example', never, async () => {
      order.push('own again');
      t.ok(Date.now() - came >= 59, 'and it leaves one behind');
    });
    t.same(order, ['own begins', 'own ends', 'guest', 'own again']);
    const stop = new AbortController();
    await locks.exclusive('c.example', 100_000, never, async () => undefined);
    const waiting = locks.shared('c.example', stop.signal, async () => undefined);
    stop.abort(new Error('enough'));
    await t.rejects(waiting, 'a stopped wait ends');
  },
);
