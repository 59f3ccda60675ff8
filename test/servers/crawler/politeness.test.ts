// The waits between the fetches of a queue and of the whole crawl: test vectors for section 7 of the crawler
// specification.
import fc from 'fast-check';
import t from 'tap';
import { crawlSettingsSchema } from '../../../servers/crawler/order/settings.js';
import {
  type Contact,
  politenessDelay,
  TotalBandwidth,
} from '../../../servers/crawler/servers/politeness.js';
import { assertProperty } from '../../helpers/property.js';

const defaults = crawlSettingsSchema.parse({});

/** Returns a fetch that begins at 1 000 000 ms; its URI is returned when it ends. */
function fetched(durationMs: number, extra: Partial<Contact> = {}): Contact {
  const begin = 1_000_000;
  return { begin, end: begin + durationMs, bytes: 1024, now: begin + durationMs, ...extra };
}

/** Returns the wait after a fetch, in milliseconds, and its reason. */
function delay(settings: object, contact: Contact): [number, string] {
  const { delayMs, reason } = politenessDelay({ ...defaults, ...settings }, contact);
  return [delayMs, reason];
}

t.test('CRAWL-7.2 the waits are those of the examples in the specification', async (t) => {
  t.same(delay({}, fetched(100)), [3000, 'politeness']);
  t.same(delay({}, fetched(1000)), [5000, 'politeness']);
  t.same(delay({}, fetched(10_000)), [30_000, 'politeness']);
  t.same(delay({}, fetched(1000, { crawlDelay: 10 })), [10_000, 'crawl-delay']);
});

t.test('CRAWL-7.1 each step of the computation has the specified effect', async (t) => {
  t.same(delay({ delayFactor: 2.5, minDelayMs: 0 }, fetched(333)), [832, 'politeness'], 'step 1: an integer');
  t.same(delay({ minDelayMs: 7000 }, fetched(10)), [7000, 'politeness'], 'step 2: the lower limit');
  t.same(delay({ minDelayMs: 50_000 }, fetched(10)), [30_000, 'politeness'], 'step 2: the limit comes last');
  t.same(delay({}, fetched(10, { crawlDelay: 60 })), [60_000, 'crawl-delay'], 'step 3: beyond the limit');
  t.same(delay({}, fetched(10, { crawlDelay: 900 })), [300_000, 'crawl-delay'], 'step 3: up to the limit');
  t.same(
    delay({}, fetched(2000, { crawlDelay: 1 })),
    [10_000, 'politeness'],
    'G-63: Crawl-delay never shortens',
  );
  t.same(
    delay({ respectCrawlDelayUpToSecs: 0 }, fetched(1000, { crawlDelay: 99 })),
    [5000, 'politeness'],
    'step 3: 0 ignores Crawl-delay',
  );
});

t.test('CRAWL-7.3 a fetch without an end causes no wait', async (t) => {
  const failed = { ...fetched(100, { crawlDelay: 10, hostEmission: 77 }), end: 0 };
  t.same(politenessDelay(defaults, failed), { delayMs: 0, reason: 'politeness', hostEmission: 77 });
});

t.test('G-38 G-66 a RootNode Delay is a fixed wait', async (t) => {
  const root = { delayFactor: 0, minDelayMs: 1000, maxDelayMs: 1000 };
  t.same(delay(root, fetched(60_000)), [1000, 'politeness']);
  t.same(delay(root, fetched(5, { crawlDelay: 2 })), [2000, 'crawl-delay']);
});

t.test('CRAWL-7.4 with bandwidthReading maximum the wait follows one document later', async (t) => {
  const settings = { ...defaults, maxPerHostBandwidthKBs: 50, bandwidthReading: 'maximum' as const };
  // 512 000 bytes at 50 KB/s are 10 000 ms.
  const first = politenessDelay(settings, fetched(100, { bytes: 512_000 }));
  t.same(first, { delayMs: 3000, reason: 'politeness', hostEmission: 1_000_100 + 10_000 });
  const second = politenessDelay(settings, {
    begin: 1_003_100,
    end: 1_003_200,
    now: 1_003_200,
    bytes: 5120,
    hostEmission: first.hostEmission,
  });
  t.same(second, { delayMs: 6900, reason: 'bandwidth', hostEmission: 1_003_200 + 100 });
});

