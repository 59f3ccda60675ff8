// CRAWL-22.6: an archive has linked files of every type, whatever they are called and however large they are.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { readOrder } from '../../../servers/crawler/order/read-order.js';
import { crawlOrdered } from '../../helpers/ordered-crawl.js';
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
async function archived(t: Test, order: object, lines: readonly string[] = []) {
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
  const data = t.testdir();
  const whole = readOrder(
    JSON.stringify({ warc: { directory: 'warc', compress: false }, ...order, settings: { minDelayMs: 0 } }),
    'order.json',
  );
  const counts = await crawlOrdered(data, `${site.url}/`, whole, lines);
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

t.test(
  'a filter that the configuration names applies, and without the profile the default one',
  async (t) => {
    const { requested } = await archived(t, {});
    t.ok(requested.has('/files/a.zip'));
    t.notOk(requested.has('/files/a.mp4'));
  },
);
