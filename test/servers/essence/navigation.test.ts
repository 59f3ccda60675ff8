// --navigation: menus, links to other pages and footers are an attribute of their own; --code: nothing that a page
// shows is left out.
import t from 'tap';
import type { EssenceOptions } from '../../../servers/essence/index.js';
import { contentOf, summarize } from './helpers.js';

const PAGE = 'http://a.test/manual/page.html';
const TEXT = 'The vacuum command reclaims the storage of rows that are dead.';

async function contentOfPage(html: string, options: Partial<EssenceOptions> = {}) {
  return contentOf(
    await summarize(PAGE, html, { navigation: true, keywords: true, description: true, ...options }),
  );
}

/** The lines of a value. */
const lines = (value: string | undefined): string[] =>
  (value ?? '').split('\n').filter((line) => line !== '');

t.test('E-148 navigation is no text, no keyword, no heading and no description', async (t) => {
  const menu = '<ul><li><a href="a.html">Downloads</a><li><a href="b.html">Mailing lists</a></ul>';
  for (const navigation of [
    `<nav>${menu}</nav>`,
    `<nav><h2>Places</h2>${menu}<p>A paragraph of navigation that is long enough for a description.</p></nav>`,
    `<div role="navigation">${menu}</div>`,
    `<div class="navheader"><table><tr><th>Title of the page<tr><td><a href="p.html">Prev</a><td>Chapter 9</table></div>`,
    `<div class="sphinxsidebar">${menu}</div>`,
    `<div id="topNav">${menu}</div>`,
    `<div class="menu mainmenu">${menu}</div>`,
    `<td class="left-sidebar">${menu}</td>`,
    `<header>${menu}</header>`,
    `<ol class="breadcrumb"><li><a href="/">Start</a></ol>`,
    `<footer>Copyright 2026 <b>Example</b></footer>`,
    `<div id="footer">Last updated 2026-11-29</div>`,
    `<div id="searchmenu"><select><option>Everything<option>Titles</select><button>Go</button></div>`,
  ]) {
    for (const html of [
      `${navigation}<h1>Vacuum</h1><p>${TEXT}`,
      `<h1>Vacuum</h1><p>${TEXT}</p>${navigation}`,
    ]) {
      const {
        body,
        keywords,
        Keywords,
        headings,
        Description,
        navigation: apart,
      } = await contentOfPage(html);
      t.equal(body, `${TEXT}\n`, html);
      t.equal(headings, 'Vacuum\n', html);
      t.same(lines(Keywords), ['vacuum'], html);
      t.equal(keywords, undefined, html);
      t.equal(Description, `${TEXT}\n`, html);
      t.not(apart, undefined, html);
    }
  }
});

t.test('what looks like navigation by its name alone is text', async (t) => {
  for (const html of [
    `<div id="menu"><p>${TEXT}</p><a href="a.html">Downloads</a></div>`,
    `<div class="sidebar"><p>${TEXT}</p><a href="a.html">Downloads</a></div>`,
    `<div class="content-with-nav"><p>${TEXT}</p><a href="a.html">Downloads</a></div>`,
    `<div class="has-sidebar no-nav"><p>${TEXT}</p><a href="a.html">Downloads</a></div>`,
    `<article><p>${TEXT}</p><footer><a href="a.html">Downloads</a></footer></article>`,
    `<aside><p>${TEXT}</p><a href="a.html">Downloads</a></aside>`,
  ]) {
    const { body, keywords, Description, navigation } = await contentOfPage(html);
    t.equal(body, `${TEXT}\nDownloads\n`, html);
    t.same(lines(keywords), ['Downloads'], html);
    t.equal(Description, `${TEXT}\n`, html);
    t.equal(navigation, undefined, html);
  }
});

t.test('a page of navigation alone keeps it as its text', async (t) => {
  const { body, navigation } = await contentOfPage(
    '<title>All pages</title><nav><a href="a.html">Downloads</a></nav>',
  );
  t.equal(body, 'Downloads\n');
  t.equal(navigation, undefined);
});

