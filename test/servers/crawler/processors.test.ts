// The optional processors of a crawl: each test runs one of them on single URIs, with stores in memory.
import fc from 'fast-check';
import t from 'tap';
import type { FetchResult } from '../../../clients/fetch/index.js';
import type { CrawlUri } from '../../../servers/crawler/crawl-uri.js';
import type { QueueTraffic } from '../../../servers/crawler/frontier/contract.js';
import { type CrawlSettingsInput, crawlSettingsSchema } from '../../../servers/crawler/order/settings.js';
import { ChangeEvaluator, ContentDigest } from '../../../servers/crawler/processors/content-digest.js';
import { DigestHistory, type DigestRecord } from '../../../servers/crawler/processors/digest-history.js';
import {
  Blocker,
  type QuotaCounters,
  QuotaEnforcer,
  RuntimeLimit,
} from '../../../servers/crawler/processors/enforcers.js';
import {
  FetchHistory,
  type FetchRecord,
  type HistoryStore,
  historyKey,
} from '../../../servers/crawler/processors/fetch-history.js';
import { WarcWriter } from '../../../servers/crawler/processors/warc-writer.js';
import { PatternBudget, uriPattern } from '../../../servers/crawler/traps.js';
import type { NewWarcRecord } from '../../../servers/crawler/warc/new-record.js';
import type { WarcPosition } from '../../../servers/crawler/warc/warc-files.js';
import { assertProperty } from '../../helpers/property.js';
import { BEGIN, crawlUri, fetchedUri } from './uri-scene.js';

const DEFAULTS = crawlSettingsSchema.parse({});

/** The digest of `hello\n`. */
const HELLO = 'sha1:6VZNHFX25EQGMKDRJ6ZM4AHXF2KPEJMP';

/** Keeps fetch histories in memory. */
class MemoryHistory implements HistoryStore {
  readonly rows = new Map<string, readonly FetchRecord[]>();
  async get(key: string): Promise<readonly FetchRecord[]> {
    return this.rows.get(key) ?? [];
  }
  put(key: string, history: readonly FetchRecord[]): void {
    this.rows.set(key, history);
  }
}

/** Collects records in memory, in place of `WarcFiles`. */
class MemoryFiles {
  readonly records: NewWarcRecord[] = [];
  async write(records: readonly NewWarcRecord[]): Promise<readonly WarcPosition[]> {
    this.records.push(...records);
    return records.map(({ id }) => ({ file: 'x.warc.gz', offset: 100, length: 50, recordId: id }));
  }
  get types(): string[] {
    return this.records.map(({ type }) => type);
  }
}

t.test('CRAWL-11.8: a fetched body has a digest', async (t) => {
  const uri = fetchedUri('hello\n');
  t.equal(new ContentDigest().process(uri), 'proceed');
  t.equal(uri.digest, HELLO);
  const empty = fetchedUri('', { status: 304 });
  new ContentDigest().process(empty);
  t.equal(empty.digest, '');
});

t.test('CRAWL-18.7: matches are replaced by a space, in texts up to the limit', async (t) => {
  const digest = new ContentDigest();
  const stripNumbers = { digestStripPattern: '[0-9]+', digestStripMaxKB: 1 };
  const strippedDigest = 'sha1:YYJ2JQIMSMPUWCXFT5WUBHPRWFPTAARS'; // of <p>hits:  </p>
  const plainDigest = 'sha1:FMJUYYAWGZMTCZLV42NP5NVVPRBRNM74'; // of <p>hits: 7</p>
  t.equal(digest.digest(Buffer.from('<p>hits: 7</p>'), stripNumbers, 'text/html'), strippedDigest);
  t.equal(
    digest.digest(Buffer.from('<p>hits: 1234</p>'), stripNumbers, 'text/html', 'no-such-charset'),
    strippedDigest,
  );
  t.equal(
    digest.digest(Buffer.from('<p>hits: 7</p>'), stripNumbers, 'image/png'),
    plainDigest,
    'other types',
  );
  const long = Buffer.from(`<p>hits: 7</p>${'x'.repeat(1024)}`);
  t.equal(digest.digest(long, stripNumbers, 'text/html'), digest.digest(long, DEFAULTS), 'not stripped');
  const unlimited = { ...stripNumbers, digestStripMaxKB: -1 };
  t.not(digest.digest(long, unlimited, 'text/html'), digest.digest(long, DEFAULTS));
  const invalid = { ...stripNumbers, digestStripPattern: '(' };
  t.throws(() => digest.digest(long.subarray(0, 10), invalid, 'text/html'), { code: 'ERR_USAGE' });
});

