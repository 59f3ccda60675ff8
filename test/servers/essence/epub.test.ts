// EPUB: books as one document.

import t from 'tap';
import { zip } from '../../helpers/archives.js';
import { summaryOf } from './fixtures/summary-of.js';
import { contentOf, summarize } from './helpers.js';

const CONTAINER =
  '<container><rootfiles><rootfile full-path="OPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>';
const page = (body: string) =>
  `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>not text</title><style>p {}</style><script src="x.js"/></head><body>${body}</body></html>`;
const item = (id: string, href: string, more = '') =>
  `<item id="${id}" href="${href}" media-type="application/xhtml+xml"${more}/>`;

/** A book of two chapters, whose names sort in the other order, with cover, navigation and a picture. */
const BOOK: Readonly<Record<string, string>> = {
  mimetype: 'application/epub+zip',
  'META-INF/container.xml': CONTAINER,
  'OPS/book.opf':
    '<package><metadata><dc:title>The book</dc:title><dc:title>A subtitle</dc:title><dc:creator>A. Author</dc:creator><dc:creator>B. Author</dc:creator>' +
    '<dc:description>&lt;p&gt;About &lt;b&gt;it&lt;/b&gt;&lt;/p&gt;</dc:description><dc:subject>farming</dc:subject><dc:subject>wheat</dc:subject>' +
    '<dc:language>de</dc:language><dc:date>2001-02-03T00:00:00Z</dc:date><dc:date>2010-01-01</dc:date><dc:publisher>House</dc:publisher></metadata>' +
    `<manifest>${item('front', 'front.xhtml')}${item('toc', 'nav.xhtml', ' properties="nav"')}${item('one', 'text/z%20one.xhtml#start')}` +
    `${item('two', 'text/a.xhtml')}<item id="cover" href="c.png" media-type="image/png"/></manifest>` +
    '<spine><itemref idref="cover"/><itemref idref="front"/><itemref idref="toc"/><itemref idref="one"/><itemref idref="two"/><itemref idref="one"/>' +
    '<itemref idref="missing"/></spine><guide><reference type="cover" href="front.xhtml"/></guide></package>',
  'OPS/front.xhtml': page('<p>words of the cover</p>'),
  'OPS/nav.xhtml': page('<nav><ol><li><a href="text/a.xhtml">an entry</a></li></ol></nav>'),
  'OPS/text/z one.xhtml': page(
    '<h1>First <br/>chapter</h1><p>Gr&uuml;n&nbsp;and <a href="http://web.test/">web</a> <a href="a.xhtml">next</a></p><table><tr><td>a</td><td>b</td></tr></table>',
  ),
  'OPS/text/a.xhtml': page('<h2>Second</h2><pre>one\n  two</pre>'),
  'OPS/c.png': 'no picture',
};

function bookOf(changes: Readonly<Record<string, string>> = {}): Uint8Array {
  return zip(Object.entries({ ...BOOK, ...changes }).map(([name, text]) => [name, Buffer.from(text)]));
}

t.test('EPUB: properties, chapters in the order of the spine, headings, links to the web', async (t) => {
  const { all, summary, warnings } = await summaryOf('EPUB', bookOf());
  t.same(warnings, []);
  t.same(all, {
    Title: 'The book',
    Author: 'A. Author\nB. Author',
    Abstract: 'About it',
    Keywords: 'farming\nwheat',
    Language: 'de',
    Date: '2001-02-03',
    Publisher: 'House',
    Headings: 'First chapter\nSecond',
    References: 'http://web.test/',
    'Partial-Text': all['Partial-Text'],
  });
  t.equal(
    summary.text,
    'First chapter\n\nGrün and web next\n\na b\n\nSecond\n\none\n  two\n\n',
    'neither cover nor navigation, each chapter once',
  );
});

t.test('EPUB: a book is one object without components', async (t) => {
  const content = contentOf(await summarize('http://a.test/x.epub', bookOf()));
  t.equal(content.Title?.trim(), 'The book');
  t.same(
    Object.keys(content).filter((name) => name.startsWith('Embed<')),
    [],
  );
});

t.test('EPUB: encrypted chapters, damage and hostile books give warnings', async (t) => {
  const encryption =
    '<encryption><enc:CipherReference URI="OPS/text/a.xhtml"/><enc:CipherReference URI="OPS/font.otf"/></encryption>';
  const locked = await summaryOf('EPUB', bookOf({ 'META-INF/encryption.xml': encryption }));
  t.same(locked.warnings, ['1 of 2 chapters are encrypted: they are not read']);
  t.equal(locked.all.Headings, 'First chapter');
  const unnamed = await summaryOf('EPUB', bookOf({ 'META-INF/container.xml': '<c/>' }));
  t.equal(unnamed.all.Title, 'The book', 'the package document is found by its name');
  t.match((await summaryOf('EPUB', zip([['a', Buffer.from('b')]]))).warnings[0], /no package document/);
  t.match((await summaryOf('EPUB', 'no zip')).warnings[0], /EPUB document could not be read/);
  const deep = await summaryOf('EPUB', bookOf({ 'OPS/text/a.xhtml': '<div>'.repeat(2000) }));
  t.match(deep.warnings[0], /nested deeper than 400 \(E-45\)/);
  t.equal(deep.all.Headings, 'First chapter');
  const whole = bookOf();
  for (let size = 0; size < whole.length; size += 97) {
    const { warnings } = await summaryOf('EPUB', whole.subarray(0, size));
    t.equal(warnings.length, 1, `${size} bytes`);
  }
});
