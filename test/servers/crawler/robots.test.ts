// robots.txt in a crawl: fetching, policies, settings, expiry and memory.
import t from 'tap';
import { ConnectionError, RefusedError } from '../../../protocols/errors.js';
import {
  type CrawlSettings,
  type CrawlSettingsInput,
  crawlSettingsSchema,
} from '../../../servers/crawler/order/settings.js';
import { never, page, type Reply, ROBOTS, robotsOf, settle, setUp } from './server-cache-scene.js';

t.test('G-63 the defaults: 4xx allows, 5xx is tried three times, five redirects', async (t) => {
  const found = setUp(
    robotsOf('User-agent: harvest\nDisallow: /private/\nCrawl-delay: 7\n\nUser-agent: *\nDisallow: /'),
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
  t.ok(servers.robotsKnown(page('/other')), 'one robots.txt applies to the whole server');
  t.notOk(servers.robotsKnown('http://a.example:81/'), 'another port is another server');

  const missing = setUp({ [ROBOTS]: { status: 404 } });
  await settle(missing);
  t.same(missing.servers.verdict(page('/x')).allowed, true);
  t.equal(missing.servers.crawlDelay(page('/x')), undefined);

  const broken = setUp({ [ROBOTS]: { status: 503 } });
  t.equal(await settle(broken), 3, 'CRAWL-13.3.12');
  t.match(broken.servers.verdict(page('/x')), {
    allowed: false,
    unavailable: true,
    reason: 'robots.txt: status 503',
  });

  const silent = setUp({});
  t.equal(await settle(silent), 3);
  t.match(silent.servers.verdict(page('/x')), {
    unavailable: true,
    reason: 'robots.txt: connection refused',
  });

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
  const five = setUp(hops(5));
  await settle(five);
  t.notOk(
    five.servers.verdict(page('/x')).allowed,
    'RFC 9309 2.3.1.2: the fifth redirect leads to the rules',
  );
  const six = setUp(hops(6));
  await settle(six);
  t.ok(six.servers.verdict(page('/x')).allowed);
  t.equal(six.net.requests.length, 6);
});

t.test('G-174 a redirect of robots.txt does not lead from a public host to a private address', async (t) => {
  const moved = { status: 301, location: 'http://inside.example/robots.txt' };
  const refused = new RefusedError('an address of a private network');
  const outside = setUp({
    [ROBOTS]: { ...moved, remoteAddress: '192.0.32.10' },
    'http://inside.example/robots.txt': refused,
  });
  await settle(outside);
  t.same(
    outside.net.requests.map(({ publicOnly }) => publicOnly),
    [false, true],
  );
  t.ok(outside.servers.verdict(page('/x')).allowed);
  const inside = setUp({ [ROBOTS]: { ...moved, remoteAddress: '127.0.0.1' } });
  await inside.servers.fetchRobots(page('/'), never);
  t.equal(inside.net.requests[1]?.publicOnly, false);
});

t.test('CRAWL-13.3 the settings decide what responses and failures mean', async (t) => {
  const verdictOf = async (reply: Reply | Error, settings: CrawlSettingsInput): Promise<[number, object]> => {
    const setup = setUp({ [ROBOTS]: reply }, settings);
    const tries = await settle(setup);
    const verdict = setup.servers.verdict(page('/x'));
    return [tries, { allowed: verdict.allowed, unavailable: verdict.unavailable }];
  };
  const allowed = { allowed: true, unavailable: false };
  const unavailable = { allowed: false, unavailable: true };
  const reset = new ConnectionError('reset', {
    cause: Object.assign(new Error('x'), { code: 'ECONNRESET' }),
  });

  const original = { robotsAnswers: 'original' } as const;
  t.same(await verdictOf({ status: 500 }, original), [1, allowed], 'item 11');
  t.same(await verdictOf({ status: 301, location: 'http://b.example/' }, original), [1, allowed], 'item 11');
  t.same(await verdictOf(reset, original), [1, allowed], 'item 12: an empty answer counts as 404');
  t.same(await verdictOf(reset, {}), [3, unavailable]);
  t.same(await verdictOf(new ConnectionError('no'), original), [3, unavailable], 'item 12');
  t.same(await verdictOf({ status: 500 }, { robotsUnreachable: 'allow' }), [3, allowed], 'item 12, 3.x');
  t.same(await verdictOf(new ConnectionError('no'), { robotsPolicy: 'ignore' }), [1, allowed], 'item 12, 14');
  const standard = { robotsPolicy: 'rfc9309' } as const;
  t.same(await verdictOf({ status: 500 }, standard), [3, unavailable], 'CRAWL-13.9');
  t.same(await verdictOf({ status: 500 }, { ...standard, ...original }), [3, unavailable]);
  t.same(await verdictOf({ status: 429 }, standard), [3, unavailable], 'item 11, rfc9309');
  t.same(await verdictOf({ status: 429 }, {}), [3, unavailable], 'CRAWL-13.3.15, G-63');
  t.same(await verdictOf({ status: 429 }, original), [1, allowed], 'item 11');
  t.same(await verdictOf({ status: 403 }, {}), [1, allowed], 'G-63: every other 4xx allows everything');
});

t.test('CRAWL-13.4 the policies decide between the groups of robots.txt', async (t) => {
  const file = 'User-agent: lenient\nDisallow: /a\n\nUser-agent: harvest\nDisallow: /\n';
  const verdictOf = async (settings: CrawlSettingsInput, path: string): Promise<[boolean, string]> => {
    const setup = setUp(robotsOf(file), settings);
    await settle(setup);
    const { allowed, fetchAs } = setup.servers.verdict(page(path));
    return [allowed, fetchAs.replace(/ .*/, '')];
  };
  t.same(await verdictOf({}, '/b'), [false, 'Harvest/1.9']);
  t.same(await verdictOf({ robotsPolicy: 'ignore' }, '/b'), [true, 'Harvest/1.9']);
  const customRobots = 'User-agent: *\nDisallow: /b\nCrawl-delay: 3';
  t.same(await verdictOf({ robotsPolicy: 'custom', customRobots }, '/b'), [false, 'Harvest/1.9']);
  t.same(await verdictOf({ robotsPolicy: 'custom', customRobots }, '/a'), [true, 'Harvest/1.9']);
  const queries = { robotsPolicy: 'custom', customRobots: 'User-agent: *\nDisallow: /*?' } as const;
  t.same(await verdictOf(queries, '/a?'), [false, 'Harvest/1.9'], 'an empty query has its ?');
  t.same(await verdictOf(queries, '/a'), [true, 'Harvest/1.9']);
  t.same(await verdictOf({ robotsPolicy: 'most-favored' }, '/b'), [true, 'Harvest/1.9']);
  t.same(
    await verdictOf({ robotsPolicy: 'most-favored', masquerade: true }, '/b'),
    [true, 'lenient'],
    'CRAWL-13.5',
  );
  t.same(await verdictOf({ robotsPolicy: 'most-favored', masquerade: true }, '/a'), [false, 'Harvest/1.9']);
  const set: CrawlSettingsInput = {
    robotsPolicy: 'most-favored-set',
    userAgents: ['lenient bot'],
    masquerade: true,
  };
  t.same(await verdictOf(set, '/b'), [true, 'lenient'], 'CRAWL-13.5');
  t.same(await verdictOf({ masquerade: true }, '/b'), [false, 'Harvest/1.9'], 'CRAWL-21: not under classic');

  const nothing = setUp({ [ROBOTS]: { status: 404 } }, { robotsPolicy: 'custom', customRobots });
  await settle(nothing);
  t.notOk(
    nothing.servers.verdict(page('/b')).allowed,
    "the operator's text applies even if the site has none",
  );
  t.equal(nothing.servers.crawlDelay(page('/b')), 3);
});

t.test('CRAWL-19.5 each URL is judged by its own robots settings', async (t) => {
  const obey = crawlSettingsSchema.parse({});
  const ignore = crawlSettingsSchema.parse({ robotsPolicy: 'ignore' });
  const settingsFor = (url: string): CrawlSettings => (url.includes('/free/') ? ignore : obey);
  const setup = setUp(robotsOf('User-agent: *\nDisallow: /'), {}, { settingsFor });
  await settle(setup);
  t.notOk(setup.servers.verdict(page('/x')).allowed);
  t.ok(setup.servers.verdict(page('/free/x')).allowed);
});

t.test('CRAWL-12.5 calculateRobotsOnly allows and annotates URIs that robots.txt forbids', async (t) => {
  const setup = setUp(robotsOf('User-agent: *\nDisallow: /x'), { calculateRobotsOnly: true });
  await settle(setup);
  t.match(setup.servers.verdict(page('/x')), { allowed: true, annotation: 'robotExcluded' });
  t.equal(setup.servers.verdict(page('/y')).annotation, undefined);
});

t.test('G-63 concurrent requests for one robots.txt share one fetch', async (t) => {
  const setup = setUp(robotsOf('User-agent: *\nDisallow: /x'));
  const [first, second] = await Promise.all([
    setup.servers.fetchRobots(page('/1'), never),
    setup.servers.fetchRobots(page('/2'), never),
  ]);
  t.equal(setup.net.requests.length, 1);
  t.equal(first, second, 'both callers receive the same contact');
  t.same(first, { begin: 1_000_000, end: 1_000_100, bytes: 26, status: 200, reason: '', first: true });
  t.ok(setup.servers.robotsKnown(page('/3')));

  const failing = setUp({});
  const failures = await Promise.all([1, 2, 3].map((n) => failing.servers.fetchRobots(page(`/${n}`), never)));
  t.equal(failures[0]?.end, 0, 'CRAWL-7.3: a failed connect has no end');
  t.notOk(failing.servers.robotsKnown(page('/')), 'an attempt that three callers share counts once');
  t.match(failing.servers.report(), [], 'no contact is counted yet');
});

t.test('G-63 a caller that stops waiting does not stop the others', async (t) => {
  const setup = setUp(robotsOf('User-agent: *\nDisallow: /x'));
  let open = (): void => {};
  setup.net.gate = new Promise((resolve) => {
    open = resolve;
  });
  const impatient = new AbortController();
  const canceled = setup.servers.fetchRobots(page('/1'), impatient.signal);
  const other = setup.servers.fetchRobots(page('/2'), never);
  impatient.abort(new Error('enough'));
  await t.rejects(canceled, /enough/);
  t.notOk(setup.net.requests[0]?.signal?.aborted);
  open();
  await other;
  t.ok(setup.servers.robotsKnown(page('/')));

  const single = setUp({});
  single.net.gate = new Promise(() => {});
  const last = new AbortController();
  const waiting = single.servers.fetchRobots(page('/'), last.signal);
  last.abort(new Error('enough'));
  await t.rejects(waiting, /enough/);
  t.ok(single.net.requests[0]?.signal?.aborted, 'the attempt is canceled when no caller waits for it');
  await t.rejects(single.servers.fetchRobots(page('/'), last.signal), /enough/);
  t.equal(single.net.requests.length, 1, 'an aborted signal starts no request');
});

t.test('CRAWL-13.3.13 robots.txt expires, and its last copy is used until there is a new one', async (t) => {
  const setup = setUp(robotsOf('User-agent: *\nDisallow: /x'), { robotsValiditySeconds: 60 });
  await settle(setup);
  setup.clock.now = 2_000_000;
  setup.net.pages[ROBOTS] = { status: 200, body: 'User-agent: *\nDisallow: /x' };
  await setup.servers.fetchRobots(page('/'), never);
  const fetched = 2_000_000;
  setup.clock.now = fetched + 59_999;
  t.ok(setup.servers.robotsKnown(page('/')));
  setup.clock.now = fetched + 60_000;
  t.notOk(setup.servers.robotsKnown(page('/')));
  setup.net.pages[ROBOTS] = { status: 503 };
  t.equal(await settle(setup), 3);
  t.notOk(setup.servers.verdict(page('/x')).allowed);
  t.notOk(setup.servers.verdict(page('/x')).unavailable, 'RFC 9309 2.4');
  const withoutExpiry = setUp(robotsOf(''), { robotsValiditySeconds: 0 });
  await settle(withoutExpiry);
  withoutExpiry.clock.now = 1e15;
  t.ok(withoutExpiry.servers.robotsKnown(page('/')));
});

t.test('CRAWL-13.1.7 a long robots.txt is truncated, and the memory for all is bounded', async (t) => {
  const long = `User-agent: *\nDisallow: /first\n${'#'.repeat(600_000)}\nDisallow: /last\n`;
  const setup = setUp(robotsOf(long));
  const contact = await setup.servers.fetchRobots(page('/'), never);
  t.equal(contact.bytes, 512_001);
  t.notOk(setup.servers.verdict(page('/first')).allowed);
  t.ok(setup.servers.verdict(page('/last')).allowed);

  const rules = 'User-agent: *\nDisallow: /\n#';
  const cut = setUp(robotsOf(`${rules}${'#'.repeat(512_000 - rules.length - 9)}\nAllow: /public\n`));
  await cut.servers.fetchRobots(page('/'), never);
  t.notOk(cut.servers.verdict(page('/x')).allowed, 'the beginning of a line that is cut is not a rule');

  const pages = Object.fromEntries(
    [1, 2, 3].map((n) => [`http://${n}.example/robots.txt`, { status: 200, body: '#'.repeat(1000) }]),
  );
  const small = setUp(pages, {}, { maxRobotsBytes: 2200 });
  for (const n of [1, 2, 3]) await small.servers.fetchRobots(`http://${n}.example/`, never);
  t.same(
    [1, 2, 3].map((n) => small.servers.robotsKnown(`http://${n}.example/`)),
    [false, true, true],
    'the least recently used robots.txt must be fetched again',
  );
});

t.test('a robots.txt that exceeds the memory limit is kept until the next one arrives', async (t) => {
  const text = (path: string) => ({
    status: 200,
    body: `User-agent: *\nDisallow: ${path}\n#${'#'.repeat(1000)}`,
  });
  const pages = { 'http://1.example/robots.txt': text('/a'), 'http://2.example/robots.txt': text('/b') };
  const { servers } = setUp(pages, {}, { maxRobotsBytes: 100 });
  await servers.fetchRobots('http://1.example/', never);
  t.equal(servers.verdict('http://1.example/a').allowed, false);
  await servers.fetchRobots('http://2.example/', never);
  t.same([servers.robotsKnown('http://1.example/'), servers.robotsKnown('http://2.example/')], [false, true]);
});
