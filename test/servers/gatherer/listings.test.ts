// Sitemaps and feeds (G-172), and the targets that a source may lead to (G-174).
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import { isPrivateAddress, mayReach, mustBePublic } from '../../../clients/fetch/index.js';
import {
  type Listing,
  type ListingOptions,
  listedUrls,
  readListing,
} from '../../../servers/gatherer/enumerate/listing.js';
import { assertProperty } from '../../helpers/property.js';

const SITE = 'http://h.example/sitemap.xml';

/** Returns the URLs of a listing at the sitemap's address. */
function read(text: string | Uint8Array, options: Partial<ListingOptions> = {}): Promise<Listing> {
  return listedUrls(typeof text === 'string' ? Buffer.from(text) : text, { url: SITE, ...options });
}

/** Returns all items of an iterable. */
async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

const URLSET = `<?xml version="1.0" encoding="UTF-8"?>
<!-- <url><loc>http://h.example/comment</loc></url> -->
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
  <url>
    <loc>http://h.example/~a?x=1&amp;y=2#frag</loc>
    <lastmod>2005-01-01</lastmod><priority>0.8</priority>
    <image:image><image:loc>http://h.example/a.png</image:loc></image:image>
  </url>
  <url><loc><![CDATA[http://h.example/b?a&b]]></loc><lastmod>2004-12-23T18:00:15+01:00</lastmod></url>
  <url><loc>http://other.example/</loc></url>
  <url><loc>file:///etc/passwd</loc></url>
  <url><loc> /relative </loc><lastmod>soon</lastmod></url>
  <url></url>
</urlset>
`;

const FROM_URLSET = [
  { url: 'http://h.example/%7ea?x=1&y=2', lastModified: 1104537600, kind: 'document' },
  { url: 'http://h.example/b?a&b', lastModified: 1103821215, kind: 'document' },
  { url: 'http://h.example/relative', lastModified: 0, kind: 'document' },
];

t.test('G-172: a sitemap gives locations on the same host with their dates, and no files', async (t) => {
  const { kind, urls, warnings } = await read(URLSET);
  t.equal(kind, 'sitemap');
  t.same(urls, FROM_URLSET);
  t.same(warnings, ['1 URLs skipped: on other hosts', '1 URLs skipped: files of this machine (G-174)']);
  t.same((await read(gzipSync(URLSET))).urls, FROM_URLSET, 'a gzip sitemap is recognized by its content');
  const unrestricted = await read(URLSET, { allows: () => true });
  t.ok(unrestricted.urls.some(({ url }) => url === 'http://other.example/'));
  const utf16 = Buffer.from(`\ufeff${URLSET.replace('UTF-8', 'UTF-16')}`, 'utf16le');
  t.same((await read(utf16)).urls, FROM_URLSET, 'a sitemap can be UTF-16 with a byte-order mark');
  const latin = Buffer.from(
    '<?xml version="1.0" encoding="ISO-8859-1"?><urlset><url><loc>/\xe9</loc></url></urlset>',
    'latin1',
  );
  t.same((await read(latin)).urls[0]?.url, 'http://h.example/%C3%A9');
});

t.test('G-172: sitemap indexes lead to sitemaps, to a limited depth', async (t) => {
  const index = `<sitemapindex><sitemap><loc>/1.xml.gz</loc><lastmod>2004-10-01T18:23:17Z</lastmod></sitemap>
    <sitemap><loc>/2.xml</loc></sitemap></sitemapindex>`;
  t.match(await read(index), {
    kind: 'sitemap-index',
    urls: [
      { url: 'http://h.example/1.xml.gz', lastModified: 1096654997, kind: 'listing' },
      { url: 'http://h.example/2.xml', lastModified: 0, kind: 'listing' },
    ],
  });
  t.equal((await read(index, { depth: 2 })).urls.length, 2);
  t.match(await read(index, { depth: 3 }), { urls: [], warnings: [/^2 URLs skipped: .*too deep/] });
});

t.test('G-172: text sitemaps, and the Sitemap lines of robots.txt, give URLs', async (t) => {
  const text =
    '\ufeffhttp://h.example/1\r\n  http://h.example/2\t\n\nSome words\nhttp://i.example/3\nhttp://h.example/4';
  t.match(await read(text, { url: 'http://h.example/list.txt' }), {
    kind: 'text',
    urls: ['1', '2', '4'].map((name) => ({ url: `http://h.example/${name}`, kind: 'document' })),
    warnings: ['1 URLs skipped: on other hosts'],
  });
  const robots = `User-agent: other\nDisallow: /\nSITEMAP : http://h.example/a.xml # ours\nsitemap:/b.xml\n`;
  t.match(await read(robots, { url: 'http://h.example/robots.txt' }), {
    kind: 'robots',
    urls: [
      { url: 'http://h.example/a.xml', kind: 'listing' },
      { url: 'http://h.example/b.xml', kind: 'listing' },
    ],
  });
  t.equal((await read('Some words\nin lines\n')).kind, undefined);
  const long = `${'x'.repeat(20_000)} http://h.example/5\nhttp://h.example/6\n`;
  t.same(
    (await read(long)).urls.map(({ url }) => url),
    ['http://h.example/6'],
  );
});