t.test(
  'links of navigation are followed, and its references and addresses stay where they were',
  async (t) => {
    const output = await summarize(
      PAGE,
      `<nav><a href="a.html">Downloads</a></nav><p>${TEXT}</p><footer><address>webmaster@a.test</address></footer>`,
      { navigation: true },
    );
    t.match(output.links, [{ url: 'http://a.test/manual/a.html' }]);
    const content = contentOf(output);
    t.equal(content['url-references'], 'http://a.test/manual/a.html\n');
    t.equal(content.address, 'webmaster@a.test\n');
  },
);

t.test('E-148 links of navigation have no Link-Text, unless the text links there as well', async (t) => {
  const menu = '<a href="a.html">Downloads</a> <a href="b.html">Mailing lists</a>';
  for (const navigation of [`<nav>${menu}</nav>`, `<div class="mainmenu">${menu}</div>`])
    for (const html of [
      `<p>See <a href="c.html">pg_hba.conf</a> and <a href="a.html">Downloads</a>.</p>${navigation}`,
      `${navigation}<p>See <a href="c.html">pg_hba.conf</a> and <a href="a.html">Downloads</a>.</p>`,
    ])
      t.same(lines((await contentOfPage(html, { linkText: true }))['Link-Text']), [
        'http://a.test/manual/c.html pg_hba.conf',
        'http://a.test/manual/a.html Downloads',
      ]);
  const beside = await contentOfPage(`<div id="menu"><p>${TEXT}</p>${menu}</div>`, { linkText: true });
  t.equal(lines(beside['Link-Text']).length, 2);
});

t.test('navigation that is not closed, or in other navigation, ends with the page', async (t) => {
  for (const html of [
    `<h1>Vacuum</h1><p>${TEXT}</p><nav><ul><li><b>Downloads`,
    `<h1>Vacuum</h1><p>${TEXT}</p><nav><div class="menu"><nav>Downloads</nav></div></nav>`,
  ]) {
    const { body, navigation } = await contentOfPage(html);
    t.equal(body, `${TEXT}\n`);
    t.equal(navigation, 'Downloads\n');
  }
});

t.test('without --navigation, the table of 1996 counts its links as text and keywords (E-97)', async (t) => {
  const html = `<div class="navheader"><a href="a.html">Prev</a></div><p>${TEXT}</p>`;
  const { body, keywords, navigation } = await contentOfPage(html, { navigation: false });
  t.equal(body, `Prev\n${TEXT}\n`);
  t.same(lines(keywords), ['Prev']);
  t.equal(navigation, undefined);
});

t.test('all navigation is kept, whatever its length', async (t) => {
  const words = Array.from({ length: 20_000 }, (_, i) => `word${i}`);
  const { navigation } = await contentOfPage(`<nav>${words.join(' ')}</nav><p>${TEXT}`);
  t.equal(navigation, `${words.join(' ')}\n`);
});

/** Where manuals have names and examples. */
const PLACES = [
  '<p>Use % now.',
  '<p>Use<%, now.',
  '<pre>$ %\n</pre>',
  '<table><tr><th>%<td>text</table>',
  '<table><tr><td>text<td>%</table>',
  '<h2>The % command</h2>',
  '<dl><dt>%<dd>text</dl>',
  '<ul><li><a href="a.html">%</a></ul>',
  '<p><b><i>%</i></b>',
  '<p><samp><kbd>%</kbd></samp>',
  '<p><a href="a.html"><span class="pre">%</span></a>',
  '<blockquote>%</blockquote>',
];

t.test(
  'E-98 with --code the text of every element for names and examples is kept, wherever it is',
  async (t) => {
    for (const name of ['code', 'kbd', 'samp', 'tt', 'var']) {
      for (const place of PLACES) {
        const html = `<title>Manual</title><body><p>Before.</p>${place.replace('%', `<${name}>pg_hba.conf</${name}>`)}`;
        for (const navigation of [false, true]) {
          const { body, headings } = await contentOfPage(html, { code: true, navigation, keywords: false });
          t.match(`${headings} ${body}`, /\bpg_hba\.conf\b/, `${name}: ${place}`);
        }
        const { headings, body } = await contentOfPage(html, { keywords: false, navigation: false });
        t.equal(
          /pg_hba/.test(`${headings} ${body}`),
          name !== 'code',
          `the table of 1996, ${name}: ${place}`,
        );
      }
    }
  },
);
