// The references of pages, style sheets, scripts, XML and JSON (CRAWL-11.2, chain 3).
import fc from 'fast-check';
import t from 'tap';
import { type OutlinkHop, scanSrcset } from '../../../servers/essence/outlinks/attributes.js';
import { outlinksOf } from '../../../servers/essence/outlinks/outlinks.js';
import { isLikelyUrl, ScriptReader, scanScript } from '../../../servers/essence/outlinks/script-and-json.js';
import { StyleReader, scanStyle } from '../../../servers/essence/outlinks/style.js';
import { assertProperty } from '../../helpers/property.js';

const PAGE = 'http://a.test/dir/page.html';

interface Source {
  readonly url?: string;
  readonly contentType?: string;
  readonly via?: string;
  readonly maxLinks?: number;
}

/** Returns the links of a document as `HOP URL`. */
function links(
  text: string,
  { url = PAGE, contentType = 'text/html', via = '', maxLinks = 10_000 }: Source = {},
): string[] {
  const source = { url, via, contentType, isHtml: contentType === 'text/html', text: () => text };
  return (outlinksOf(source, [], maxLinks)?.links ?? []).map(({ url, hop }) => `${hop} ${url}`);
}

function collected(scan: (text: string, add: (reference: string) => void) => void, text: string): string[] {
  const found: string[] = [];
  scan(text, (reference) => found.push(reference));
  return found;
}

/** A kind of reference: markup with `%%` in place of a URL, and the hop. */
const KINDS: readonly (readonly [string, OutlinkHop])[] = [
  ['<a href="%%">x</a>', 'L'],
  ['<map><area href=%%></map>', 'L'],
  ['<link rel="alternate" type="application/rss+xml" href="%%">', 'L'],
  ['<link rel=next href=%%>', 'L'],
  ['<link rel="stylesheet" href="%%">', 'E'],
  ['<link rel="shortcut icon" href="%%">', 'E'],
  ['<link rel="apple-touch-icon" sizes=180x180 href="%%">', 'E'],
  ['<link rel=manifest href=%%>', 'E'],
  ['<link rel=preload as=font href=%%>', 'E'],
  ['<link rel=preload as=image imagesrcset="%% 2x">', 'E'],
  ['<img src="%%">', 'E'],
  ['<img src=data:image/gif;base64,AAAA srcset="%% 480w, data:x 2x">', 'E'],
  ['<img longdesc="%%">', 'L'],
  ['<img lowsrc=%%>', 'E'],
  ['<img dynsrc=%%>', 'E'],
  ['<img data-src=%%>', 'E'],
  ['<img data-srcset="%% 1x">', 'E'],
  ['<div data-bg="%%"></div>', 'E'],
  ['<picture><source srcset="%%"></picture>', 'E'],
  ['<video poster="%%"></video>', 'E'],
  ['<video src="%%"></video>', 'E'],
  ['<video><source src=%%><track src=/known.vtt></video>', 'E'],
  ['<audio src="%%"></audio>', 'E'],
  ['<video><track src="%%"></video>', 'E'],
  ['<embed src="%%">', 'E'],
  ['<object data="%%"></object>', 'E'],
  ['<object><param name=movie value="%%"></object>', 'E'],
  ['<applet codebase="/dir/" archive="%%"></applet>', 'E'],
  ['<script src="%%"></script>', 'E'],
  ['<script>load("%%")</script>', 'X'],
  ['<script>x = \'<img src="%%">\'</script>', 'X'],
  ['<a onclick="go(\'%%\')">x</a>', 'X'],
  ['<a href="javascript:open(\'%%\')">x</a>', 'X'],
  ['<style>p { background: url(%%) }</style>', 'E'],
  ['<style>@import "%%";</style>', 'E'],
  ['<style>p { background: image-set("%%" 1x, url(/known.png) 2x) }</style>', 'E'],
  ['<p style="background-image:url(\'%%\')">x</p>', 'E'],
  ['<body background="%%">', 'E'],
  ['<table><td background=%%></table>', 'E'],
  ['<iframe src="%%"></iframe>', 'E'],
  ['<iframe srcdoc="&lt;img src=%%&gt;"></iframe>', 'E'],
  ['<frameset><frame src=%%></frameset>', 'E'],
  ['<input type=image src=%%>', 'E'],
  ['<form action="%%"><input></form>', 'L'],
  ['<form><button formaction="%%">x</button></form>', 'L'],
  ['<option value="%%">x</option>', 'X'],
  ['<blockquote cite="%%">x</blockquote>', 'L'],
  ['<html manifest="%%">', 'E'],
  ['<meta http-equiv=refresh content="0; url=%%">', 'R'],
  ['<meta property="og:image" content="%%">', 'E'],
  ['<meta name="twitter:image" content="%%">', 'E'],
  ['<meta name="msapplication-TileImage" content="%%">', 'E'],
  ['<svg><image href="%%"/></svg>', 'E'],
  ['<svg><use xlink:href="%%#part"/></svg>', 'E'],
  ['<svg><a xlink:href="%%">x</a></svg>', 'L'],
  [
    '<script type="application/ld+json">{"@context": "https://schema.org", "logo": "%%"}</script>'.replace(
      '%%context',
      '%context',
    ),
    'E',
  ],
  ['<script type="application/ld+json">{"sameAs": ["%%"]}</script>', 'L'],
  ['<script type="importmap">{"imports": {"a": "%%"}}</script>', 'E'],
  ['<script type="text/template"><img src="%%"></script>', 'E'],
  ['<noscript><img src="%%"></noscript>', 'E'],
  ['<!--[if lt IE 9]><script src="%%"></script><![endif]-->', 'E'],
];

