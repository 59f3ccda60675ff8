// The cookies of a crawl: which are kept, which are sent, and that the store has them (RFC 6265bis,
// CRAWL-11.8).
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { CookieJars, type CookieLimits } from '../../../../servers/crawler/requests/cookie-jars.js';
import { GathererStore } from '../../../../storage/index.js';

async function open(t: Test, limits: CookieLimits = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'harvest-test-'));
  const store = await GathererStore.open(join(directory, 'working'));
  t.teardown(async () => {
    await store[Symbol.asyncDispose]();
    await rm(directory, { recursive: true });
  });
  const problems: string[] = [];
  const onProblem = (sentence: string): void => {
    problems.push(sentence);
  };
  const jars = (): CookieJars => new CookieJars({ store, onProblem, ...limits });
  return { store, jars, problems };
}

t.test('RFC 6265bis 5.7, 5.8: a cookie goes where it belongs', async (t) => {
  const jars = (await open(t)).jars();
  await jars.receive(
    'http://www.example.co.uk/shop/cart',
    (
      'host=1|domain=2; Domain=example.co.uk; Path=/|path=3; Path=/shop/cart|' +
      'other=4; Domain=other.test|suffix=5; Domain=co.uk|tls=6; Secure|gone=7; Max-Age=0|__Host-x=8'
    ).split('|'),
  );
  await jars.receive('https://www.example.co.uk/', ['tls=9; Secure; Path=/']);
  const sent = async (url: string): Promise<string[]> => (await jars.headerFor(url)).split('; ').sort();
  t.same(await sent('http://www.example.co.uk/shop/'), ['domain=2', 'host=1']);
  t.same(await sent('http://www.example.co.uk/shop/cart'), ['domain=2', 'host=1', 'path=3']);
  t.same(await sent('https://www.example.co.uk/'), ['domain=2', 'tls=9']);
  t.same(await sent('http://www.example.co.uk:8080/'), ['domain=2'], 'ports share cookies');
  t.same(await sent('http://a.example.co.uk/'), ['domain=2']);
  t.same(await sent('http://other.co.uk/'), ['']);
  t.same(await sent('http://other.test/'), ['']);
});

t.test('a secure cookie of this machine is not sent without TLS', async (t) => {
  const jars = (await open(t)).jars();
  await jars.receive('https://127.0.0.1/', ['tls=1; Secure', 'plain=2']);
  t.equal(await jars.headerFor('http://127.0.0.1/'), 'plain=2');
  t.equal(await jars.headerFor('http://127.0.0.2/'), '', 'an address is a site of its own');
  await jars.receive('http://[::1]/', ['six=1']);
  t.equal(await jars.headerFor('http://[::1]/a'), 'six=1');
});

t.test('CRAWL-11.8: cookies are in the store when receive() is done', async (t) => {
  const { jars, store } = await open(t);
  const first = jars();
  const hosts = Array.from({ length: 40 }, (_, i) => `http://h${i % 20}.site${i}.test/`);
  // Concurrently, as workers do: each write contains all that precedes it.
  await Promise.all(
    hosts.map(async (url, i) => {
      await first.receive(url, [`a=${i}`]);
      t.equal(await jars().headerFor(url), `a=${i}`, url);
      await first.receive(url, [`a=${i + 1}; Max-Age=1000`]);
      t.equal(await jars().headerFor(url), `a=${i + 1}`);
    }),
  );
  const stored: string[] = [];
  for await (const page of jars().pages()) for (const { name, value } of page) stored.push(name + value);
  t.equal(stored.length, hosts.length);
  await store.clearFrontier();
  t.equal(await jars().headerFor(hosts[0] ?? ''), '', 'another crawl begins without cookies');
});

t.test('the cookies of a site are bounded, in number and in length', async (t) => {
  const jars = (await open(t, { maxCookies: 5, maxCookieLength: 100, maxSiteLength: 60 })).jars();
  const url = 'http://www.example.org/';
  for (let i = 0; i < 20; i++) await jars.receive(url, [`c${i}=${i}`]);
  const kept = (await jars.headerFor(url)).split('; ').length;
  t.equal(kept, 5);
  await jars.receive(url, [`long=${'x'.repeat(200)}`]);
  t.notMatch(await jars.headerFor(url), 'long');
  for (let i = 0; i < 20; i++)
    await jars.receive(`http://h${i}.example.org/`, [`d${i}=${'y'.repeat(25)}; Domain=example.org`]);
  const all = await jars.headerFor('http://example.org/');
  t.ok(all.length <= 60 + 5 * 2, `${all.length} characters`);
  t.ok(all.length > 25, 'the newest stays');
});

t.test('memory for cookies is bounded: sites that are not in use are read again', async (t) => {
  const jars = (await open(t, { maxMemory: 4000 })).jars();
  for (let i = 0; i < 100; i++) await jars.receive(`http://site${i}.test/`, [`n=${i}`]);
  for (let i = 0; i < 100; i++) t.equal(await jars.headerFor(`http://site${i}.test/`), `n=${i}`);
});

