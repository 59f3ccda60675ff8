// CRAWL-22.6: an archive has linked files of every type, whatever they are called and however large they are.
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { readOrder } from '../../../servers/crawler/order/read-order.js';
import { zip } from '../../helpers/archives.js';
import { crawlOrdered, openOrdered } from '../../helpers/ordered-crawl.js';
import { page, Site } from '../../helpers/site.js';

/** Names by which Gatherers and search engines leave files out. */
const NAMES = [
  ...'a.gif A.JPG a.jpeg a.png a.tiff a.xbm a.ppm a.bmp a.webp a.svg a.ico'.split(' '),
  ...'a.au a.snd A.WAV a.aiff a.mp3 a.ogg a.flac a.mid'.split(' '),
  ...'a.mpeg a.avi a.mov a.QT a.mp4 a.mkv a.webm a.flv'.split(' '),
  ...'a.zip a.tar.gz a.7z a.rar a.iso a.exe a.dmg a.deb a.jar a.class a.o a.so a.core a.bin'.split(' '),
  ...'a.woff2 a.ttf a.css a.js a.wasm a.json a.xml a.pdf a.ps a.doc a.xls a.odt a.epub'.split(' '),
  ...'a.txt a.c a.sql a.db a.bak a.tmp a~ a noextension .hidden a.unknown-type'.split(' '),
  'picture.jpg?size=large',
  'show?file=film.mp4',
  'cgi-bin/tool.cgi',
];
const TYPES = ['image/gif', 'video/mp4', 'application/octet-stream', 'x-strange/type', 'nonsense', ''];
/** Above the default of Max-Retrieval-Size. */
const LARGE_BYTES = 11 * 1024 * 1024;

/** Crawls a site of these links. Returns the lengths of the archived bodies by path, and the counts of the run. */
async function archived(t: Test, order: object, filter = '') {
  const paths = NAMES.map((name) => `/files/${name}`);
  const pages = paths.map((path, i) => {
    const type = TYPES[i % TYPES.length] ?? '';
    return [
      path,
      (_: unknown, response: import('node:http').ServerResponse) => {
        response.writeHead(200, type === '' ? {} : { 'content-type': type });
        response.end(Buffer.from(`\0\x01 ${path}`));
      },
    ] as const;
  });
  await using site = await Site.start({
    '/': page('Start', [...paths, '/large.bin']),
    ...Object.fromEntries(pages),
    '/large.bin': (_, response) => response.end(Buffer.alloc(LARGE_BYTES, 7)),
  });
  const data = t.testdir({ filter });
  const whole = readOrder(
    JSON.stringify({ warc: { directory: 'warc', compress: false }, ...order, settings: { minDelayMs: 0 } }),
    'order.json',
  );
  const limit = filter === '' ? '' : ` URL=1000,${join(data, 'filter')}`;
  const counts = await crawlOrdered(data, `${site.url}/${limit}`, whole);
  const directory = join(data, 'crawl', 'warc');
  const lengths = new Map<string, number>();
  const truncated: string[] = [];
  for (const name of readdirSync(directory).filter((file) => file.endsWith('.warc'))) {
    const text = readFileSync(join(directory, name), 'latin1');
    for (const [, fields = '', url = '', head = ''] of text.matchAll(
      /\r\nWARC-Type: response\r\n([\s\S]*?WARC-Target-URI: (\S+)\r\n[\s\S]*?)\r\n\r\n(HTTP[\s\S]*?\r\n\r\n)/g,
    )) {
      const length = Number(/Content-Length: (\d+)/.exec(fields)?.[1]) - head.length;
      lengths.set(url.slice(site.url.length), length);
      if (fields.includes('WARC-Truncated')) truncated.push(url);
    }
  }
  return { lengths, truncated, counts, paths, requested: new Set(site.paths) };
}

t.test('profile archive: every linked file is archived, whole', async (t) => {
  const { lengths, truncated, counts, paths } = await archived(t, { profile: 'archive' });
  const missing = paths.filter((path) => lengths.get(path) !== path.length + 3);
  t.same(missing, []);
  t.equal(lengths.get('/large.bin'), LARGE_BYTES);
  t.same(truncated, []);
  t.equal(counts.failed, 0, 'a file that is archived but not summarized is no failure');
});

t.test('without the profile the default filter applies', async (t) => {
  const { requested } = await archived(t, {});
  t.ok(requested.has('/files/a.zip'));
  t.notOk(requested.has('/files/a.mp4'));
});

t.test(
  'profile archive: a filter that the configuration names applies, and the default one does not',
  async (t) => {
    const own = 'Deny \\.(zip|png)$\nDeny /large\nAllow .\n';
    const { requested, lengths } = await archived(t, { profile: 'archive' }, own);
    for (const name of ['a.zip', 'a.png']) t.notOk(requested.has(`/files/${name}`), name);
    t.notOk(requested.has('/large.bin'));
    for (const name of ['a.gif', 'A.JPG', 'a.mp4', 'A.WAV', 'a.7z']) {
      t.ok(requested.has(`/files/${name}`), name);
      t.ok(lengths.has(`/files/${name}`), name);
    }
  },
);

