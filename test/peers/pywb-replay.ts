// A crawled page in pywb, the replay program of many web archives: it looks in a browser as it did on its site,
// pixel by pixel, at the widths and densities for which it has other images, and its site is asked for nothing.
// Prints TAP. Needs pywb's virtual environment (PYWB, its directory), Chromium and the fonts of DejaVu; skipped
// without them.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateSync, gzipSync } from 'node:zlib';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import t from 'tap';
import { readOrder } from '../../servers/crawler/order/read-order.js';
import { launchBrowser } from '../helpers/browser.js';
import { freePort, scratchDirectory, startDaemon } from '../helpers/daemon.js';
import { crawlOrdered } from '../helpers/ordered-crawl.js';
import { type Page, Site } from '../helpers/site.js';
import { TEST_DATA } from '../run/needs.js';

const PYWB = process.env.PYWB ?? join(TEST_DATA, 'pywb');
const FONTS = '/usr/share/fonts/truetype/dejavu';
const NEEDED = [
  join(PYWB, 'bin/wayback'),
  process.env.CHROMIUM ?? '/usr/bin/chromium',
  `${FONTS}/DejaVuSans-Bold.ttf`,
  `${FONTS}/DejaVuSansMono.ttf`,
];
const missing = NEEDED.filter((path) => !existsSync(path));
const skip = missing.length === 0 ? false : `${missing.join(', ')} needed`;

