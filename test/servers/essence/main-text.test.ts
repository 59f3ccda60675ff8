// The main text of pages without navigation and the like.

import fc from 'fast-check';
import t from 'tap';
import { mainText } from '../../../servers/essence/html/main-text.js';
import { assertProperty } from '../../helpers/property.js';
import { contentOf, summarize } from './helpers.js';

const paragraph = (subject: string) =>
  `${subject} was opened in the presence of many guests, who had come from all parts of the country to see how it works and to ` +
  'hear what its builders have to say about the years of its construction.';
const links = (names: string) =>
  `<ul>${names
    .split(' ')
    .map((name) => `<li><a href="/${name}">${name} of the day</a></li>`)
    .join('')}</ul>`;

t.test('a news page of semantic elements: only the article is left, with its headings', (t) => {
  const text =
    mainText(`<!DOCTYPE html><html><head><title>The bridge - Daily</title><script>var a = "${paragraph('A script')}"</script></head>
    <body class="home has-sidebar"><header><a href="/">Daily</a><nav>${links('News Sport Culture')}</nav></header>
    <div id="cookie-banner"><p>${paragraph('We use cookies. Our site')}</p></div>
    <main><article><h1>The bridge is open</h1><p class=byline>By Ada Bee</p>
    <p>${paragraph('The bridge')}</p><p>Nobody was hurt.</p><h2>The builders</h2><p>${paragraph('The <em>second</em> bridge')}</p>
    <aside><p>${paragraph('An advertisement')}</p></aside><div class="social-share">Share this with all of your friends today</div></article></main>
    <div role=complementary><h2>More</h2>${links('One Two')}</div>
    <footer><p>${paragraph('The copyright')}</p></footer></body></html>`);
  t.equal(
    text,
    [
      'The bridge is open',
      'By Ada Bee',
      paragraph('The bridge'),
      'Nobody was hurt.',
      'The builders',
      paragraph('The second bridge'),
    ].join('\n'),
  );
  t.end();
});

t.test('a page of tables and DIVs without names: link lists and short lines are left out', (t) => {
  const text = mainText(`<body><table><tr><td>${links('Home Products Support Contact')}</td></tr></table>
    <div>Login</div><div>Cart</div>
    <div>${paragraph('The pump')}</div><div>${paragraph('The valve')}</div><div>${paragraph('The engine')}</div>
    <div><a href=/a>Terms of use</a> | <a href=/b>Privacy statement</a> | <a href=/c>Imprint and contact</a></div>`);
  t.equal(text, ['pump', 'valve', 'engine'].map((name) => paragraph(`The ${name}`)).join('\n'));
  t.end();
});

t.test('documentation made by Sphinx: side bar and navigation are left out, definitions are kept', (t) => {
  const text =
    mainText(`<body><div class="related" role="navigation"><h3>Navigation</h3>${links('index modules')}</div>
    <div class="document"><div class="documentwrapper"><div class="bodywrapper"><div class="body" role="main">
    <h1>Options</h1><p>${paragraph('The option')}</p><dl><dt>--main</dt><dd>${paragraph('The main option')}</dd></dl></div></div></div>
    <div class="sphinxsidebar"><p>${paragraph('The previous topic')}</p></div></div>`);
  t.equal(text, ['Options', paragraph('The option'), '--main', paragraph('The main option')].join('\n'));
  t.end();
});

t.test('languages without blanks, pages without text, a limit', (t) => {
  const chinese =
    '这座大桥在许多来自全国各地的客人面前正式开通，他们想看看它是如何运作的，并听听建设者们的讲述。'.repeat(
      2,
    );
  t.equal(mainText(`<nav>首页</nav><p>${chinese}</p>`), chinese);
  t.equal(mainText(`<body>${links('a b c')}`), '');
  t.equal(mainText(''), '');
  const two = `<p>${paragraph('One')}</p><p>${paragraph('Two')}</p>`;
  t.equal(mainText(two, paragraph('One').length + 10), paragraph('One'));
  t.end();
});

t.test('Main-Text is written on request only, next to the body', async (t) => {
  const page = `<title>T</title><nav>menu</nav><p>${paragraph('The bridge')}</p>`;
  const without = contentOf(await summarize('http://a.test/x.html', page, { trailingNewline: false }));
  t.notOk('Main-Text' in without);
  const content = contentOf(
    await summarize('http://a.test/x.html', page, { trailingNewline: false, mainText: true }),
  );
  t.equal(content['Main-Text'], paragraph('The bridge'));
  t.equal(content.body, `menu\n${paragraph('The bridge')}`);
});

t.test('any markup gives text without tags, and no exception', async (t) => {
  const piece = fc.constantFrom(
    '<p>',
    '</p>',
    '<nav>',
    '</nav>',
    '<a>',
    '</a>',
    '<br>',
    '<h1>',
    '</h1>',
    '<main>',
    '</main>',
    'word ',
    '<div class="nav">',
    '</div>',
    '<hr hidden>',
    '<svg>',
  );
  assertProperty(
    fc.property(fc.array(piece), (pieces) => {
      t.notMatch(mainText(pieces.join('')), /[<>]/);
    }),
    { numRuns: 200 },
  );
});
