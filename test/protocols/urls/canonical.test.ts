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
  withoutUserInfo,
} from '../../../protocols/urls/index.js';
import { assertProperty } from '../../helpers/property.js';
import { garbage } from '../garbage.js';

/** Input, base or undefined, canonical form or undefined. */
type Row = readonly [input: string, base: string | undefined, expected: string | undefined];

const tables: Record<string, readonly Row[]> = {
  'G-57: default ports are removed, scheme and host are in lower case': [
    ['HTTP://WWW.Example.COM:80/A/B.html', undefined, 'http://www.example.com/A/B.html'],
    ['https://example.com:443', undefined, 'https://example.com/'],
    ['http://example.com:443/', undefined, 'http://example.com:443/'],
    ['ftp://Host.org:21/pub/', undefined, 'ftp://host.org/pub/'],
    ['gopher://gopher.example.edu:70/1', undefined, 'gopher://gopher.example.edu/1'],
    ['gopher://gopher.example.edu:7005/1', undefined, 'gopher://gopher.example.edu:7005/1'],
    ['gopher://gopher.example.edu:21/1', undefined, 'gopher://gopher.example.edu:21/1'],
    ['gopher://gopher.example.edu:80/1', undefined, 'gopher://gopher.example.edu:80/1'],
    ['GOPHER://Gopher.Example.EDU', undefined, 'gopher://gopher.example.edu/'],
    ['nntp://news.example.org:119/comp.infosystems', undefined, 'nntp://news.example.org/comp.infosystems'],
    ['news://news.example.org/comp.infosystems', undefined, 'news://news.example.org/comp.infosystems'],
  ],
  'G-58: a tilde becomes %7e': [
    ['http://h.example/~joe/', undefined, 'http://h.example/%7ejoe/'],
    ['http://h.example/%7Ejoe/', undefined, 'http://h.example/%7ejoe/'],
    ['http://h.example/%7ejoe/?a=~', undefined, 'http://h.example/%7ejoe/?a=%7e'],
    ['~joe/', 'http://h.example/', 'http://h.example/%7ejoe/'],
  ],
  'G-59: path, fragment and escapes are normalized': [
    ['http://h.example/a/./b/../c', undefined, 'http://h.example/a/c'],
    ['http://h.example/../x', undefined, 'http://h.example/x'],
    ['http://h.example/a#frag?x', undefined, 'http://h.example/a'],
    ['http://h.example/a b', undefined, 'http://h.example/a%20b'],
    ['http://h.example/caf\u00e9', undefined, 'http://h.example/caf%C3%A9'],
    ['http://h.example/%e4%2F%20', undefined, 'http://h.example/%e4%2F%20'],
    ['http://h.example/100%', undefined, 'http://h.example/100%'],
    ['http://h.example?q=1', undefined, 'http://h.example/?q=1'],
    ['http://h.example/?q=<a>&r="', undefined, 'http://h.example/?q=%3Ca%3E&r=%22'],
    ['  \thttp://h.example/a\n\u00a0', undefined, 'http://h.example/a'],
    ['http://h.exa\nmple/a\tb', undefined, 'http://h.example/ab'],
    ['http://h.example\\a\\b', undefined, 'http://h.example/a/b'],
    ['http:///h.example/x', undefined, 'http://h.example/x'],
    ['http://M\u00fcnchen.example/', undefined, 'http://xn--mnchen-3ya.example/'],
    ['http://h.example./x', undefined, 'http://h.example/x'],
    ['http://.h.example:8080/x', undefined, 'http://h.example:8080/x'],
    ['http://user:pw@h.example/', undefined, 'http://user:pw@h.example/'],
    ['http://[2001:DB8::1]:80/v6', undefined, 'http://[2001:db8::1]/v6'],
    ['http://0x7f.1/', undefined, 'http://127.0.0.1/'],
    ['gopher://h.example/0a/../b', undefined, 'gopher://h.example/b'],
  ],
  'G-59: references are resolved against a base': [
    ['', 'http://h.example/a/b?q', 'http://h.example/a/b?q'],
    ['#top', 'http://h.example/a/b?q', 'http://h.example/a/b?q'],
    ['?x=1', 'http://h.example/a/b?q', 'http://h.example/a/b?x=1'],
    ['c.html', 'http://h.example/a/b?q=/z', 'http://h.example/a/c.html'],
    ['./c', 'http://h.example/a/b', 'http://h.example/a/c'],
    ['../c', 'http://h.example/a/b/d', 'http://h.example/a/c'],
    ['/c', 'https://h.example:8443/a/b', 'https://h.example:8443/c'],
    ['//other.example/c', 'https://h.example/a', 'https://other.example/c'],
    ['http:c', 'http://h.example/a/b', 'http://h.example/a/c'],
    ['1menu', 'gopher://h.example/1/x/y', 'gopher://h.example/1/x/1menu'],
    ['c', 'file:///a/b', 'file://localhost/a/c'],
  ],
  'G-55, G-70, G-87: URLs of other schemes': [
    ['news:comp.unix.voodoo', undefined, 'news:comp.unix.voodoo'],
    ['NEWS:<123@Host>', undefined, 'news:%3C123@Host%3E'],
    ['news:a b', undefined, 'news:a%20b'],
    ['file://localhost/etc/motd', undefined, 'file://localhost/etc/motd'],
    ['file:/etc/motd', undefined, 'file://localhost/etc/motd'],
    ['file://Powell.cs.colorado.edu/home/hardy/', undefined, 'file://powell.cs.colorado.edu/home/hardy/'],
    ['telnet://h.example', undefined, 'telnet://h.example/'],
    ['wais://h.example/db', undefined, 'wais://h.example/db'],
  ],
  'a text that is not a URL has no canonical form': [
    ['', undefined, undefined],
    ['relative/path', undefined, undefined],
    ['mailto:a@b.example', 'http://h.example/', undefined],
    ['javascript:void(0)', 'http://h.example/', undefined],
    ['data:text/plain,x', undefined, undefined],
    ['news:', undefined, undefined],
    ['http://', undefined, undefined],
    ['http://a..b/', undefined, undefined],
    ['http://a~b/', undefined, undefined],
    ['http://h.example:99999/', undefined, undefined],
    ['http://1.2.3.999/', undefined, undefined],
    ['x', 'not a url', undefined],
  ],
};

for (const [name, rows] of Object.entries(tables)) {
  t.test(name, async (t) => {
    for (const [input, base, expected] of rows) {
      t.equal(canonicalUrl(input, base), expected, `${JSON.stringify(input)} against ${base ?? 'nothing'}`);
      if (base !== undefined && canonicalUrl(base) !== undefined) {
        t.equal(new UrlResolver(base).resolve(input), expected, 'the resolver returns the same');
      }
    }
  });
}

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

t.test('G-81: user information can be removed', async (t) => {
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