t.test('CRAWL-18.7: stripping a long text in pieces changes only the matches', async (t) => {
  const digest = new ContentDigest({ maxStripMs: 60_000 });
  const strip = { digestStripPattern: 'a+', digestStripMaxKB: 1024 };
  assertProperty(
    fc.property(
      fc.array(fc.constantFrom('b', 'bcd\n', '\u00e4', 'b'.repeat(1500)), { maxLength: 60 }),
      (parts) => {
        const text = Buffer.from(parts.join(''));
        return digest.digest(text, strip, 'text/plain') === digest.digest(text, DEFAULTS);
      },
    ),
    { numRuns: 50 },
  );
  const lines = 'xay\n'.repeat(5000);
  t.equal(
    digest.digest(Buffer.from(lines), strip, 'text/plain'),
    digest.digest(Buffer.from(lines.replaceAll('a', ' ')), DEFAULTS),
  );
  // Finding all matches takes quadratic time; the timeout ends it.
  const quadratic = { digestStripPattern: 'a(.*b)?', digestStripMaxKB: -1 };
  const text = Buffer.from('a'.repeat(1 << 20));
  t.match(new ContentDigest({ maxStripMs: 0 }).digest(text, quadratic, 'text/plain'), /^sha1:[A-Z2-7]{32}$/);
});

t.test(
  'CRAWL-18.1: the digest of a page is kept under its URI, and compared when the URI is fetched again',
  async (t) => {
    const history = new FetchHistory(new MemoryHistory());
    const digest = new ContentDigest();
    const fetch = async (body: string, path: string): Promise<readonly string[]> => {
      const uri = fetchedUri(body, {}, `http://example.org${path}`);
      await history.loader.process(uri);
      digest.process(uri);
      history.process(uri);
      await history.keeper.process(uri);
      return uri.annotations;
    };
    t.same(await fetch('one\n', '/a'), [], 'nothing to compare with');
    t.same(await fetch('one\n', '/b'), [], 'the page is the same, its URI is not');
    t.same(await fetch('one\n', '/a'), ['duplicate:digest']);
    t.same(await fetch('two\n', '/a'), [], 'the page has changed');
    t.same(await fetch('two\n', '/a'), ['duplicate:digest'], 'the new digest took its place');
  },
);

t.test('CRAWL-18.2, 18.3: the history provides conditional headers and annotations', async (t) => {
  const store = new MemoryHistory();
  const history = new FetchHistory(store);
  const digest = new ContentDigest();
  async function fetch(body: string, extra: Partial<FetchResult> = {}) {
    const uri = fetchedUri(body, extra);
    await history.loader.process(uri);
    const conditional = history.conditionalHeaders(uri);
    digest.process(uri);
    history.process(uri);
    const unchanged = history.isUnchanged(uri);
    await history.keeper.process(uri);
    return { conditional, annotations: uri.annotations, digest: uri.digest, unchanged };
  }

  t.same(await fetch('hello\n', { etag: '"1"', lastModified: 1000 }), {
    conditional: {},
    annotations: [],
    digest: HELLO,
    unchanged: false,
  });
  t.same(await fetch('', { status: 304 }), {
    conditional: { etag: '"1"', lastModified: 1000 },
    annotations: ['duplicate:server-not-modified'],
    digest: HELLO,
    unchanged: true,
  });
  t.same(
    await fetch('hello\n', { beginTime: BEGIN + 1 }),
    {
      conditional: { etag: '"1"', lastModified: 1000 },
      annotations: ['duplicate:digest'],
      digest: HELLO,
      unchanged: true,
    },
    'the digest was carried forward through the 304',
  );
  t.same((await fetch('other')).annotations, []);
  const records = store.rows.get('http://(org,example,)/a');
  t.same(
    records?.map(({ status, length, begin }) => [status, length, begin]),
    [
      [200, 5, BEGIN],
      [200, 6, BEGIN + 1],
    ],
    'the last two, the newest first',
  );
  store.put('http://(org,example,)/a', [{ ...records![0]!, status: -2, etag: '"2"' }]);
  t.same((await fetch('x')).conditional, {}, 'no conditional headers after a failed fetch');
});