t.test('G-172: RSS 2.0, RSS 1.0 and Atom feeds give URLs with dates', async (t) => {
  const rss = `<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><link>http://h.example/</link>
    <atom:link rel="self" href="/rss"/><atom:link rel="next" href="/rss?page=2"/><image><link>http://h.example/i</link></image>
    <item><title>A</title><link>http://h.example/a</link><guid>http://h.example/?p=1</guid>
      <pubDate>Sat, 07 Sep 2002 00:00:01 GMT</pubDate><enclosure url="http://h.example/a.mp3"/></item>
    <item><guid isPermaLink="true">http://h.example/b</guid></item>
    <item><guid isPermaLink="false">http://h.example/tag</guid></item>
    <item><link/><guid>urn:x</guid></item></channel></rss>`;
  t.match(await read(rss), {
    kind: 'rss',
    urls: [
      { url: 'http://h.example/rss?page=2', kind: 'listing' },
      { url: 'http://h.example/a', lastModified: 1031356801, kind: 'document' },
      { url: 'http://h.example/b', kind: 'document' },
    ],
    warnings: [],
  });
  t.equal((await read(rss)).urls.length, 3);
  const rdf = `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel
    rdf:about="http://h.example/rss"><link>http://h.example/</link><items><rdf:Seq><rdf:li resource="http://h.example/c"/></rdf:Seq>
    </items></channel><item rdf:about="http://h.example/c-about"><link>http://h.example/c</link><dc:date>2002-09-07T00:00:01Z</dc:date>
    </item><item rdf:about="http://h.example/d"/></rdf:RDF>`;
  t.match((await read(rdf)).urls, [
    { url: 'http://h.example/c', lastModified: 1031356801 },
    { url: 'http://h.example/d', lastModified: 0 },
  ]);
  const atom = `<feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://h.example/blog/"><link href="http://h.example/"/>
    <entry><link rel="edit" href="edit"/><link href="e.html"/><link rel="alternate" hreflang="de" href="e.de.html"/>
      <published>2003-12-13T08:29:29-04:00</published><updated>2003-12-13T18:30:02Z</updated>
      <source><link href="http://h.example/source"/><updated>2020-01-01T00:00:00Z</updated></source></entry>
    <entry xml:base="/f/"><link rel="alternate" href="f.html"/></entry></feed>`;
  t.same((await read(atom, { url: 'http://h.example/feed' })).urls, [
    { url: 'http://h.example/blog/e.html', lastModified: 1071340202, kind: 'document' },
    { url: 'http://h.example/f/f.html', lastModified: 0, kind: 'document' },
  ]);
});

t.test('G-172: a page names its feeds; other documents list no URLs', async (t) => {
  const page = `<!DOCTYPE html><HTML><HEAD><META charset=utf-8><base href="http://h.example/d/"><link rel="stylesheet" href="s.css">
    <LINK REL="Alternate" TYPE="application/rss+xml" HREF="feed.rss"><link rel=alternate type=text/html href=x.html>
    </HEAD><body><link rel=alternate type="application/atom+xml" href="late">`;
  t.same(await read(page, { url: 'http://h.example/' }), {
    kind: 'page',
    urls: [{ url: 'http://h.example/d/feed.rss', lastModified: 0, kind: 'listing' }],
    warnings: [],
  });
  t.match(await read('<svg><loc>http://h.example/</loc></svg>'), {
    kind: undefined,
    urls: [],
    warnings: [/not a sitemap/],
  });
  t.same(await read(''), { kind: undefined, urls: [], warnings: [] });
});