/** A PNG image of one color with a darker diagonal. */
function png(width: number, height: number, [red, green, blue]: readonly [number, number, number]): Buffer {
  const rows = Array.from({ length: height }, (_, y) => {
    // Each row begins with the number of its filter.
    const row = Buffer.alloc(1 + 3 * width);
    for (let x = 0; x < width; x++) {
      const shade = Math.abs(x * height - y * width) < width * 2 ? 0.4 : 1;
      row.set([red * shade, green * shade, blue * shade], 1 + 3 * x);
    }
    return row;
  });
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // Eight bits for each of three colors.
  head.set([8, 2], 8);
  const chunk = (type: string, data: Buffer): Buffer => {
    const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    const checksum = Buffer.alloc(4);
    checksum.writeUInt32BE(crc32(typed));
    return Buffer.concat([length, typed, checksum]);
  };
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(Buffer.concat(rows))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const HTML = `<!DOCTYPE html>
<html lang="fr"><head><meta charset="utf-8"><title>Archive</title>
<link rel="icon" href="/icon.png">
<link rel="stylesheet" href="css/site.css?v=1&amp;w=2">
<style>@import url("/css/more.css"); .inline { background: url(/inline.png) }</style>
</head><body>
<h1>D\u00e9j\u00e0 vu</h1>
<p class="mono">0123456789 - <code>mono</code></p>
<img src="/plain.png" alt="" width="60" height="40">
<img src="/one.png" srcset="/one.png 1x, /two.png 2x" alt="" width="80" height="50">
<picture><source media="(max-width: 500px)" srcset="/narrow.png"><img src="/wide.png" alt=""></picture>
<div class="box">background of a style sheet</div><div class="box inline">of the page</div>
<div class="box" style="background-image: url('attribute.png')">of an attribute</div>
<svg width="50" height="50"><image href="/svg.png" width="50" height="50"/></svg>
<p id="script">without script</p>
<script src="js/page.js"></script>
</body></html>`;
const CSS = `@font-face { font-family: Head; src: url("../fonts/bold.ttf") format("truetype"); }
@font-face { font-family: Mono; src: url(/fonts/mono.ttf); }
body { margin: 20px; background: #eef url(../tile.png) repeat-x bottom; font: 16px sans-serif }
h1 { font: 40px Head } .mono, code { font: 18px Mono }
.box { width: 200px; height: 60px; margin: 5px; background: url( "../box.png" ) }
@media (max-width: 500px) { h1 { color: #a00; background: url(/narrow-head.png) } }`;
const SCRIPT = `const image = document.createElement('img');
image.src = '/scripted.png';
document.getElementById('script').replaceChildren('with script, ' + document.title, image);
document.body.dataset.done = 'yes';`;

const COLORS = {
  '/icon.png': [0, 0, 0],
  '/plain.png': [200, 60, 60],
  '/one.png': [60, 200, 60],
  '/two.png': [20, 120, 20],
  '/narrow.png': [200, 200, 40],
  '/wide.png': [40, 200, 200],
  '/tile.png': [180, 180, 220],
  '/box.png': [240, 200, 160],
  '/inline.png': [200, 160, 240],
  '/attribute.png': [160, 240, 200],
  '/svg.png': [90, 90, 200],
  '/narrow-head.png': [250, 220, 220],
  '/scripted.png': [250, 120, 20],
} as const;

/** Answers with bytes. */
function file(type: string, bytes: string | Buffer): Page {
  return (_, response) => void response.writeHead(200, { 'content-type': type }).end(bytes);
}

const PAGES: Readonly<Record<string, Page>> = {
  // Coded and in chunks.
  '/': (_, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-encoding': 'gzip' });
    const coded = gzipSync(HTML);
    response.write(coded.subarray(0, 100));
    response.end(coded.subarray(100));
  },
  '/css/site.css?v=1&w=2': file('text/css', CSS),
  '/css/more.css': file('text/css', 'code { color: #036; background: url(/plain.png) }'),
  '/js/page.js': file('text/javascript', SCRIPT),
  '/fonts/bold.ttf': (_, response) =>
    void response
      .writeHead(200, { 'content-type': 'font/ttf' })
      .end(readFileSync(`${FONTS}/DejaVuSans-Bold.ttf`)),
  '/fonts/mono.ttf': (_, response) =>
    void response
      .writeHead(200, { 'content-type': 'font/ttf' })
      .end(readFileSync(`${FONTS}/DejaVuSansMono.ttf`)),
  ...Object.fromEntries(
    Object.entries(COLORS).map(([path, color]) => [path, file('image/png', png(80, 50, color))]),
  ),
};

const VIEWS: Readonly<Record<string, BrowserContextOptions>> = {
  'a wide window': { viewport: { width: 900, height: 800 } },
  'twice the density': { viewport: { width: 900, height: 800 }, deviceScaleFactor: 2 },
  'a narrow window': { viewport: { width: 400, height: 900 } },
};

/** A page as a view shows it. */
interface Shot {
  readonly image: Buffer;
  /** Paths of the requests that failed. */
  readonly failed: readonly string[];
  readonly text: string;
}

async function shoot(browser: Browser, url: string, options: BrowserContextOptions): Promise<Shot> {
  const context = await browser.newContext(options);
  try {
    const page = await context.newPage();
    const failed: string[] = [];
    page.on('requestfailed', (request) => failed.push(request.url()));
    page.on('response', (response) => {
      if (response.status() >= 400) failed.push(`${response.status()} ${response.url()}`);
    });
    await page.goto(url, { waitUntil: 'networkidle' });
    await page.locator('body[data-done=yes]').waitFor();
    await page.evaluate('document.fonts.ready.then(() => undefined)');
    const text = await page.locator('body').innerText();
    return { image: await page.screenshot({ fullPage: true, animations: 'disabled' }), failed, text };
  } finally {
    await context.close();
  }
}

/** Returns the number of pixels that differ, and the number of colors of the first image. */
async function compare(
  browser: Browser,
  one: Buffer,
  two: Buffer,
): Promise<{ differing: number; colors: number }> {
  const page = await browser.newPage();
  try {
    const images = JSON.stringify(
      [one, two].map((image) => `data:image/png;base64,${image.toString('base64')}`),
    );
    return await page.evaluate(`(async () => {
      const [one, two] = await Promise.all(${images}.map(async (url) => {
        const image = new Image();
        image.src = url;
        await image.decode();
        const canvas = new OffscreenCanvas(image.width, image.height);
        const context = canvas.getContext('2d');
        context.drawImage(image, 0, 0);
        return { width: image.width, pixels: new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer) };
      }));
      const colors = new Set(one.pixels).size;
      if (one.width !== two.width || one.pixels.length !== two.pixels.length) return { differing: Infinity, colors };
      return { differing: one.pixels.reduce((sum, pixel, i) => sum + (pixel === two.pixels[i] ? 0 : 1), 0), colors };
    })()`);
  } finally {
    await page.close();
  }
}

t.test('WARC 1.1, CDXJ: pywb replays a page as it was', { skip }, async (t) => {
  const directory = scratchDirectory(t);
  const warc = join(directory, 'warc');
  const site = await Site.start(PAGES);
  const url = `${site.url}/`;
  const order = readOrder(
    JSON.stringify({
      profile: 'archive',
      logs: false,
      warc: { directory: warc, poolMaxActive: 2 },
      settings: { delayFactor: 0, minDelayMs: 0 },
    }),
    'order.json',
  );
  await crawlOrdered(join(directory, 'gatherer'), url, order);
  const crawled = new Set(site.paths);
  t.same(
    Object.keys(PAGES).filter((path) => !crawled.has(path)),
    [],
    'everything that the page shows was crawled',
  );
  t.ok(readdirSync(warc).some((name) => name.endsWith('.cdxj')));

  const browser = await launchBrowser();
  t.teardown(() => browser.close());
  const live = new Map<string, Shot>();
  for (const [name, options] of Object.entries(VIEWS)) live.set(name, await shoot(browser, url, options));
  await site.close();

  const port = await freePort();
  const root = join(directory, 'pywb');
  mkdirSync(join(root, 'templates'), { recursive: true });
  // No banner.
  writeFileSync(join(root, 'templates/banner.html'), '');
  writeFileSync(
    join(root, 'config.yaml'),
    `framed_replay: false\ncollections:\n  site:\n    index_paths: ${warc}/\n    archive_paths: ${warc}/\n`,
  );
  await startDaemon(t, port, join(PYWB, 'bin/wayback'), ['-b', '127.0.0.1', '-p', String(port), '-d', root]);
  const red = await compare(browser, png(9, 9, [200, 60, 60]), png(9, 9, [200, 61, 60]));
  t.ok(red.differing > 40, 'the comparison sees one shade');
  const replayUrl = `http://127.0.0.1:${port}/site/20300101000000/${url}`;
  for (const [name, options] of Object.entries(VIEWS)) {
    const before = live.get(name);
    const after = await shoot(browser, replayUrl, options);
    t.same(before?.failed, [], `${name}: the site has everything`);
    t.same(after.failed, [], `${name}: the archive has everything`);
    t.equal(after.text, before?.text, `${name}: the same text`);
    t.match(after.text, 'with script, Archive');
    const { differing, colors } = await compare(browser, before?.image ?? Buffer.alloc(0), after.image);
    t.ok(colors > 20, `${name}: ${colors} colors`);
    t.equal(differing, 0, `${name}: pixels that differ`);
  }
});
