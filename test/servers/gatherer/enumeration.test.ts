import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { isPrivateAddress, mayReach, mustBePublic } from '../../../clients/fetch/index.js';
import { type GathererConfig, parseGathererConf, type RootNode } from '../../../protocols/config/index.js';
import type { ConfigError } from '../../../protocols/errors.js';
import { decodeSoif, encodeSoif, SoifObject } from '../../../protocols/soif/index.js';
import type { ProgramLimits } from '../../../servers/essence/external/index.js';
import { Annotations } from '../../../servers/gatherer/annotations.js';
import {
  type EnumerationOptions,
  enumerationSettings,
  expandLeafNodes,
  expandRootNodes,
  isListed,
  type Listing,
  type ListingOptions,
  listedUrls,
  readListing,
  searchSettings,
  sitemapUrls,
} from '../../../servers/gatherer/enumerate/index.js';
import { essenceOptionsOf } from '../../../servers/gatherer/essence-options.js';
import { FilterFiles } from '../../../servers/gatherer/filters.js';
import { withSecrets } from '../../../servers/gatherer/secrets.js';

async function directory(t: Test): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'enumeration-')));
  t.teardown(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** Creates a Gatherer's directory with programs and a configuration with these lists. */
async function gatherer(
  t: Test,
  programs: Readonly<Record<string, string>>,
  lists: string,
  limits: ProgramLimits = {},
): Promise<{ config: GathererConfig; options: EnumerationOptions; problems: string[]; top: string }> {
  const top = await directory(t);
  for (const [name, script] of Object.entries(programs)) {
    await mkdir(join(top, name, '..'), { recursive: true });
    await writeFile(join(top, name), script);
    await chmod(join(top, name), 0o755);
  }
  const text = `Gatherer-Name: x\nTop-Directory: ${top}\nLib-Directory: lib\n${lists}`;
  const { config } = parseGathererConf(text, 'x.cf');
  const problems: string[] = [];
  const environment = { PATH: '/usr/bin:/bin', NNTPSERVER: 'news.example', SECRET: 'hunter2' };
  const options = {
    file: 'x.cf',
    programs: enumerationSettings(config, environment, limits),
    onProblem: (problem: ConfigError) => void problems.push(problem.message),
  };
  return { config, options, problems, top };
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

const roots = (lines: string): string => `<RootNodes>\n${lines}\n</RootNodes>\n`;
const leaves = (lines: string): string => `<LeafNodes>\n${lines}\n</LeafNodes>\n`;
const urls = (nodes: readonly { url: string }[]): string[] => nodes.map(({ url }) => url);

t.test(
  'G-52, G-53, G-69 URL generators: the printed examples, in the order of file and output',
  async (t) => {
    const { config, options, problems } = await gatherer(
      t,
      {
        'bin/generate-news-urls.sh':
          '#!/bin/sh\necho news:comp.unix.voodoo\necho news:rec.pets.birds\n\n# a comment\necho http://www.nlanr.net/\n',
        'bin/my-fave-sites.pl': '#!/bin/sh\nfor a in "$@"; do echo "http://$a.example/"; done\n',
      },
      roots(
        'http://first.example/\n|my-fave-sites.pl b=1 c Depth=1 URL=5000,url-filter\nftp://last.example/',
      ) + leaves('|generate-news-urls.sh\nhttp://one.example/~x'),
    );
    t.match(await all(expandRootNodes(config.rootNodes, options)), [
      { url: 'http://first.example/', depth: 0, urlMax: 250 },
      {
        url: 'http://c.example/',
        program: undefined,
        depth: 1,
        urlMax: 5000,
        urlFilter: 'url-filter',
        line: 6,
      },
      { url: 'ftp://last.example/' },
    ]);
    t.same(urls(await all(expandLeafNodes(config.leafNodes, options))), [
      'news:comp.unix.voodoo',
      'news:rec.pets.birds',
      'http://www.nlanr.net/',
      'http://one.example/%7ex',
    ]);
    // `b=1` is an argument of the program (G-53), not a host name.
    t.same(problems, ['my-fave-sites.pl:1: is not a URL of a supported form']);
  },
);

t.test(
  'G-54 programs: bin, Lib-Directory, PATH; in Top-Directory; no shell; a small environment',
  async (t) => {
    const { config, options, problems, top } = await gatherer(
      t,
      {
        'bin/both': '#!/bin/sh\necho http://bin.example/\n',
        'lib/both': '#!/bin/sh\necho http://lib.example/\n',
        'lib/only-lib': '#!/bin/sh\necho http://only-lib.example/\n',
        'tools/deep': '#!/bin/sh\necho "http://h.example$(pwd)/$SECRET$NNTPSERVER/$1"\n',
      },
      leaves('|both\n|only-lib\n|tools/deep $(id)\n|echo http://path.example/\n|not-there'),
    );
    t.same(urls(await all(expandLeafNodes(config.leafNodes, options))), [
      'http://bin.example/',
      'http://only-lib.example/',
      `http://h.example${top}/news.example/$(id)`,
      'http://path.example/',
    ]);
    t.same(problems, ['x.cf:9: not-there failed: there is no such program']);
  },
);

t.test('G-50, G-51 Enumeration=program reads URLs and writes RootNodes of nine fields', async (t) => {
  const { config, options, problems } = await gatherer(
    t,
    {
      'bin/generate': '#!/bin/sh\necho http://g1.example/\necho http://g2.example/\n',
      // Appends a line at each run.
      'bin/enum.pl': `#!/bin/sh
echo run >> runs
while read url; do
  echo "\${url}a/ 10 my.filter 2 /dev/null HTTP|FTP 5 3 /bin/false"
  echo "only eight fields 1 2 3 4 5"
  echo "\${url}b/ 20 /dev/null 1 h.f HTTP 0 0 second"
done
`,
      'bin/second': '#!/bin/sh\nsed "s|.*|&c/ 1 /dev/null 1 /dev/null HTTP 1 1 /bin/false|"\n',
    },
    roots('http://h.example/ Enumeration=enum.pl Search=Depth\n|generate Enumeration=enum.pl'),
  );
  const nodes = await all(expandRootNodes(config.rootNodes, options));
  t.match(nodes.slice(0, 2), [
    {
      url: 'http://h.example/a/',
      urlMax: 10,
      urlFilter: 'my.filter',
      hostMax: 2,
      hostFilter: '/dev/null',
      access: ['http', 'https', 'ftp'],
      delay: 5,
      depth: 3,
      enumeration: undefined,
      search: 'depth',
      line: 5,
    },
    { url: 'http://h.example/b/c/', urlMax: 1, enumeration: undefined, search: 'depth' },
  ]);
  t.same(urls(nodes.slice(2)), [
    'http://g1.example/a/',
    'http://g1.example/b/c/',
    'http://g2.example/a/',
    'http://g2.example/b/c/',
  ]);
  t.same(problems, [
    'enum.pl:2: Enumeration: nine fields are needed, not 8',
    'enum.pl:2: Enumeration: nine fields are needed, not 8',
    'enum.pl:5: Enumeration: nine fields are needed, not 8',
  ]);
});

t.test('G-51 programs that call themselves terminate', async (t) => {
  const line = 'echo "http://h.example/$$ 1 /dev/null 1 /dev/null HTTP 1 1 again"';
  const program = { 'bin/again': `#!/bin/sh\n${line}\n` };
  const once = await gatherer(t, program, roots('http://h.example/ Enumeration=again'));
  t.same(await all(expandRootNodes(once.config.rootNodes, once.options)), []);
  t.same(once.problems, ['x.cf:5: again not run: 16 programs have followed each other (G-51)']);

  const many = await gatherer(
    t,
    { 'bin/again': '#!/bin/sh\nyes "http://h.example/ 1 /dev/null 1 /dev/null HTTP 1 1 again" | head -50\n' },
    roots('http://h.example/ Enumeration=again'),
  );
  t.same(await all(expandRootNodes(many.config.rootNodes, { ...many.options, maxLines: 120 })), []);
  t.ok(many.problems.includes('x.cf:5: again lines beyond the first 120 are left out'), many.problems.join());
});

t.test('G-54, G-174 programs that fail, never end, or write without end', async (t) => {
  const list = leaves('|fail\nhttp://after.example/');
  const failing = await gatherer(
    t,
    { 'bin/fail': '#!/bin/sh\necho http://a.example/\nprintf http://half.ex\necho no disk >&2\nexit 3\n' },
    list,
  );
  t.same(urls(await all(expandLeafNodes(failing.config.leafNodes, failing.options))), [
    'http://a.example/',
    'http://after.example/',
  ]);
  t.same(failing.problems, ['x.cf:5: fail failed: exit status 3: no disk']);

  const endless = { 'bin/fail': '#!/bin/sh\nexec yes http://a.example/\n' };
  const printing = await gatherer(t, endless, list, { outputBytes: 100 });
  const printed = await all(expandLeafNodes(printing.config.leafNodes, printing.options));
  // 100 bytes are five lines of 18 and a part of one.
  t.same(urls(printed), [...Array(5).fill('http://a.example/'), 'http://after.example/']);
  t.same(printing.problems, ['x.cf:5: fail failed: its output was cut at 100 bytes']);

  const hanging = await gatherer(t, { 'bin/fail': '#!/bin/sh\nexec sleep 100\n' }, list, { timeMs: 200 });
  t.same(urls(await all(expandLeafNodes(hanging.config.leafNodes, hanging.options))), [
    'http://after.example/',
  ]);
  t.match(hanging.problems, [/fail failed: it took more than 200 ms/]);

  const stop = new AbortController();
  const stopped = await gatherer(t, { 'bin/fail': '#!/bin/sh\nexec sleep 100\n' }, list);
  const waiting = all(expandLeafNodes(stopped.config.leafNodes, { ...stopped.options, signal: stop.signal }));
  stop.abort(new Error('enough'));
  await t.rejects(waiting, { message: 'enough' });
});

t.test('G-51 wrong lines are reported with their number, up to a limit', async (t) => {
  const { config, options, problems } = await gatherer(
    t,
    { 'bin/wrong': '#!/bin/sh\necho http://ok.example/\nyes nonsense | head -30\necho "|id"\n' },
    leaves('|wrong'),
  );
  const nodes = await all(expandLeafNodes(config.leafNodes, { ...options, maxProblems: 2 }));
  t.same(urls(nodes), ['http://ok.example/']);
  t.same(problems, [
    'wrong:2: is not a URL of a supported form',
    'wrong:3: is not a URL of a supported form',
    'x.cf:5: wrong 29 more lines are wrong',
  ]);
});

const SITE = 'http://h.example/sitemap.xml';

function read(text: string | Uint8Array, options: Partial<ListingOptions> = {}): Promise<Listing> {
  return listedUrls(typeof text === 'string' ? Buffer.from(text) : text, { url: SITE, ...options });
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

t.test('G-172 sitemap.xml: locations, dates as hints, the same host, no files', async (t) => {
  const { kind, urls, warnings } = await read(URLSET);
  t.equal(kind, 'sitemap');
  t.same(urls, FROM_URLSET);
  t.same(warnings, ['1 left out: on other hosts', '1 left out: files of this machine (G-174)']);
  t.same((await read(gzipSync(URLSET))).urls, FROM_URLSET, 'gzip, whatever its name');
  const everywhere = await read(URLSET, { allows: () => true });
  t.ok(everywhere.urls.some(({ url }) => url === 'http://other.example/'));
  const wide = Buffer.from(`\ufeff${URLSET.replace('UTF-8', 'UTF-16')}`, 'utf16le');
  t.same((await read(wide)).urls, FROM_URLSET, 'UTF-16 by its byte order mark');
  const latin = Buffer.from(
    '<?xml version="1.0" encoding="ISO-8859-1"?><urlset><url><loc>/\xe9</loc></url></urlset>',
    'latin1',
  );
  t.same((await read(latin)).urls[0]?.url, 'http://h.example/%C3%A9');
});

t.test('G-172 sitemap indexes lead to sitemaps, to a limited depth', async (t) => {
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
  t.match(await read(index, { depth: 3 }), { urls: [], warnings: [/^2 left out: .*too deep/] });
});

t.test('G-172 text sitemaps and the Sitemap lines of robots.txt', async (t) => {
  const text =
    '\ufeffhttp://h.example/1\r\n  http://h.example/2\t\n\nSome words\nhttp://i.example/3\nhttp://h.example/4';
  t.match(await read(text, { url: 'http://h.example/list.txt' }), {
    kind: 'text',
    urls: ['1', '2', '4'].map((name) => ({ url: `http://h.example/${name}`, kind: 'document' })),
    warnings: ['1 left out: on other hosts'],
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
  t.same(urls((await read(long)).urls), ['http://h.example/6']);
});

t.test('G-172 RSS 2.0, RSS 1.0, Atom', async (t) => {
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

t.test('G-172 a page names its feeds; other documents list no URLs', async (t) => {
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

t.test('G-172, G-174 listings that are too long, damaged, or hostile', async (t) => {
  const one = (n: number): string => `<url><loc>/${n}</loc></url>\n`;
  const many = `<urlset>${Array.from({ length: 40 }, (_, n) => one(n)).join('')}</urlset>`;
  t.match(await read(many, { maxEntries: 30 }), {
    urls: { length: 30 },
    warnings: ['URLs beyond the first 30 are left out'],
  });
  // 8 bytes of header, then 27 of each of the first URLs: the third one is truncated.
  t.match(await read(many, { maxBytes: 80 }), {
    urls: { length: 2 },
    warnings: ['only the first 80 bytes are read'],
  });
  t.match(await read(many.slice(0, 80)), { urls: { length: 2 }, warnings: ['it breaks off in the middle'] });
  const packed = gzipSync(many);
  const damaged = await read(packed.subarray(0, packed.length - 12));
  t.match(damaged.warnings[0], /^it is damaged: /);
  t.equal(damaged.kind, 'sitemap');
  const bomb = gzipSync(`<urlset>${one(1)}${' '.repeat(3_000_000)}${one(2)}</urlset>`);
  t.match(await read(bomb, { maxBytes: 1_000_000 }), { urls: { length: 1 }, warnings: [/1000000 bytes/] });
  const deep = `<urlset>${one(1)}${'<a>'.repeat(300_000)}${'</b>'.repeat(300_000)}${one(2)}</urlset>`;
  t.match(await read(deep), { urls: { length: 1 }, warnings: ['elements nested deeper than 100'] });
  const laughs =
    '<!DOCTYPE urlset [<!ENTITY a "http://h.example/ha"><!ENTITY x SYSTEM "file:///etc/passwd">]>';
  const unexpanded = await read(`${laughs}<urlset><url><loc>&x;&a;</loc></url>${one(3)}</urlset>`);
  t.notOk(unexpanded.urls.some(({ url }) => /ha$|root/.test(url)));
  t.equal(unexpanded.urls.at(-1)?.url, 'http://h.example/3');

  const stop = new AbortController();
  const reading = readListing(Buffer.from(many), { url: SITE, signal: stop.signal });
  await reading.next();
  stop.abort(new Error('enough'));
  const endless = async function* (): AsyncGenerator<Uint8Array> {
    for (;;) yield Buffer.from(many);
  };
  await t.rejects(all(readListing(endless(), { url: SITE, signal: stop.signal })), { message: 'enough' });
});

t.test('G-172 chunk boundaries do not change a listing; any bytes are read', async (t) => {
  const whole = await read(URLSET);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 30 }),
      async (sizes) => {
        const bytes = gzipSync(URLSET);
        const pieces = async function* (): AsyncGenerator<Uint8Array> {
          for (let at = 0, n = 0; at < bytes.length; n++) {
            const size = sizes[n % sizes.length]!;
            yield bytes.subarray(at, at + size);
            at += size;
          }
        };
        const found = await all(readListing(pieces(), { url: SITE }));
        if (JSON.stringify(found) !== JSON.stringify(whole.urls)) throw new Error(JSON.stringify(found));
      },
    ),
    { numRuns: 40 },
  );
  const words =
    '<|>|/|urlset|url|loc|item|link|entry|feed|rss|html|"|=|&|;|http://h.example/|<![CDATA[|]]>|<!--|?| '.split(
      '|',
    );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...words), { maxLength: 40 }), async (parts) => {
      const { urls } = await read(parts.join(''));
      if (urls.some(({ url }) => !url.startsWith('http://h.example/'))) throw new Error('another host');
    }),
    { numRuns: 200 },
  );
  t.equal(whole.urls.length, 3);
});

t.test('G-30, G-172 the settings of Search= and Enumeration=', async (t) => {
  const node = (line: string): RootNode =>
    parseGathererConf(`Gatherer-Name: x\n${roots(line)}`, 'x.cf').config.rootNodes[0]!;
  t.same(searchSettings(node('http://h.example/ Search=Depth')), { preferenceDepthHops: 0 });
  t.same(searchSettings(node('http://h.example/')), {});
  t.ok(isListed(node('http://h.example/ Enumeration=Sitemap')));
  t.ok(isListed(node('http://h.example/ Enumeration=feed')));
  t.notOk(isListed(node('http://h.example/ Enumeration=./sitemap')));
  t.notOk(isListed(node('http://h.example/')));
  const usual = ['https://h.example:444/robots.txt', 'https://h.example:444/sitemap.xml'];
  t.same(sitemapUrls('https://h.example:444/'), usual);
  t.same(sitemapUrls('https://h.example:444/news/'), ['https://h.example:444/news/', ...usual]);
  for (const url of ['http://h.example/s.xml.gz', 'http://h.example/feed.rss?x', 'ftp://h.example/pub/']) {
    t.same(sitemapUrls(url), [url]);
  }
});

t.test('G-174 which sources may lead to which targets', async (t) => {
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
  const rows: [from: string, to: string, may: boolean, mustBePublic: boolean][] = [
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
  for (const [from, to, may, only] of rows) {
    t.equal(mayReach(from, to, known), may, `${from} -> ${to}`);
    t.equal(mustBePublic(from, to, known), only, `${from} -> ${to}: publicOnly`);
  }
  for (const address of ['64:ff9b::a00:1', '64:ff9b::127.0.0.1', '2002:a00:1::', '2002:7f00:1::1']) {
    t.ok(isPrivateAddress(address), address);
  }
  for (const address of ['64:ff9b::808:808', '2002:808:808::1']) t.notOk(isPrivateAddress(address), address);
});

t.test('G-137, G-139 to G-142 annotations: the printed example, the first file wins', async (t) => {
  const top = await directory(t);
  const first = join(top, 'annotations');
  const second = join(top, 'annotations2');
  await writeFile(
    first,
    '@FILE { http://h.example/~x\nmy-manual-attribute:\tthis is a neat attribute\nTitle:\tBy hand\n}\n' +
      '@FILE { http://h.example/only\nTitle:\tNobody gathered this\n}\nnonsense\n',
  );
  await writeFile(second, '@FILE { http://h.example/%7Ex\ntitle:\tSecond\nAuthor:\tJoe\n}\n');
  const problems: string[] = [];
  const onProblem = (problem: ConfigError): void => void problems.push(problem.message);
  const annotations = await Annotations.load([first, second], { onProblem });
  t.same(problems, [`${first}:8: text between objects (SOIF-11.1)`]);
  t.equal(annotations.size, 2);

  const automatic = SoifObject.of('HTML', 'http://h.example/%7ex', [
    ['keywords', 'boulder\ncolorado'],
    ['TITLE', 'By machine'],
    ['file-size', '1034'],
    ['md5', 'c3d79dc037efd538ce50464089af2fb6'],
  ]);
  t.equal(
    Buffer.from(encodeSoif(annotations.merge(automatic))).toString(),
    '@HTML { http://h.example/%7ex\nmy-manual-attribute{24}:\tthis is a neat attribute\nTitle{7}:\tBy hand\nAuthor{3}:\tJoe\n' +
      'keywords{16}:\tboulder\ncolorado\nfile-size{4}:\t1034\nmd5{32}:\tc3d79dc037efd538ce50464089af2fb6\n}\n',
  );
  const other = decodeSoif(Buffer.from('@FILE { http://h.example/other\nTitle{1}:\tx\n}\n'));
  t.equal(annotations.merge(other), other);
  t.same(
    [...annotations.unmatched((url) => url === 'http://h.example/%7ex')].map(({ url }) => url),
    ['http://h.example/only'],
  );

  const again = await Annotations.load([first, second]);
  t.equal(again.digest, annotations.digest);
  const { digest, digestFor } = { digest: again.digest, digestFor: again.digestFor('http://h.example/only') };
  await writeFile(second, '@FILE { http://h.example/~x\nAuthor:\tAnn\n}\n');
  const changed = await Annotations.load([first, second]);
  t.not(changed.digest, digest);
  t.equal(changed.digestFor('http://h.example/only'), digestFor);
  t.not(changed.digestFor('http://h.example/~x'), again.digestFor('http://h.example/~x'));
  t.equal(changed.digestFor('http://h.example/other'), undefined);
  await t.rejects(Annotations.load([first], { maxBytes: 20 }), { code: 'ERR_STORAGE' });
  await t.rejects(Annotations.load([join(top, 'none')]), {
    code: 'ERR_STORAGE',
    message: /none: the annotations cannot/,
  });
  t.equal((await Annotations.load([])).merge(automatic), automatic);
});

t.test('G-25, G-20 the secrets file: its logins follow those of the configuration', async (t) => {
  const top = await directory(t);
  const text = `Gatherer-Name: x\nTop-Directory: ${top}\nSecrets-File: secrets\nFTP-Auth: a.example joe one\n`;
  const { config } = parseGathererConf(text, 'x.cf');
  await t.rejects(withSecrets(config), {
    code: 'ERR_CONFIG',
    message: /secrets:0: Secrets-File: there is no such/,
  });
  const file = join(top, 'secrets');
  await writeFile(file, `FTP-Auth: b.example ann \${PW}\nHTTP-Basic-Auth: "My Realm" ann hunter2\n`, {
    mode: 0o600,
  });
  const { config: full, warnings } = await withSecrets(config, { PW: 'two' });
  t.same(warnings, []);
  t.same(full.ftpAuth, [
    { host: 'a.example', user: 'joe', password: 'one' },
    { host: 'b.example', user: 'ann', password: 'two' },
  ]);
  t.same(full.httpBasicAuth, [{ realm: 'My Realm', user: 'ann', password: 'hunter2' }]);
  await chmod(file, 0o644);
  t.match((await withSecrets(config, { PW: 'two' })).warnings, [{ message: /others than its owner/ }]);
  await writeFile(file, 'FTP-Auth: hunter2\n');
  const error = await withSecrets(config).catch((problem: Error) => problem);
  t.match(error, { message: /secrets:1: FTP-Auth: needs/ });
  t.notMatch(String(error), /hunter2/);
});

t.test('E-116, E-22 Essence-Options set the options of Essence', async (t) => {
  const top = await directory(t);
  await mkdir(join(top, 'lib2'));
  await writeFile(join(top, 'lib2', 'stop.cf'), 'HTML\n');
  const options = (value: string) =>
    essenceOptionsOf(
      parseGathererConf(`Gatherer-Name: x\nTop-Directory: ${top}\nEssence-Options: ${value}\n`, 'x.cf')
        .config,
    );
  const { libDirectory, stoplist, allowlist, fullText, gathererName } = options(
    '--libdir lib2 --stoplist lib2/stop.cf --allowlist allowlist.cf --full-text --gatherer-name other',
  );
  t.same(
    { libDirectory, stoplist, allowlist, fullText, gathererName },
    {
      libDirectory: join(top, 'lib2'),
      stoplist: join(top, 'lib2', 'stop.cf'),
      allowlist: 'allowlist.cf',
      fullText: true,
      gathererName: 'other',
    },
  );
  t.equal(options('--no-keywords').keywords, false);
  t.equal(options('--verbose').gathererName, 'x');
});

t.test(
  'G-20, G-31, G-44 filter files: the default one, none, in Lib-Directory, in Top-Directory',
  async (t) => {
    const lists =
      'http://h.example/|http://h.example/ URL=250,/dev/null|http://h.example/ URL=1,in.lib Host=2,in.top';
    const { config, top } = await gatherer(
      t,
      { 'lib/in.lib': 'Deny ^/lib/\n' },
      roots(lists.replaceAll('|', '\n')),
    );
    await writeFile(join(top, 'in.top'), 'Deny ^bad:80\n');
    const files = new FilterFiles(config);
    const [usual, none, own] = await Promise.all(config.rootNodes.map((node) => files.rulesOf(node)));
    t.equal(usual?.urlFilter?.allows('/picture.gif'), false);
    t.equal(usual?.urlFilter?.allows('/page.html'), true);
    t.equal(usual?.hostFilter, undefined);
    t.equal(none?.urlFilter, undefined);
    t.equal(own?.urlFilter?.allows('/lib/x'), false);
    t.equal(own?.hostFilter?.allows('bad:80', '1.2.3.4:80'), false);
    const missing = { ...config.rootNodes[0]!, urlFilter: 'nowhere' };
    const [first, second] = [
      await files.rulesOf(config.rootNodes[2]!),
      await files.rulesOf(config.rootNodes[2]!),
    ];
    t.equal(first.hostFilter, second.hostFilter, 'a file is read once in a run');
    t.equal(first.urlFilter, second.urlFilter);
    await t.rejects(files.rulesOf(missing), { code: 'ERR_CONFIG', message: /nowhere:.*line 5/ });
  },
);