t.test('CRAWL-11.2 a page with every kind of reference has all of them, each with its hop', async (t) => {
  for (const [index, [markup, hop]] of KINDS.entries()) {
    const url = `http://b.test/kind/${index}.x1`;
    t.ok(links(markup.replaceAll('%%', url)).includes(`${hop} ${url}`), `${hop} ${markup}`);
  }
  // All on one page, although many elements have no end tag.
  const whole = KINDS.map(([markup], index) => markup.replaceAll('%%', `http://b.test/all/${index}.x1`));
  const found = links(whole.join('\n'));
  t.same(
    whole.filter((_, index) => !found.some((link) => link.endsWith(`/all/${index}.x1`))),
    [],
  );
});

t.test('what is no document is left out', async (t) => {
  t.same(
    links(`<link rel="dns-prefetch" href="//cdn.test"><link rel=preconnect href="//cdn.test">
      <a href="#top">x</a><a href="mailto:a@b.test">x</a><img src="data:image/png;base64,AAAA"><a href="file:///etc/passwd">x</a>
      <form method=post action="/order"></form><meta name=viewport content="width=device-width, initial-scale=1.0">
      <script>x = 'text/javascript' + "1.5" + 'div.menu' + "a b/c" + "http://${'{'}host}/"</script><input value="1.25">`),
    [],
  );
  t.same(links('<a href="/a">x</a>', { contentType: 'image/png' }), [], 'an image has no extractor');
  t.same(links('a {}', { contentType: 'text/plain', url: 'http://a.test/notes.txt' }), []);
});

t.test('BASE, the embedding page of a script, and the rank of hops', async (t) => {
  t.same(links('<base href="/other/"><a href="p.html">x</a><img src="i.png">'), [
    'L http://a.test/other/p.html',
    'E http://a.test/other/i.png',
  ]);
  const script = { contentType: 'text/javascript', url: 'http://cdn.test/lib/a.js' };
  t.same(links('load("img/a.png")', { ...script, via: PAGE }), ['X http://a.test/dir/img/a.png']);
  t.same(links('load("img/a.png")', script), ['X http://cdn.test/lib/img/a.png']);
  t.same(links('<a href=i.png><img src=i.png></a>'), ['E http://a.test/dir/i.png']);
  t.equal(links('<a href=1><a href=2><a href=3>', { maxLinks: 2 }).length, 2, 'G-173');
});

t.test('style sheets: escapes, comments, strings that are no URLs', async (t) => {
  t.same(
    collected(
      scanStyle,
      `@charset "utf-8"; @namespace url(http://www.w3.org/1999/xhtml); @import url("a.css") screen; @import 'b.css';
       /* url(no.png) */ p { content: "no.png"; background: URL( c\\.png ) , url("d\\"e.png"), url('\\66.png') }
       @font-face { src: local("No Font"), url(f.woff2) format("woff2") } q { background: -webkit-image-set("g.png" 1x) }`,
    ),
    ['a.css', 'b.css', 'c.png', 'd"e.png', 'f.png', 'f.woff2', 'g.png'],
  );
  t.same(
    links('p { background: url(../i/a.png) }', { contentType: 'text/css', url: 'http://a.test/css/s.css' }),
    ['E http://a.test/i/a.png'],
  );
});

t.test('srcset: commas within and after URLs, descriptors', async (t) => {
  t.same(collected(scanSrcset, 'a.png 1x, b,c.png 2x,d.png,\n e.png 480w (max, min), f.png'), [
    'a.png',
    'b,c.png',
    'd.png',
    'e.png',
    'f.png',
  ]);
  t.same(collected(scanSrcset, ' , ,'), []);
});