t.test('CRAWL-18.4: keys keep their case; failures and retries leave no history', async (t) => {
  t.equal(historyKey('http://www.Example.org/A?b=C'), 'http://(org,Example,www,)/A?b=C');
  const store = new MemoryHistory();
  const history = new FetchHistory(store);
  const unwritten = fetchedUri('x');
  unwritten.annotations.push('unwritten:cached');
  const retry = fetchedUri('x', { status: 503 });
  retry.disposition = 'retry';
  const failed = crawlUri();
  failed.status = -2;
  for (const uri of [unwritten, retry, failed, fetchedUri('x', {}, 'gopher://example.org/0/a')]) {
    await history.loader.process(uri);
    history.process(uri);
    await history.keeper.process(uri);
  }
  t.equal(store.rows.size, 0);
  // Loading twice does not overwrite.
  const uri = fetchedUri('hello\n');
  await history.loader.process(uri);
  store.put(historyKey(uri.url), [
    { status: 200, begin: 1, digest: '', etag: '"9"', lastModified: 0, length: 0 },
  ]);
  await history.loader.process(uri);
  t.same(history.earlier(uri), []);
});

t.test('CRAWL-18.6: a first capture is a response, an unchanged one a revisit record', async (t) => {
  const store = new MemoryHistory();
  const history = new FetchHistory(store);
  const files = new MemoryFiles();
  const writer = new WarcWriter({ files, revisits: [history] });
  const digest = new ContentDigest();
  async function crawl(uri: CrawlUri) {
    await history.loader.process(uri);
    digest.process(uri);
    history.process(uri);
    await writer.process(uri);
    // Essence releases the body before the metadata record is written.
    uri.fetched = { ...uri.fetched!, body: new Uint8Array() };
    uri.outLinks = [{ url: 'http://example.org/c', hop: 'L' }];
    await writer.metadata.process(uri);
    await history.keeper.process(uri);
    return uri.annotations;
  }

  t.same(await crawl(fetchedUri('hello\n')), []);
  t.same(files.types, ['response', 'metadata']);
  t.equal(
    Buffer.concat(files.records[1]!.block).toString(),
    'via: http://example.org/\r\nhopsFromSeed: L\r\nfetchTimeMs: 42\r\noutlink: http://example.org/c L\r\n',
  );
  t.ok(
    files.records[1]?.fields.some(([, value]) => value === files.records[0]?.id),
    'the metadata record refers to the response',
  );

  const again = fetchedUri('hello\n', { beginTime: BEGIN + 5000 });
  t.same(await crawl(again), ['duplicate:digest', 'warcRevisit:digest']);
  const third = fetchedUri('', { status: 304, beginTime: BEGIN + 9000 });
  t.same(await crawl(third), ['duplicate:server-not-modified', 'warcRevisit:notModified']);
  t.same(files.types.slice(2), ['revisit', 'metadata', 'revisit', 'metadata']);
  for (const revisit of [files.records[2], files.records[4]]) {
    const fields = new Map(revisit?.fields);
    t.equal(fields.get('WARC-Refers-To'), files.records[0]?.id, 'the record that holds the body');
    t.equal(fields.get('WARC-Refers-To-Date'), '2026-11-21T21:50:04.123Z');
  }

  files.records.length = 0;
  const moved = fetchedUri('', { status: 301 }, 'http://example.org/old');
  await writer.metadata.process(moved);
  t.same(files.types, ['response', 'metadata'], 'a redirect skips the first processor');
  files.records.length = 0;
  const released = fetchedUri('hello\n', {}, 'http://example.org/lost');
  released.fetched = { ...released.fetched!, body: new Uint8Array() };
  await writer.metadata.process(released);
  t.same(released.annotations, ['unwritten:body']);
  const cached = fetchedUri('hello\n', { cached: true });
  await writer.process(cached);
  t.same(cached.annotations, ['unwritten:cached']);
  const failed = crawlUri();
  failed.status = -2;
  await writer.metadata.process(failed);
  t.same(files.types, []);

  const skipping = new WarcWriter({ files, revisits: [history], skipIdenticalDigests: true });
  const same = fetchedUri('hello\n');
  await history.loader.process(same);
  digest.process(same);
  await skipping.process(same);
  await skipping.metadata.process(same);
  await history.keeper.process(same);
  t.same(same.annotations, ['duplicate:digest', 'unwritten:identicalDigest']);
  t.same(files.types, []);
  t.equal(store.rows.get(historyKey(same.url))?.[0]?.capture?.date, BEGIN, 'the history has the capture');
});