t.test('G-172, G-174: too long, damaged or hostile listings are truncated with a warning', async (t) => {
  const entry = (n: number): string => `<url><loc>/${n}</loc></url>\n`;
  const many = `<urlset>${Array.from({ length: 40 }, (_, n) => entry(n)).join('')}</urlset>`;
  t.match(await read(many, { maxEntries: 30 }), {
    urls: { length: 30 },
    warnings: ['URLs after the first 30 are skipped'],
  });
  // 8 bytes of header, then 27 of each of the first URLs: the third one is truncated.
  t.match(await read(many, { maxBytes: 80 }), {
    urls: { length: 2 },
    warnings: ['only the first 80 bytes are read'],
  });
  t.match(await read(many.slice(0, 80)), {
    urls: { length: 2 },
    warnings: ['it is truncated'],
  });
  const packed = gzipSync(many);
  const damaged = await read(packed.subarray(0, packed.length - 12));
  t.match(damaged.warnings[0], /^it is damaged: /);
  t.equal(damaged.kind, 'sitemap');
  const bomb = gzipSync(`<urlset>${entry(1)}${' '.repeat(3_000_000)}${entry(2)}</urlset>`);
  t.match(await read(bomb, { maxBytes: 1_000_000 }), { urls: { length: 1 }, warnings: [/1000000 bytes/] });
  const deep = `<urlset>${entry(1)}${'<a>'.repeat(300_000)}${'</b>'.repeat(300_000)}${entry(2)}</urlset>`;
  t.match(await read(deep), { urls: { length: 1 }, warnings: ['elements nested deeper than 100'] });
  const doctype =
    '<!DOCTYPE urlset [<!ENTITY a "http://h.example/ha"><!ENTITY x SYSTEM "file:///etc/passwd">]>';
  const unexpanded = await read(`${doctype}<urlset><url><loc>&x;&a;</loc></url>${entry(3)}</urlset>`);
  t.notOk(unexpanded.urls.some(({ url }) => /ha$|root/.test(url)));
  t.equal(unexpanded.urls.at(-1)?.url, 'http://h.example/3');

  const stop = new AbortController();
  const reading = readListing(Buffer.from(many), { url: SITE, signal: stop.signal });
  await reading.next();
  stop.abort(new Error('enough'));
  const endless = async function* (): AsyncGenerator<Uint8Array> {
    for (;;) yield Buffer.from(many);
  };
  await t.rejects(collect(readListing(endless(), { url: SITE, signal: stop.signal })), {
    message: 'enough',
  });
});

t.test('G-172: chunks do not change a listing; random markup never leads to another host', async (t) => {
  const whole = await read(URLSET);
  await assertProperty(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 30 }),
      async (sizes) => {
        const bytes = gzipSync(URLSET);
        const pieces = async function* (): AsyncGenerator<Uint8Array> {
          for (let start = 0, n = 0; start < bytes.length; n++) {
            const size = sizes[n % sizes.length]!;
            yield bytes.subarray(start, start + size);
            start += size;
          }
        };
        const found = await collect(readListing(pieces(), { url: SITE }));
        if (JSON.stringify(found) !== JSON.stringify(whole.urls)) throw new Error(JSON.stringify(found));
      },
    ),
    { numRuns: 40 },
  );
  const tokens =
    '<|>|/|urlset|url|loc|item|link|entry|feed|rss|html|"|=|&|;|http://h.example/|<![CDATA[|]]>|<!--|?| '.split(
      '|',
    );
  await assertProperty(
    fc.asyncProperty(fc.array(fc.constantFrom(...tokens), { maxLength: 40 }), async (parts) => {
      const { urls } = await read(parts.join(''));
      if (urls.some(({ url }) => !url.startsWith('http://h.example/'))) throw new Error('another host');
    }),
    { numRuns: 200 },
  );
  t.equal(whole.urls.length, 3);
});

t.test('G-174: a source may lead only to permitted targets', async (t) => {
  const addresses = (host: string): readonly string[] =>
    ({
      'inside.example': ['10.0.0.7'],
      'mixed.example': ['8.8.8.8', '192.168.0.1'],
      'pub.example': ['8.8.4.4'],
    })[host] ?? [];
  const known = {
    addresses,
    isConfigured: (host: string) => host === 'named.example' || host === '10.9.9.9',
  };
  const rows: [from: string, to: string, mayLead: boolean, publicOnly: boolean][] = [
    ['http://pub.example/', 'http://pub.example/x', true, true],
    ['http://pub.example/', 'http://inside.example/', false, true],
    ['http://pub.example/', 'ftp://mixed.example/', false, true],
    ['http://pub.example/', 'http://127.0.0.1:8080/', false, true],
    ['http://pub.example/', 'gopher://localhost/', false, true],
    ['http://pub.example/', 'http://[::1]/', false, true],
    ['http://pub.example/', 'http://unknown.example/', true, true],
    ['http://pub.example/', 'http://10.9.9.9/', true, false],
    ['http://pub.example/', 'file:///etc/passwd', false, false],
    ['http://pub.example/', 'news:comp.lang.c', true, false],
    ['http://inside.example/', 'http://10.1.1.1/', true, false],
    ['http://inside.example/', 'file:///etc/passwd', false, false],
    ['file:///a/', 'http://127.0.0.1/', true, false],
    ['file:///a/', 'file:///a/b', true, false],
    ['', 'http://127.0.0.1/', true, false],
  ];
  for (const [from, to, mayLead, publicOnly] of rows) {
    t.equal(mayReach(from, to, known), mayLead, `${from} -> ${to}`);
    t.equal(mustBePublic(from, to, known), publicOnly, `${from} -> ${to}: publicOnly`);
  }
  for (const address of ['64:ff9b::a00:1', '64:ff9b::127.0.0.1', '2002:a00:1::', '2002:7f00:1::1']) {
    t.ok(isPrivateAddress(address), address);
  }
  for (const address of ['64:ff9b::808:808', '2002:808:808::1']) t.notOk(isPrivateAddress(address), address);
});
