// Tests the canonical form of a Gatherer’s URLs, the resolver of links, class keys, and the canonicalization
// rules of the crawl engine.
import fc from 'fast-check';
import t from 'tap';
import {
  accessMethod,
  canonicalString,
  canonicalUrl,
  classKey,
  LOWERCASE,
  STRIP_EXTRA_SLASHES,
  STRIP_WWW,
  UrlResolver,
  unescapeUnreserved,
  withoutUserInfo,
} from '../../../protocols/urls/index.js';
import { assertProperty } from '../../helpers/property.js';
import { readVectors } from '../../rules/vectors/vector-file.js';
import { garbage } from '../garbage.js';

t.test('G-57, G-58, G-59: the resolver of a base gives the canonical forms of the vectors', async (t) => {
  const based = readVectors('protocols/urls/vectors/canonical-url.json').vectors.filter(
    ({ parameters }) => canonicalUrl(parameters?.base ?? '') !== undefined,
  );
  t.ok(based.length > 10);
  for (const vector of based) {
    const expected = vector.verdict === 'invalid' ? undefined : vector.output;
    t.equal(
      new UrlResolver(vector.parameters?.base ?? '').resolve(vector.input ?? ''),
      expected,
      vector.name,
    );
  }
});

t.test('G-58: the tilde can be kept', async (t) => {
  t.equal(canonicalUrl('http://h.example/~joe/', undefined, { keepTilde: true }), 'http://h.example/~joe/');
  t.equal(
    new UrlResolver('http://h.example/~joe/', { keepTilde: true }).resolve('x'),
    'http://h.example/~joe/x',
  );
});

t.test('CRAWL-2.1: the length is limited before and after escaping', async (t) => {
  const head = 'http://h.example/';
  t.equal(canonicalUrl(head + 'a'.repeat(2083 - head.length))?.length, 2083);
  t.equal(canonicalUrl(head + 'a'.repeat(2084 - head.length)), undefined);
  t.equal(canonicalUrl(head + ' b'.repeat(1000)), undefined);
  t.equal(canonicalUrl(`${head}abc`, undefined, { maxLength: 18 }), undefined);
  t.equal(new UrlResolver(head, { maxLength: 20 }).resolve('abcd'), undefined);
  t.throws(() => new UrlResolver('nothing'), TypeError);
});

t.test('SOIF-12.5, G-81: user information can be removed', async (t) => {
  t.equal(withoutUserInfo('ftp://u:p@h.example/a@b'), 'ftp://h.example/a@b');
  t.equal(withoutUserInfo('http://h.example/a@b'), 'http://h.example/a@b');
});

t.test('G-36: the access method of a URL', async (t) => {
  t.equal(accessMethod('https://h.example/'), 'https');
  t.equal(accessMethod('nntp://h.example/g'), 'news');
  t.equal(accessMethod('news:g'), 'news');
  t.throws(() => accessMethod('mailto:x'), { code: 'ERR_USAGE' });
});

t.test('CRAWL-9.2: the class key of a URL is its host name', async (t) => {
  t.equal(classKey('http://www.example.com/a'), 'www.example.com');
  t.equal(classKey('http://www.example.com:8080/a'), 'www.example.com#8080');
  t.equal(classKey('ftp://ftp.example.org/x'), 'ftp.example.org');
  t.equal(classKey('https://example.com/'), 'example.com#443');
  t.equal(classKey('https://example.com:8443/'), 'example.com#8443');
  t.equal(classKey('http://user:pw@example.com/'), 'example.com');
  t.equal(classKey('http://example.com/a@b'), 'example.com');
  t.equal(classKey('http://[2001:db8::1]/'), '[2001#db8##1]');
  t.equal(classKey('news:comp.x'), 'default...');
  t.equal(classKey('file:///a'), 'default...');
  t.equal(classKey('file://localhost/a'), 'default...');
});

t.test('CRAWL-14.1: the six rules apply in order', async (t) => {
  const rows: readonly (readonly [string, string])[] = [
    ['http://WWW.Example.com/Index.HTML', 'http://example.com/index.html'],
    ['https://www2.example.com/a', 'https://example.com/a'],
    ['http://www.example.com/', 'http://www.example.com/'],
    ['http://wwwx.example.com/a', 'http://wwwx.example.com/a'],
    ['ftp://user:p@ss@ftp.example.com/a', 'ftp://ftp.example.com/a'],
    ['http://e.example/a;jsessionid=0123456789abcdef0123456789ABCDEF', 'http://e.example/a;'],
    ['http://e.example/a?phpsessid=0123456789abcdef0123456789abcdef&x=1', 'http://e.example/a?x=1'],
    ['http://e.example/a?sid=0123456789abcdef0123456789abcdef', 'http://e.example/a'],
    [
      'http://e.example/a?sid=0123456789abcdef0123456789abcdef0',
      'http://e.example/a?sid=0123456789abcdef0123456789abcdef0',
    ],
    ['http://e.example/a?ASPSESSIONIDABCDEFGH=ABCDEFGHIJKLMNOPQRSTUVWX&y', 'http://e.example/a?y'],
    ['http://e.example/a?cfid=1&cftoken=2&jsession=3&z=1', 'http://e.example/a?z=1'],
    ['http://e.example/a?z=1&cfid=1&cftoken=2', 'http://e.example/a?z=1'],
    ['http://e.example/a?', 'http://e.example/a'],
    ['http://e.example/a?&', 'http://e.example/a'],
    ['http://e.example/a?&x=1&', 'http://e.example/a?x=1&'],
    ['http://e.example/a?x=1&', 'http://e.example/a?x=1'],
  ];
  for (const [url, expected] of rows) t.equal(canonicalString(url), expected, url);
});

