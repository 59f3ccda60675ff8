// What servers write into Retry-After, and how long their hosts are left alone.
import t from 'tap';
import { retryAfter } from '../../../servers/crawler/requests/retry-after.js';
import { HostHolds } from '../../../servers/crawler/servers/host-holds.js';

const NOW = Date.UTC(2026, 10, 29, 12, 0, 0);
const HOUR = 3_600_000;
const inAnHour = new Date(NOW + HOUR);
const imf = (ms: number) => new Date(ms).toUTCString();

t.test('CRAWL-22.4 Retry-After: seconds, dates of any form, lists; anything else is no wait', async (t) => {
  for (const [value, ms] of [
    ['3600', HOUR],
    [' 3600 ', HOUR],
    ['0', 0],
    ['10000000000', 1e13],
    ['9'.repeat(400), Number.POSITIVE_INFINITY],
    ['120, 3600', HOUR],
    ['3600,', HOUR],
    [imf(NOW + HOUR), HOUR],
    ['Sunday, 29-Nov-26 13:00:00 GMT', HOUR],
    ['Sun Nov 29 13:00:00 2026', HOUR],
    [inAnHour.toISOString(), HOUR],
    ['2026-11-29T14:00:00+01:00', HOUR],
    [imf(NOW - HOUR), 0],
    [imf(0), 0],
    ['-5', 0],
    ['-3600', 0],
    ['+3600', 0],
    ['1.5', 0],
    ['1e3', 0],
    ['0x10', 0],
    ['3600s', 0],
    ['an hour', 0],
    ['3600 seconds', 0],
    ['May 5', 0],
    ['', 0],
    ['  ', 0],
    ['NaN', 0],
    ['Infinity', 0],
    ['Sun, 99 Nov 2026 99:99:99 GMT', 0],
  ] as const)
    t.equal(retryAfter(value, NOW), ms, JSON.stringify(value.slice(0, 40)));
  t.equal(retryAfter(undefined, NOW), 0);
});

t.test('CRAWL-22.4 a date counts from the clock of the server', async (t) => {
  const server = NOW + 365 * 24 * HOUR;
  t.equal(retryAfter(imf(server + HOUR), NOW, imf(server)), HOUR, 'a server a year ahead');
  t.equal(retryAfter(imf(NOW - 2 * HOUR), NOW, imf(NOW - 3 * HOUR)), HOUR, 'a server three hours behind');
  t.equal(retryAfter(imf(NOW + HOUR), NOW, 'nonsense'), HOUR);
  t.equal(retryAfter('3600', NOW, imf(0)), HOUR);
});

t.test('CRAWL-22.4 a host is left alone for as long as its longest Retry-After', async (t) => {
  let now = NOW;
  const holds = new HostHolds(() => now);
  let changes = 0;
  holds.onChange(() => changes++);
  holds.hold('http://a.example/x', HOUR);
  holds.hold('https://a.example/y', 1000);
  holds.hold('http://b.example:8080/', 0);
  t.same(
    ['http://a.example/z', 'https://a.example/', 'http://a.example:8080/', 'http://b.example:8080/'].map(
      (url) => holds.wait(url),
    ),
    [HOUR, HOUR, 0, 0],
    'by either scheme; other ports are other servers',
  );
  t.equal(changes, 1);
  now += HOUR - 1;
  t.equal(holds.wait('http://a.example/'), 1);
  t.same(holds.rows(), [['a.example', 1]]);
  now += 1;
  t.equal(holds.wait('http://a.example/'), 0);
  t.same(holds.rows(), []);
  holds.restore(
    [
      ['c.example', HOUR],
      ['d.example', -1],
      ['e.example', 25 * HOUR],
    ],
    24 * HOUR,
  );
  t.same(
    holds.rows(),
    [['c.example', HOUR]],
    'those that are over, and those of a clock that was set back, are due',
  );
});