t.test('a cookie that no request may contain is not sent', async (t) => {
  const jars = (await open(t)).jars();
  await jars.receive('http://x.test/', ['good=\xe9', 'bad=a\x07b', 'wide=\u0416', '', ';', '=', 'nameless']);
  const header = await jars.headerFor('http://x.test/');
  t.match(header, 'good=\xe9');
  t.notMatch(header, /[^\t\x20-\x7e\x80-\xff]/);
});

t.test('cookies of a file belong to their domain alone, and expired ones are left out', async (t) => {
  const { jars } = await open(t);
  const first = jars();
  const plain = { hostOnly: true, path: '/', secure: false, httpOnly: false, expires: 0, name: 'a' };
  await first.add([
    { ...plain, domain: 'example.org', value: '1' },
    { ...plain, domain: 'example.org', hostOnly: false, name: 'b', value: '2;3', expires: 4_000_000_000 },
    { ...plain, domain: 'example.org', name: 'old', value: '3', expires: 1 },
    { ...plain, domain: 'example.org', path: '/p', name: 'p', value: '4', secure: true, httpOnly: true },
  ]);
  t.equal(await first.headerFor('http://www.example.org/'), 'b=2;3');
  t.equal(await first.headerFor('http://example.org/'), 'a=1; b=2;3');
  const found = [];
  for await (const page of jars().pages()) found.push(...page);
  t.same(
    found.sort((one, other) => (one.name < other.name ? -1 : 1)),
    [
      { ...plain, domain: 'example.org', value: '1' },
      { ...plain, domain: 'example.org', hostOnly: false, name: 'b', value: '2;3', expires: 4_000_000_000 },
      { ...plain, domain: 'example.org', path: '/p', name: 'p', value: '4', secure: true, httpOnly: true },
    ],
    'and they are saved as they were loaded',
  );
});

t.test('a store that cannot be written keeps the cookies in use, and says so', async (t) => {
  const { store, problems } = await open(t);
  let full = true;
  const failing = {
    cookies: store.cookies,
    batch: () => {
      const batch = store.batch();
      if (full) batch.commit = () => Promise.reject(new Error('no space left on device'));
      return batch;
    },
  };
  const jars = new CookieJars({ store: failing, onProblem: (text) => problems.push(text) });
  await jars.receive('http://x.test/', ['a=1']);
  t.match(problems, [/cookies cannot be stored: no space/]);
  t.equal(await jars.headerFor('http://x.test/'), 'a=1');
  full = false;
  await jars[Symbol.asyncDispose]();
  t.equal(await new CookieJars({ store, onProblem: t.fail }).headerFor('http://x.test/'), 'a=1');
});

const YEAR_MS = 365 * 86_400_000;

t.test(
  'a clock that is set while the crawl runs, or is not that of the server, ends no session',
  async (t) => {
    const { now } = Date;
    const start = now();
    for (const jump of [60_000, 3_600_000, YEAR_MS, 14 * YEAR_MS].flatMap((ms) => [ms, -ms])) {
      const { store } = await open(t);
      let passed = 0;
      const jars = (wrong: number): CookieJars =>
        new CookieJars({ store, onProblem: t.fail, now: () => start + passed + wrong });
      const first = jars(0);
      const url = 'http://x.test/';
      const date = (ms: number): string => new Date(start + jump + ms).toUTCString();
      const lines = [
        'session=1',
        'age=2; Max-Age=7200',
        `expires=3; Expires=${date(7_200_000)}`,
        `late=4; Expires=${date(20 * YEAR_MS)}`,
        `old=5; Expires=${date(-1000)}`,
        'older=6; Max-Age=0',
      ];
      await first.receive(url, lines, date(0));
      t.intercept(Date, 'now', { value: () => now() + jump });
      const all = 'session=1; age=2; expires=3; late=4';
      t.equal(await first.headerFor(url), all, `${jump} ms, while it runs`);
      await first.receive(url, ['more=7']);
      t.equal(await first.headerFor(url), `${all}; more=7`, 'also after they were stored');
      t.intercept(Date, 'now', { value: now });
      passed = 7_201_000;
      t.equal(
        await first.headerFor(url),
        'session=1; late=4; more=7',
        'a cookie ends when its time has passed',
      );
      passed += 400 * 86_400_000;
      t.equal(await first.headerFor(url), 'session=1; more=7', 'after 400 days at the latest');
    }
  },
);

t.test('after the clock was set back between two runs a cookie does not last until then', async (t) => {
  const { store } = await open(t);
  const start = Date.now();
  const jars = (time: number): CookieJars =>
    new CookieJars({ store, onProblem: t.fail, now: () => start + time });
  await jars(YEAR_MS).receive('http://x.test/', ['a=1; Max-Age=7200', 'b=2']);
  const later = jars(0);
  t.equal(await later.headerFor('http://x.test/'), 'a=1; b=2');
  const pages = [];
  for await (const page of jars(0).pages()) pages.push(...page);
  t.same(
    pages.map(({ name, expires }) => [name, expires]),
    [
      ['a', Math.floor((start + 7_200_000) / 1000)],
      ['b', 0],
    ],
  );
});