/** A page whose links are beyond what is read for a summary. */
const LONG_PAGE = Buffer.from(
  [
    '<!doctype html><meta charset=utf-8><title>Long</title><a href="/first">x</a>',
    ...Array.from({ length: 60_000 }, (_, i) => `<p>paragraph ${i} of a long page</p>\n`),
    '<img src="/late.png"><a href=/caf\u00e9>x</a><script src=/late.js></script><a href="/last">x</a>',
  ].join(''),
);
const LATE = ['/first', '/late.png', '/caf%C3%A9', '/late.js', '/last'];

t.test('profile archive: the links of a page of any length are followed, however it is coded', async (t) => {
  const replies: Readonly<
    Record<string, { headers?: Record<string, string>; body?: Uint8Array; links?: readonly string[] }>
  > = {
    plain: {},
    gzip: { headers: { 'content-encoding': 'gzip' }, body: gzipSync(LONG_PAGE) },
    br: { headers: { 'content-encoding': 'br' }, body: brotliCompressSync(LONG_PAGE) },
    utf16: {
      headers: { 'content-type': 'text/html; charset=utf-16le' },
      body: Buffer.from(`\ufeff${LONG_PAGE.toString().slice(0, -20_000)}<a href=/caf\u00e9>x</a>`, 'utf16le'),
      links: ['/first', '/caf%C3%A9'],
    },
    meta: {
      body: Buffer.concat([Buffer.from('<meta name=robots content=nofollow>'), LONG_PAGE]),
      links: [],
    },
    header: { headers: { 'x-robots-tag': 'nofollow' }, links: [] },
    comment: {
      // A parser would hold all of it.
      body: Buffer.concat([Buffer.from('<a href=/first>x</a><!--'), Buffer.alloc(6_000_000, 'x')]),
      links: ['/first'],
    },
    damaged: {
      headers: { 'content-encoding': 'gzip' },
      body: gzipSync(LONG_PAGE).subarray(0, -40_000),
    },
  };
  for (const [name, { headers = {}, body = LONG_PAGE, links = LATE }] of Object.entries(replies)) {
    await using site = await Site.start({
      '/': (_, response) => response.writeHead(200, { 'content-type': 'text/html', ...headers }).end(body),
    });
    const order = {
      profile: 'archive' as const,
      warc: { directory: 'warc' },
      settings: { minDelayMs: 0, delayFactor: 0 },
    };
    const data = t.testdir();
    await crawlOrdered(data, `${site.url}/`, readOrder(JSON.stringify(order), 'order.json'), [
      'Max-Retrieval-Size: 1000000',
    ]);
    const requested = new Set(site.paths);
    if (name === 'damaged') t.ok(requested.has('/first'), 'up to the damage');
    else
      t.same(
        LATE.filter((path) => requested.has(path)),
        links,
        name,
      );
  }
});

/** A PDF file with pictures, and links among its objects and in a stream of them. */
const LONG_PDF = (host: string): Uint8Array => {
  const link = (path: string) => `<</Subtype/Link/A<</S/URI/URI(http://${host}${path})>>>>`;
  const picture = Buffer.concat([
    Buffer.from('5 0 obj<<>>stream\n'),
    randomBytes(600_000),
    Buffer.from('\nendstream endobj\n'),
  ]);
  const objects = deflateSync(`1 0 ${link('/z.pdf')}`);
  return Buffer.concat([
    Buffer.from(`%PDF-1.7\n1 0 obj${link('/a.pdf')}endobj\n`),
    picture,
    picture,
    Buffer.from('7 0 obj<</Type/ObjStm/Filter/FlateDecode>>stream\n'),
    objects,
    Buffer.from('\nendstream endobj'),
  ]);
};
/** A document of Word with a picture. */
const LONG_DOCX = (host: string): Uint8Array =>
  zip([
    ['[Content_Types].xml', Buffer.from('<Types/>')],
    ['word/media/a.png', randomBytes(1_200_000)],
    [
      'word/_rels/document.xml.rels',
      Buffer.from(
        `<Relationships><Relationship Id="r" Type="x/hyperlink" Target="http://${host}/z.docx" TargetMode="External"/></Relationships>`,
      ),
    ],
  ]);