t.test('CRAWL-18.5: a body that is archived under another URI becomes a revisit record', async (t) => {
  const rows = new Map<string, DigestRecord>();
  const store = {
    get: async (key: string) => rows.get(key),
    put: (key: string, record: DigestRecord) => void rows.set(key, record),
  };
  const history = new DigestHistory(store);
  const files = new MemoryFiles();
  const writer = new WarcWriter({ files, revisits: [history] });
  async function crawl(url: string, body: string, settings: CrawlSettingsInput = {}) {
    const uri = fetchedUri(body, {}, url, settings);
    new ContentDigest().process(uri);
    await history.process(uri);
    await writer.process(uri);
    await history.keeper.process(uri);
    return uri;
  }
  await crawl('http://example.org/one', 'hello\n');
  await crawl('http://example.com/two', 'hello\n');
  t.same(files.types, ['response', 'revisit']);
  t.equal(new Map(files.records[1]?.fields).get('WARC-Refers-To-Target-URI'), 'http://example.org/one');
  t.same(rows.get(HELLO), {
    url: 'http://example.org/one',
    date: BEGIN,
    recordId: files.records[0]?.id,
    file: 'x.warc.gz',
    offset: 100,
    count: 2,
  });
  const strip = { digestStripPattern: '[0-9]' };
  await crawl('http://example.org/three', 'hits 1', strip);
  await crawl('http://example.org/four', 'hits 2', strip);
  t.same(files.types.slice(2), ['response', 'response'], 'CRAWL-18.7: different bytes are both written');
});

t.test('CRAWL-18.8: an unchanged document is skipped', async (t) => {
  const uri = fetchedUri('hello\n', {}, undefined, { skipUnchanged: true });
  uri.outLinks = [{ url: 'http://example.org/c', hop: 'L' }];
  t.equal(
    new ChangeEvaluator({ isUnchanged: () => true }).process(fetchedUri('hello\n')),
    'proceed',
    'off by default',
  );
  t.equal(new ChangeEvaluator({ isUnchanged: () => false }).process(uri), 'proceed');
  t.equal(uri.outLinks.length, 1);
  t.equal(new ChangeEvaluator({ isUnchanged: () => true }).process(uri), 'post');
  t.same([uri.annotations, uri.outLinks, uri.disposition], [['unchanged'], [], 'unchanged']);
});

t.test('CRAWL-11.3 QuotaEnforcer: each quota retires the queue or fails the URI', async (t) => {
  const zero: QueueTraffic = { successes: 0, successBytes: 0, responses: 0, totalBytes: 0 };
  const reached: QueueTraffic = { successes: 5, successBytes: 3072, responses: 7, totalBytes: 5120 };
  const limits = { Successes: 5, SuccessKB: 3, Responses: 7, AllKB: 5 };
  for (const unit of ['server', 'host', 'group'] as const) {
    const counters: QuotaCounters = {
      server: () => zero,
      host: () => zero,
      group: () => zero,
      [unit]: () => reached,
    };
    for (const [suffix, limit] of Object.entries(limits)) {
      const name = `${unit}Max${suffix}`;
      for (const [quota, forceRetire] of [
        [limit, true],
        [limit, false],
        [limit + 1, true],
      ] as const) {
        const uri = crawlUri('http://example.org/a', {
          quotas: { [name]: quota },
          quotaForceRetire: forceRetire,
        });
        const result = new QuotaEnforcer(counters).process(uri);
        const outcome = [result, uri.annotations, uri.status, uri.retire];
        if (quota > limit) t.same(outcome, ['proceed', [], 0, undefined], `${name} is not reached`);
        else if (forceRetire) t.same(outcome, ['post', [`Q:${name}`], 0, 'quota'], name);
        else t.same(outcome, ['post', [`Q:${name}`], -5003, undefined], `${name} without retiring`);
        if (result === 'post') t.equal(uri.disposition, forceRetire ? 'retry' : 'failed');
      }
    }
  }
  const unexpected = () => {
    throw new Error('the counters were read');
  };
  const off = new QuotaEnforcer({ server: unexpected, host: unexpected, group: unexpected });
  t.equal(off.process(crawlUri()), 'proceed', 'all quotas are off by default, and no counter is read');
});