t.test('CRAWL-2.2 X: strings that are probably URLs', async (t) => {
  const likely =
    'photo.jpg /photos /photos/ ./photos ../../photos photos/index.html list.php?id=1&b=2 http://a.test/x ' +
    '//cdn.test/x.js site.min.js a/b /a#part';
  for (const text of likely.split(' ')) t.ok(isLikelyUrl(text), text);
  for (const text of 'text/xml|image/png|11.2|1/2|div.menu|no|a b/c|<b>/|a.b.c|{x}/y|'.split('|'))
    t.notOk(isLikelyUrl(text), text);
  t.same(links('a = "\\/x\\/y.html"; b = "\\u002fz.html"', { contentType: 'application/javascript' }), [
    'X http://a.test/x/y.html',
    'X http://a.test/z.html',
  ]);
});

t.test('SVG, feeds, manifests', async (t) => {
  t.same(
    links(
      '<?xml version="1.0"?><?xml-stylesheet href="s.css"?><svg xmlns:xlink="x"><image xlink:href="i.png"/></svg>',
      { contentType: 'image/svg+xml' },
    ),
    ['E http://a.test/dir/s.css', 'E http://a.test/dir/i.png'],
  );
  t.same(
    links(
      '<rss><channel><link>http://a.test/1</link><item><guid>http://a.test/2</guid><description>http://no.test/</description></item></channel></rss>',
      { contentType: 'application/rss+xml' },
    ),
    ['L http://a.test/1', 'L http://a.test/2'],
  );
  t.same(
    links('{"start_url": "/app/", "icons": [{"src": "i.png", "type": "image/png"}], "name": "a/b"}', {
      contentType: 'application/manifest+json',
    }),
    ['L http://a.test/app/', 'E http://a.test/dir/i.png'],
  );
});

t.test('any text ends in linear time, with URLs that are absolute', async (t) => {
  const types = ['text/html', 'text/css', 'text/javascript', 'application/json', 'image/svg+xml'];
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom(
      ...'<a href=|"|\'|url(|/*|*/|\\|<style>|</script>|<script>|<!--[if|<![endif]-->'.split('|'),
    ),
    fc.constantFrom(
      ...'@import |srcset="|{|}|[|,|image-set(|)|//|javascript:|\\u0022|<base href=//x.test>'.split('|'),
    ),
  );
  assertProperty(
    fc.property(fc.array(piece, { maxLength: 60 }), fc.constantFrom(...types), (pieces, contentType) => {
      for (const link of links(pieces.join(''), { contentType }))
        if (!/^[LERX] \w+:/.test(link)) return false;
      return true;
    }),
    { numRuns: 500 },
  );
  for (const unit of '"|\\|url(|@import "|(|<a |\'/|a.png,|\\u0022|<!--[if |[|{"a":|s|@s'.split('|'))
    for (const contentType of types) t.ok(links(unit.repeat(20_000), { contentType }).length < 100_000, unit);
});

t.test('CRAWL-11.2 style sheets and scripts have the same references in pieces of any size', async (t) => {
  const style = `@import "a.css"; @import url( 'b.css' ) screen; @namespace url(no); .a-url(x) { background: url(c.png), url( "d\\".png" ) }
    /* url(no) */ .e { src: image-set('e.png' 1x, url(f.png) 2x); content: "no" } .g { background: URL(g\\).png) } /*** x ***/ @media x { h { i: url(h.png) } }`;
  const script = `load("a.js"); x = 'b/c.js' + "\\"d/e.js\\""; f(\u0060g/h.png\u0060); // don't 'i/j.js'`;
  const all = { style: [] as string[], script: [] as string[] };
  scanStyle(style, (reference) => all.style.push(reference));
  scanScript(script, (reference) => all.script.push(reference));
  t.same(all.style, ['a.css', 'b.css', 'c.png', 'd".png', 'e.png', 'f.png', 'g).png', 'h.png']);
  for (let size = 1; size <= 40; size++) {
    const found = { style: [] as string[], script: new Set<string>() };
    const styles = new StyleReader((reference) => found.style.push(reference));
    const scripts = new ScriptReader((reference) => found.script.add(reference));
    for (let at = 0; at < style.length; at += size) styles.write(style.slice(at, at + size));
    for (let at = 0; at < script.length; at += size) scripts.write(script.slice(at, at + size));
    styles.end();
    t.same(found.style, all.style, `pieces of ${size}`);
    t.same([...found.script].sort(), [...new Set(all.script)].sort(), `pieces of ${size}`);
  }
});