/** Long documents of the types that are read in pieces, with links at their beginning, in the middle and at their end. */
function longDocuments(): readonly (readonly [
  name: string,
  type: string,
  body: string | ((host: string) => Uint8Array),
  links: readonly string[],
])[] {
  const filled = (line: (i: number) => string): string =>
    Array.from({ length: 60_000 }, (_, i) => line(i)).join('');
  const rules = filled((i) => `.c${i} { color: red; /* ${i}; url(no) */ }\n`);
  const picture = `.p { background: url("data:image/png;base64,${'A'.repeat(300_000)}") } .q { src: url(data:,${'B'.repeat(300_000)}) }`;
  const calls = filled((i) => `f("word ${i}", '${i}');\n`);
  const items = filled((i) => `<item><title>t${i}</title></item>\n`);
  const values = filled((i) => `{"n": ${i}, "t": "text"},\n`);
  return [
    [
      'style',
      'text/css',
      `@import "/a.css";${rules}.m { background: url( /m.png ) }${picture}/*${'x'.repeat(200_000)}*/${rules}.z { background: image-set('/z.png' 1x) }`,
      ['/a.css', '/m.png', '/z.png'],
    ],
    [
      'script',
      'text/javascript',
      `load("/a.js");${calls}load('/m.js');${calls}load("/z.js")`,
      ['/a.js', '/m.js', '/z.js'],
    ],
    [
      'minified',
      'text/javascript',
      `load("/a.js");${calls}load('/m.js');${calls}load("/z.js")`.replaceAll('\n', ''),
      ['/a.js', '/m.js', '/z.js'],
    ],
    [
      'feed',
      'application/rss+xml',
      `<?xml-stylesheet href="/a.xsl"?><rss><channel><item><enclosure url="/m.mp3"/></item>${items}<item><enclosure url="/z.mp3"/></item></channel></rss>`,
      ['/a.xsl', '/m.mp3', '/z.mp3'],
    ],
    [
      'text',
      'text/plain',
      `see http://HOST/a.txt.\n${filled((i) => `line ${i} of a text\n`)}http://HOST/z.txt`,
      ['/a.txt', '/z.txt'],
    ],
    ['pdf', 'application/pdf', LONG_PDF, ['/a.pdf', '/z.pdf']],
    ['pdf', 'application/octet-stream', LONG_PDF, ['/a.pdf', '/z.pdf']],
    [
      'office',
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
      LONG_DOCX,
      ['/z.docx'],
    ],
    ['json', 'application/json', `[{"image": "/a.png"},${values}{"image": "/z.png"}]`, ['/a.png', '/z.png']],
  ];
}

t.test('profile archive: the links of other types of any length are followed', async (t) => {
  const cases = longDocuments().flatMap((document) =>
    document[0] === 'office' || document[0] === 'pdf'
      ? [[...document, 'gzip'] as const, [...document, ''] as const]
      : [[...document, ''] as const],
  );
  for (const [name, type, body, links, coding] of cases) {
    await using site = await Site.start({
      '/': `<a href=/long>x</a>`,
      '/long': ({ headers }, response) => {
        const host = headers.host ?? '';
        const bytes = typeof body === 'string' ? Buffer.from(body.replaceAll('HOST', host)) : body(host);
        const coded = coding === '' ? {} : { 'content-encoding': coding };
        response
          .writeHead(200, { 'content-type': type, ...coded })
          .end(coding === '' ? bytes : gzipSync(bytes));
      },
    });
    const order = {
      profile: 'archive' as const,
      warc: { directory: 'warc' },
      settings: { minDelayMs: 0, delayFactor: 0 },
    };
    await crawlOrdered(t.testdir(), `${site.url}/`, readOrder(JSON.stringify(order), 'order.json'), [
      'Max-Retrieval-Size: 1000000',
    ]);
    t.same(site.paths.filter((path) => !['/', '/long'].includes(path)).sort(), links, name);
  }
});

t.test('a document whose links cannot all be read is counted, and has an annotation', async (t) => {
  const encrypted = Buffer.concat([
    Buffer.from('%PDF-1.7\ntrailer<</Encrypt 5 0 R>>'),
    randomBytes(1_200_000),
  ]);
  await using site = await Site.start({
    '/': '<a href=/long.pdf>x</a><a href=/cut.docx>x</a>',
    '/long.pdf': (_, response) =>
      response.writeHead(200, { 'content-type': 'application/pdf' }).end(encrypted),
    '/cut.docx': ({ headers }, response) => response.end(LONG_DOCX(headers.host ?? '').subarray(0, -9)),
  });
  const order = readOrder(
    JSON.stringify({
      profile: 'archive',
      warc: { directory: 'warc' },
      logs: true,
      settings: { minDelayMs: 0, delayFactor: 0 },
    }),
    'order.json',
  );
  const directory = t.testdir();
  await using gatherer = await openOrdered(directory, `${site.url}/`, order, ['Max-Retrieval-Size: 1000000']);
  const report = await gatherer.run(new AbortController().signal);
  t.equal(report.roots[0]?.refused.unread, 2);
  const log = readFileSync(join(directory, 'crawl', 'logs', 'crawl.log'), 'utf8');
  t.equal(log.match(/linksUnread/g)?.length, 2);
});