t.test('CRAWL-14.1: the optional rules', async (t) => {
  t.equal(
    canonicalString('http://www.archive.org//A//B/index.html', [STRIP_EXTRA_SLASHES]),
    'http://www.archive.org/A/B/index.html',
  );
  t.equal(canonicalString('http://www.a.example/x', [STRIP_WWW]), 'http://a.example/x');
  t.equal(canonicalString('http://www2.a.example/x', [STRIP_WWW]), 'http://www2.a.example/x');
  t.equal(canonicalString('http://A.example/X?', [LOWERCASE]), 'http://a.example/x?');
});

const urlLike = fc.oneof(
  fc.webUrl({ withFragments: true, withQueryParameters: true }),
  garbage,
  fc
    .array(
      fc.constantFrom(
        ...(
          'http:¦gopher:¦news:¦file:¦ftp:¦//¦/¦\\¦.¦..¦%7E¦~¦%2e¦?¦#¦@¦:¦80¦70¦a¦B.c¦ ¦\t¦\u00e9¦' +
          '\ud800¦[::1]¦|¦%'
        ).split('¦'),
      ),
      { maxLength: 14 },
    )
    .map((parts) => parts.join('')),
);

t.test('G-59: a fragment does not count towards the length', async (t) => {
  const input = `http://h.example/x#${'y'.repeat(5000)}`;
  t.equal(canonicalUrl(input), 'http://h.example/x');
  t.equal(new UrlResolver('http://h.example/').resolve(input), 'http://h.example/x', 'by the resolver');
});

t.test('G-59: what is before a fragment is trimmed, by the resolver too', async (t) => {
  for (const input of ['news:a\u0000#', ' http://h.example/x #f ', 'http://h.example/x\u00a0#']) {
    const expected = canonicalUrl(input.slice(0, input.indexOf('#')));
    t.equal(canonicalUrl(input), expected, JSON.stringify(input));
    t.equal(new UrlResolver('http://h.example/').resolve(input), expected, 'by the resolver');
  }
});

t.test('G-59: the canonical form is a fixed point (property)', async () => {
  assertProperty(
    fc.property(urlLike, fc.option(urlLike, { nil: undefined }), (input, base) => {
      const url = canonicalUrl(input, base);
      if (url === undefined) return;
      if (canonicalUrl(url) !== url) throw new Error(`${JSON.stringify(url)} -> ${canonicalUrl(url)}`);
      if (!/^[a-z]+:[\x21-\x7e]+$/.test(url) || url.includes('#') || url.includes('~')) throw new Error(url);
      accessMethod(url);
      classKey(url);
    }),
    { numRuns: 3000 },
  );
});

t.test('property: the fast path of the resolver returns the result of the URL standard', async () => {
  const plain = fc
    .array(
      fc.constantFrom('a', 'B', '9', '-', '_', '.', '/', '?', '=', '&', ',', ';', '@', ':', '(', '+', '*'),
      { maxLength: 12 },
    )
    .map((parts) => parts.join(''));
  const bases = fc.constantFrom(
    'http://h.example/',
    'http://h.example/a/b?c/d',
    'https://u:p@h.example:8/x//y/z.html',
  );
  assertProperty(
    fc.property(
      fc.constantFrom('', '/', 'http://', 'http://h9.example', 'http://xn--a.b/'),
      plain,
      bases,
      (head, tail, base) => {
        let expected: string | undefined;
        try {
          expected = new URL(head + tail, base).href;
        } catch {
          return;
        }
        if (!/^https?:/.test(expected)) return;
        const host = new URL(expected).hostname;
        if (!/^[\w-]+(\.[\w-]+)*$/.test(host)) return;
        const url = new UrlResolver(base).resolve(head + tail);
        if (url !== expected) throw new Error(`${head + tail}: ${url} instead of ${expected}`);
      },
    ),
    { numRuns: 5000 },
  );
});

t.test('G-48: unescapeUnreserved undoes the escapes of letters, digits and -._~ only', async (t) => {
  for (let code = 0; code < 256; code++) {
    const character = String.fromCharCode(code);
    const digits = code.toString(16).padStart(2, '0');
    for (const encoded of [`%${digits}`, `%${digits.toUpperCase()}`]) {
      const expected = /[A-Za-z0-9\-._~]/.test(character) ? character : encoded;
      if (unescapeUnreserved(`/${encoded}a`) !== `/${expected}a`) t.fail(encoded);
    }
  }
  t.equal(unescapeUnreserved('/%257e/%zz%7'), '/%257e/%zz%7', 'no escape arises from another');
});