t.test('CRAWL-11.3 RuntimeLimitEnforcer pauses or ends the crawl, or blocks the URI', async (t) => {
  for (const [operation, expected] of [
    ['pause', ['pause']],
    ['terminate', ['terminate']],
    ['block', []],
  ] as const) {
    const calls: string[] = [];
    const control = { pause: () => void calls.push('pause'), terminate: () => void calls.push('terminate') };
    let elapsed = 9;
    const limit = new RuntimeLimit({ elapsed: () => elapsed, ...control });
    const limited = () => crawlUri(undefined, { runtimeSeconds: 10, runtimeOperation: operation });
    t.equal(limit.process(limited()), 'proceed');
    t.same(calls, []);
    elapsed = 10;
    t.equal(limit.process(crawlUri()), 'proceed', 'off by default');
    const [first, second] = [limited(), limited()];
    const result = operation === 'block' ? 'post' : 'proceed';
    t.same([limit.process(first), limit.process(second)], [result, result], operation);
    t.same(calls, expected, 'the crawl is paused or ended once');
    t.equal(first.status, operation === 'block' ? -5004 : 0);
    t.same(first.annotations, ['runtimeLimit:10s']);
  }
});

t.test('CRAWL-11.2 Preselector: its settings match whole URIs (-5001)', async (t) => {
  const blocker = new Blocker();
  function blocked(url: string, input: CrawlSettingsInput): string {
    const uri = crawlUri(url, input);
    const result = blocker.process(uri);
    t.equal(result === 'post', uri.status === -5001 && uri.disposition === 'rejected');
    return uri.reason;
  }
  const url = 'http://example.org/a';
  t.equal(blocked(url, {}), '');
  t.equal(blocked(url, { blockAll: true }), 'blockAll');
  t.equal(blocked(url, { blockPattern: '.*/a' }), 'blockPattern');
  t.equal(blocked(url, { blockPattern: 'example' }), '', 'a partial match does not block');
  t.equal(blocked(url, { allowPattern: 'http://example\\.org/.*' }), '');
  t.equal(blocked(url, { allowPattern: 'https:.*' }), 'not matched by allowPattern');
  t.equal(blocked(url, { allowPattern: '.*', blockPattern: '.*' }), 'blockPattern');
  t.throws(() => blocked(url, { blockPattern: '(' }), { code: 'ERR_USAGE' });
});

t.test('CRAWL-22: the number of URIs that differ only in their digits is limited', async (t) => {
  t.equal(
    uriPattern('http://h2.example.org:81/cal/2026/11?day=21'),
    'http://h2.example.org:81/cal/#/#?day=#',
  );
  t.equal(uriPattern('http://h2.example.org/cal'), undefined);
  const off = new PatternBudget();
  t.equal(off.admit('http://example.org/1', 0), undefined);
  t.equal(off.size, 0);
  const budget = new PatternBudget({ maxPatterns: 2 });
  t.equal(budget.admit('http://example.org/cal/1', 2), undefined);
  t.equal(budget.admit('http://example.org/cal/22', 2), undefined);
  t.match(
    budget.admit('http://example.org/cal/333', 2),
    /^trap: the limit of 2 URIs like http:\/\/example\.org\/cal\/# /,
  );
  t.equal(budget.admit('http://example.com/cal/333', 2), undefined, 'another host has its own budget');
  for (let n = 0; n < 5; n++) t.equal(budget.admit('http://example.org/plain', 2), undefined);
  t.ok(budget.admit('http://example.org/cal/1', 2));
  t.equal(budget.admit('http://example.net/1', 2), undefined);
  t.equal(budget.size, 2, 'the number of patterns is bounded');
  t.ok(budget.admit('http://example.org/cal/4', 2), 'the budget of a recently used pattern is kept');
  t.equal(budget.admit('http://example.com/cal/1', 2), undefined);
  t.equal(budget.admit('http://example.com/cal/2', 2), undefined, 'the longest unused budget is dropped');
});
