// Which headers an order can add to requests, and what Referer says (RFC 9110 5.1, 5.5, 10.1.3).
import fc from 'fast-check';
import t from 'tap';
import { headerProblem, refererOf } from '../../../../servers/crawler/requests/request-settings.js';
import { assertProperty } from '../../../helpers/property.js';

t.test('RFC 9110 10.1.3: Referer has no login and no fragment, and does not leave https', async (t) => {
  const cases: [via: string, url: string, referer: string][] = [
    ['', 'http://h/', ''],
    ['http://h/a?b#c', 'http://h/', 'http://h/a?b'],
    ['http://u:p@h/a', 'http://other/', 'http://h/a'],
    ['https://h/a', 'http://h/', ''],
    ['https://h/a', 'https://other/', 'https://h/a'],
    ['http://h/a', 'https://h/', 'http://h/a'],
    ['ftp://u:p@h/a', 'http://h/', ''],
    ['file:///etc/passwd', 'http://h/', ''],
  ];
  for (const [via, url, referer] of cases) t.equal(refererOf(via, url), referer, `${via} to ${url}`);
});

t.test('a header that an order can set breaks no request', async () => {
  assertProperty(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (name, value) => {
      if (headerProblem(name, value) !== undefined) return true;
      return /^[^\s:\0-\x1f\x7f-\uffff]+$/.test(name) && !/[\r\n\0]|[^\0-\xff]/.test(value);
    }),
  );
});

t.test('headers of the crawler itself cannot be set, whatever their case', async (t) => {
  for (const name of ['Host', 'CONTENT-LENGTH', 'transfer-Encoding', 'Authorization', 'User-Agent'])
    t.match(headerProblem(name, 'x'), /set by the crawler/, name);
  t.equal(headerProblem('Accept-Language', 'ru, en;q=0.5'), undefined);
  t.equal(headerProblem('X-Empty', ''), undefined);
});