t.test('CRAWL-7.5 with bandwidthReading sum the wait for bandwidth is added to the delay', async (t) => {
  const settings = { ...defaults, delayFactor: 0, minDelayMs: 2000, maxPerHostBandwidthKBs: 50 };
  // The example: 100 KB/s arrived, the limit is 50 KB/s: 512 000 bytes in 5 s need 5 s more.
  const first = politenessDelay(settings, fetched(5000, { bytes: 512_000 }));
  t.same(first, { delayMs: 7000, reason: 'bandwidth', hostEmission: 1_010_000 });
  // Another queue of the host: its bytes follow those of the first.
  const other = politenessDelay(settings, fetched(6000, { bytes: 51_200, hostEmission: first.hostEmission }));
  t.same(other, { delayMs: 2000 + 5000, reason: 'bandwidth', hostEmission: 1_011_000 });
  // Slower than the limit: no wait.
  const slow = politenessDelay(settings, fetched(60_000, { bytes: 51_200 }));
  t.same(slow, { delayMs: 2000, reason: 'politeness', hostEmission: 1_001_000 });
});

t.test('CRAWL-22: Retry-After is obeyed up to its limit', async (t) => {
  t.same(delay({}, fetched(10, { retryAfterMs: 120_000 })), [120_000, 'retry-after']);
  t.same(
    delay({}, fetched(10, { retryAfterMs: 3_600_000 })),
    [3_600_000, 'retry-after'],
    'an hour is an hour',
  );
  t.same(delay({}, fetched(10, { retryAfterMs: 900_000_000 })), [86_400_000, 'retry-after']);
  t.same(delay({}, fetched(1000, { retryAfterMs: 10 })), [5000, 'politeness']);
});

t.test('CRAWL-7.1 the wait is at least the requested delay, and within the limits', async () => {
  assertProperty(
    fc.property(
      fc.nat(100_000),
      fc.nat(400),
      fc.nat(10_000_000),
      fc.nat(200),
      (duration, crawlDelay, bytes, limit) => {
        const settings = { ...defaults, maxPerHostBandwidthKBs: limit };
        const { delayMs, hostEmission } = politenessDelay(settings, fetched(duration, { crawlDelay, bytes }));
        const bandwidth = limit === 0 ? 0 : bytes / (limit * 1.024);
        const begin = 1_000_000;
        return (
          delayMs >= Math.min(crawlDelay, 300) * 1000 &&
          delayMs >= 3000 &&
          delayMs <= 300_000 + Math.ceil(bandwidth) &&
          (limit === 0 ? hostEmission === 0 : hostEmission >= begin + bandwidth)
        );
      },
    ),
  );
});

t.test('CRAWL-7.6 the bandwidth of the whole crawl is limited', async (t) => {
  const total = new TotalBandwidth(100);
  t.equal(total.wait(1000), 0, 'the first fetch does not wait');
  total.addBytes(102_400);
  t.equal(total.wait(1000), 0, 'received bytes delay the fetch after the next one');
  t.equal(total.wait(1000), 1000, '102 400 bytes at 100 KB/s are a second');
  t.equal(total.wait(1400), 600);
  t.equal(total.wait(2100), 0);

  total.addBytes(1_024_000);
  total.limitKBs = 200;
  t.equal(total.wait(2100), 0);
  t.equal(total.wait(2100), 0, 'a changed limit restarts the count');
  total.addBytes(204_800);
  total.limitKBs = 200;
  total.wait(2100);
  t.equal(total.wait(2100), 900, 'the same limit does not restart the count; 100 unused ms are credited');

  const free = new TotalBandwidth(0);
  free.addBytes(1e9);
  t.equal(free.wait(5), 0);
  t.equal(free.wait(5), 0);
});

t.test(
  'CRAWL-17.2.2 a crawl that continues keeps the bytes after its last URI, if the limit is the same',
  async (t) => {
    const before = new TotalBandwidth(100);
    before.wait(1000);
    before.addBytes(102_400);
    const saved = JSON.parse(JSON.stringify(before.snapshot()));
    const after = new TotalBandwidth(100);
    after.restore(saved);
    after.wait(5000);
    t.equal(after.wait(5000), 1000, 'they delay the URI after the next one');
    const other = new TotalBandwidth(50);
    other.restore(saved);
    other.wait(5000);
    t.equal(other.wait(5000), 0, 'CRAWL-7.6: another limit begins without bytes');
    t.throws(() => other.restore({ bytes: -1 }), /bandwidth of a checkpoint is damaged/);
  },
);
