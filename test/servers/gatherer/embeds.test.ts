// What pages embed is fetched if the order wants it (CRAWL-11.2, 10.2.3, 2.2), from the hosts that it allows.
import t, { type Test } from 'tap';
import { parseGathererConf } from '../../../protocols/config/index.js';
import { crawlOrderSchema } from '../../../servers/crawler/order/order.js';
import { type DocumentEvent, documentChannel, Gatherer } from '../../../servers/gatherer/index.js';
import { type Page, Site } from '../../helpers/site.js';

type Settings = Readonly<Record<string, string | number>>;

const typed =
  (type: string, body: string, headers: Readonly<Record<string, string>> = {}): Page =>
  (_, response) => {
    response.writeHead(200, { 'content-type': type, ...headers }).end(body);
  };

/** Two sites: pages with all that they show, and a server of images and scripts. */
async function sites(t: Test): Promise<{ main: Site; cdn: Site }> {
  const cdn = await Site.start(
    {
      '/font.woff2': typed('font/woff2', 'x'),
      '/lib.js': typed('text/javascript', 'load("/from-script.png"); go("/lib-guess.js")'),
      '/moved.png': (_, response) => response.writeHead(302, { location: '/image.png' }).end(),
      '/image.png': typed('image/png', 'x'),
      '/frame.html': '<title>Frame</title><img src="framed.png"><a href="/other-page.html">no</a>',
      '/framed.png': typed('image/png', 'x'),
    },
    '127.0.0.2',
  );
  t.teardown(() => cdn[Symbol.asyncDispose]());
  const main = await Site.start({
    '/': typed(
      'text/html',
      `<title>Start</title><link rel=stylesheet href="/style.css"><script src="${cdn.url}/lib.js"></script>
       <img src="${cdn.url}/moved.png"><iframe src="${cdn.url}/frame.html"></iframe><a href="/deep/1.html">1</a>`,
      { link: '</hinted.css>; rel=preload; as=style, <https://x.test>; rel="preconnect"' },
    ),
    '/style.css': typed(
      'text/css',
      `@font-face { src: url(${cdn.url}/font.woff2) } p { background: url(bg.gif) }`,
    ),
    '/hinted.css': typed('text/css', ''),
    '/bg.gif': typed('image/gif', 'GIF89a'),
    '/from-script.png': typed('image/png', 'x'),
    '/lib-guess.js': typed('text/javascript', '"/second-guess.js"'),
    '/deep/1.html': `<title>1</title><img src="1.png"><a href="${cdn.url}/linked.html">no</a><a href=/deep/2.html>2</a>`,
    '/deep/1.png': typed('image/png', 'x'),
    '/deep/2.html': '<title>2</title>',
  });
  t.teardown(() => main[Symbol.asyncDispose]());
  return { main, cdn };
}

/** Crawls the main site; returns the requests of both, and the events. */
async function crawl(
  t: Test,
  settings: Settings,
  limits = '',
): Promise<{ main: string[]; cdn: string[]; hops: Map<string, string> }> {
  const { main, cdn } = await sites(t);
  const hops = new Map<string, string>();
  const onDocument = (message: unknown): void => {
    const { url, pathFromSeed } = message as DocumentEvent;
    hops.set(new URL(url).pathname, pathFromSeed);
  };
  documentChannel.subscribe(onDocument);
  try {
    const text = `Gatherer-Name: Test\nGatherer-Host: g.example.org\n<RootNodes>\n${main.url}/ Delay=0 ${limits}\n</RootNodes>\n`;
    await using gatherer = await Gatherer.open({
      directory: t.testdir(),
      config: parseGathererConf(text, 'test.cf', {}).config,
      essenceWorkers: 1,
      order: crawlOrderSchema.parse({
        logs: false,
        settings: { delayFactor: 0, minDelayMs: 0, ...settings },
      }),
    });
    await gatherer.run(new AbortController().signal);
  } finally {
    documentChannel.unsubscribe(onDocument);
  }
  return { main: main.paths.sort(), cdn: cdn.paths.sort(), hops };
}

t.test('by default only pages and frames of the host are fetched (G-60)', async (t) => {
  const { main, cdn } = await crawl(t, {});
  t.same(main, ['/', '/deep/1.html', '/deep/2.html']);
  t.same(cdn, []);
});

t.test('embeds: root fetches what the RootNode allows', async (t) => {
  const { main, cdn } = await crawl(t, { embeds: 'root', maxSpeculativeHops: 0 });
  t.same(main, ['/', '/bg.gif', '/deep/1.html', '/deep/1.png', '/deep/2.html', '/hinted.css', '/style.css']);
  t.same(cdn, []);
});

t.test('embeds: any fetches what pages show from any host, and no pages there', async (t) => {
  const { main, cdn, hops } = await crawl(t, { embeds: 'any' }, 'URL=3 Depth=2');
  t.same(
    main,
    [
      '/',
      '/bg.gif',
      '/deep/1.html',
      '/deep/1.png',
      '/deep/2.html',
      '/from-script.png',
      '/hinted.css',
      '/lib-guess.js',
      '/style.css',
    ],
    'what is embedded does not count as URL; a guess within a guess is not followed',
  );
  t.same(cdn, ['/font.woff2', '/frame.html', '/framed.png', '/image.png', '/lib.js', '/moved.png']);
  t.same(
    ['/', '/style.css', '/bg.gif', '/deep/1.png', '/image.png', '/from-script.png'].map((path) =>
      hops.get(path),
    ),
    ['', 'E', 'EE', 'LE', 'ER', 'EX'],
    'CRAWL-2.2',
  );
});

t.test('maxTransHops limits the steps from a page', async (t) => {
  const { main, cdn } = await crawl(t, { embeds: 'any', maxTransHops: 1, maxSpeculativeHops: 0 });
  t.same(main, ['/', '/bg.gif', '/deep/1.html', '/deep/1.png', '/deep/2.html', '/hinted.css', '/style.css']);
  t.same(cdn, ['/frame.html', '/image.png', '/lib.js', '/moved.png'], 'not the font of the style sheet');
});
