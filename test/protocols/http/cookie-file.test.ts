// Netscape's cookies.txt (CRAWL-11.8).
import fc from 'fast-check';
import t from 'tap';
import { COOKIE_FILE_HEAD, formatCookieLine, parseCookieFile } from '../../../protocols/http/index.js';
import { assertProperty } from '../../helpers/property.js';

const SESSION = {
  domain: 'example.org',
  hostOnly: true,
  path: '/',
  secure: false,
  httpOnly: false,
  expires: 0,
  name: 'sid',
  value: '1',
};

t.test('CRAWL-11.8: the lines of curl, wget and Firefox are read', async (t) => {
  const { cookies, problems } = parseCookieFile(
    [
      '# Netscape HTTP Cookie File',
      '# comment\tTRUE\t/\tFALSE\t0\ta\tb',
      '',
      'example.org\tFALSE\t/\tFALSE\t0\tsid\t1',
      '.Example.org\tTRUE\t/shop\ttrue\t1893456000\tcart\ta b;c',
      '#HttpOnly_example.org\tFALSE\t/\tFALSE\t1893456000.250\tsecret\t',
      'example.org\tFALSE\t/\tFALSE\t0\tempty\r',
    ].join('\n'),
  );
  t.same(problems, []);
  t.same(cookies, [
    SESSION,
    {
      ...SESSION,
      hostOnly: false,
      path: '/shop',
      secure: true,
      expires: 1893456000,
      name: 'cart',
      value: 'a b;c',
    },
    { ...SESSION, httpOnly: true, expires: 1893456000, name: 'secret', value: '' },
    { ...SESSION, name: 'empty', value: '' },
  ]);
});

t.test('CRAWL-11.8: a wrong line is named, the others are kept', async (t) => {
  const wrong: [line: string, problem: RegExp][] = [
    ['example.org FALSE / FALSE 0 a b', /1 fields, not 7/],
    ['example.org\tFALSE\t/\tFALSE\t0\ta\tb\tc', /8 fields/],
    ['..example.org\tFALSE\t/\tFALSE\t0\ta\tb', /not a domain/],
    ['exa mple\tFALSE\t/\tFALSE\t0\ta\tb', /not a domain/],
    ['\tFALSE\t/\tFALSE\t0\ta\tb', /not a domain/],
    ['example.org\tNO\t/\tFALSE\t0\ta\tb', /second field/],
    ['example.org\tFALSE\tx\tFALSE\t0\ta\tb', /slash/],
    ['example.org\tFALSE\t/\t1\t0\ta\tb', /fourth field/],
    ['example.org\tFALSE\t/\tFALSE\t-1\ta\tb', /expiry/],
    ['example.org\tFALSE\t/\tFALSE\t1e9\ta\tb', /expiry/],
  ];
  for (const [line, problem] of wrong) {
    const found = parseCookieFile(`# head\n${line}\nexample.org\tFALSE\t/\tFALSE\t0\tsid\t1\n`);
    t.same(found.cookies, [SESSION], line);
    t.equal(found.problems.length, 1);
    t.match(found.problems[0], { line: 2, problem });
  }
});

const field = fc.stringMatching(/^[\x20-\x7e\x80-\xff]{0,20}$/);
const cookie = fc.record({
  domain: fc.stringMatching(/^[a-z0-9][a-z0-9.-]{0,15}$/),
  hostOnly: fc.boolean(),
  path: field.map((rest) => `/${rest}`),
  secure: fc.boolean(),
  httpOnly: fc.boolean(),
  expires: fc.integer({ min: 0, max: 4_000_000_000 }),
  name: field,
  value: field,
});

t.test('CRAWL-11.8: what is written is read as it was', async () => {
  assertProperty(
    fc.property(fc.array(cookie), (cookies) => {
      const text = COOKIE_FILE_HEAD + cookies.map((each) => formatCookieLine(each) ?? 'unwritable').join('');
      const found = parseCookieFile(text);
      return JSON.stringify(found) === JSON.stringify({ cookies, problems: [] });
    }),
  );
});

t.test('CRAWL-11.8: a cookie that would break its line is not written', async (t) => {
  for (const value of ['a\tb', 'a\nb', 'a\rb', 'a\0b'])
    t.equal(formatCookieLine({ ...SESSION, value }), undefined, JSON.stringify(value));
});

t.test('any text is read: each line is a cookie, a problem or neither', async () => {
  assertProperty(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const { cookies, problems } = parseCookieFile(text);
      return cookies.length + problems.length <= text.split(/\r\n|\r|\n/).length;
    }),
  );
});
