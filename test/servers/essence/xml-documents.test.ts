// DocBook, JATS, FB2 and TEI: recognition, fields of their headers, headings, links, text, hostile documents.

import fc from 'fast-check';
import t from 'tap';
import { assertProperty } from '../../helpers/property.js';
import { summaryOf } from './fixtures/summary-of.js';
import { contentOf, summarize } from './helpers.js';

const DOCBOOK = `<?xml version="1.0"?>
<!DOCTYPE book PUBLIC "-//OASIS//DTD DocBook XML V4.5//EN" "docbookx.dtd" [<!ENTITY product "Kit">]>
<book>
  <bookinfo>
    <title>The &product; <emphasis>Guide</emphasis></title>
    <author><firstname>Ann</firstname><surname>Example</surname><affiliation>hidden</affiliation></author>
    <author><personname>Bob Brown</personname></author>
    <pubdate>2020-01-02</pubdate>
    <abstract><para>What it is.</para><para>And more.</para></abstract>
    <keywordset><keyword>one</keyword><keyword>two</keyword></keywordset>
    <legalnotice><para>hidden</para></legalnotice>
  </bookinfo>
  <chapter id="a"><title>First chapter</title>
    <para>See <ulink url="other.html">the other</ulink>,
    <filename>a</filename>.<indexterm><primary>hidden</primary></indexterm></para>
    <programlisting>line 1
  line 2</programlisting>
    <section><title>A section</title><para>Words.</para></section>
  </chapter>
</book>`;

t.test('DocBook: fields of the book, not of its parts', async (t) => {
  const output = await summarize('http://a.test/d/x.xml', DOCBOOK);
  t.equal(output.type, 'DocBook', 'by its document type instead of SGML');
  t.same(contentOf(output), {
    Abstract: 'What it is. And more.\n',
    Title: 'The Kit Guide\n',
    Author: 'Ann Example\nBob Brown\n',
    Date: '2020-01-02\n',
    Keywords: 'one\ntwo\n',
    Headings: 'The Kit Guide\nFirst chapter\nA section\n',
    'url-references': 'http://a.test/d/other.html\n',
    'Partial-Text':
      'The Kit Guide\n\nFirst chapter\n\nSee the other, a.\n\nline 1\n  line 2\n\nA section\n\nWords.\n',
  });
  t.same(output.links, [{ url: 'http://a.test/d/other.html', hop: 'L' }], 'the crawl follows its links');
});

t.test('DocBook as SGML with omitted end tags, and manual pages', async (t) => {
  const sgml = `<!DOCTYPE article PUBLIC "-//OASIS//DTD DocBook V4.1//EN">
<ARTICLE><TITLE>Old</TITLE><SECT1><TITLE>Part</TITLE><PARA>one<PARA>two</ARTICLE>`;
  const old = await summaryOf('DocBook', sgml);
  t.equal(old.all.Title, 'Old');
  t.equal(old.all.Headings, 'Old\nPart');
  t.match(old.all['Partial-Text'], /one\n\ntwo/);
  const page = await summaryOf(
    'DocBook',
    '<refentry xmlns="http://docbook.org/ns/docbook"><refmeta><refentrytitle>ls</refentrytitle></refmeta><refnamediv><refname>ls</refname><refpurpose>lists files</refpurpose></refnamediv></refentry>',
  );
  const names = await summaryOf('DocBook', '<article><title>The &app; Handbook</title></article>');
  t.equal(names.all.Title, 'The app Handbook', 'entities of an external file are words');
  t.equal(page.all.Title, 'ls');
  t.equal(page.all.Abstract, 'lists files');
});

t.test('JATS: authors in the order of their language, dates in parts, references', async (t) => {
  const source = `<?xml version="1.0"?>
<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) Journal Archiving DTD v1.2//EN" "a.dtd">
<article article-type="research-article" xmlns:xlink="http://www.w3.org/1999/xlink"><front>
<journal-meta><journal-id>hidden</journal-id><journal-title-group><journal-title>Journal of X</journal-title></journal-title-group></journal-meta>
<article-meta><article-id>hidden</article-id><title-group><article-title>On <italic>X</italic></article-title></title-group>
<contrib-group><contrib contrib-type="author"><name><surname>Example</surname><given-names>Ann B.</given-names></name><xref>1</xref></contrib>
<contrib contrib-type="editor"><name><surname>Hidden</surname></name></contrib></contrib-group>
<pub-date><day>3</day><month>2</month><year>2021</year></pub-date>
<abstract><title>Abstract</title><p>We show X.</p><p>It is so.</p></abstract>
<kwd-group><title>Keywords</title><kwd>x</kwd><kwd>y z</kwd></kwd-group></article-meta></front>
<body><sec><title>Introduction</title><p>Text<xref>1</xref> <ext-link xlink:href="https://a.example/">here</ext-link>.</p></sec></body>
<back><ref-list><title>References</title><ref><label>1</label><element-citation><name><surname>Smith</surname><given-names>J</given-names></name><year>2000</year></element-citation></ref></ref-list></back></article>`;
  const { all, summary } = await summaryOf('JATS', source);
  t.same(all, {
    Journal: 'Journal of X',
    Abstract: 'We show X. It is so.',
    References: 'Smith J 2000',
    Title: 'On X',
    Author: 'Ann B. Example',
    Date: '2021-02-03',
    Keywords: 'x\ny z',
    Headings: 'Introduction\nReferences',
    'url-references': 'https://a.example/',
    'Partial-Text': 'Introduction\n\nText1 here.\n\nReferences',
  });
  t.equal(summary.description, 'We show X. It is so.', 'E-141');
  t.equal((await summarize('http://a.test/x.xml', source)).type, 'JATS');
});

t.test('FB2 in windows-1251, without its pictures', async (t) => {
  const source = `<?xml version="1.0" encoding="windows-1251"?>
<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0" xmlns:l="http://www.w3.org/1999/xlink"><description><title-info>
<genre>prose</genre><author><first-name>\xcb\xe5\xe2</first-name><middle-name>\xcd.</middle-name><last-name>\xd2\xee\xeb\xf1\xf2\xee\xe9</last-name><email>hidden</email></author>
<book-title>\xc2\xee\xe9\xed\xe0</book-title><annotation><p>\xce \xe2\xee\xe9\xed\xe5.</p></annotation><date value="1869-01-01">1869</date><lang>ru</lang></title-info>
<document-info><author><nickname>hidden</nickname></author></document-info></description>
<body><title><p>\xd2\xee\xec</p><p>1</p></title><section><title><p>\xc3\xeb\xe0\xe2\xe0</p></title><p>\xc0\xe1\xe7\xe0\xf6.</p></section></body>
<binary id="a">aGlkZGVu</binary></FictionBook>`.replace(/\\x([0-9a-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  const output = await summarize('http://a.test/x.fb2', Buffer.from(source, 'latin1'));
  t.equal(output.type, 'FB2');
  t.same(contentOf(output), {
    Abstract: 'О войне.\n',
    Language: 'ru\n',
    Title: 'Война\n',
    Author: 'Лев Н. Толстой\n',
    Date: '1869-01-01\n',
    Keywords: 'prose\n',
    Headings: 'Том 1\nГлава\n',
    'Partial-Text': 'Том 1\n\nГлава\n\nАбзац.\n',
  });
  t.equal(
    (await summarize('http://a.test/x', Buffer.from(source, 'latin1'))).type,
    'FB2',
    'by its document element',
  );
});

t.test('TEI: header and text', async (t) => {
  const source = `<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title>A Play</title>
<author><persName><forename>Ann</forename> <surname>Example</surname></persName></author><respStmt><resp>hidden</resp></respStmt></titleStmt>
<publicationStmt><publisher>hidden</publisher><date when="1899">year</date></publicationStmt><sourceDesc><p>hidden</p></sourceDesc></fileDesc>
<profileDesc><textClass><keywords><term>one</term><term>two</term></keywords></textClass></profileDesc></teiHeader>
<text><body><div><head>Act 1</head><sp><speaker>X</speaker><l>A line,</l><l>another</l></sp><p><ref target="b.xml">b</ref></p></div></body></text></TEI>`;
  const { all } = await summaryOf('TEI', source);
  t.same(all, {
    Title: 'A Play',
    Author: 'Ann Example',
    Date: '1899',
    Keywords: 'one\ntwo',
    Headings: 'Act 1',
    'url-references': 'ftp://a.test/b.xml',
    'Partial-Text': 'Act 1\n\nX\n\nA line,\n\nanother\n\nb',
  });
  t.equal((await summarize('http://a.test/x.xml', source)).type, 'TEI');
});

t.test('E-16: names and contents that are no such document', async (t) => {
  const typeOf = async (name: string, body: string) => (await summarize(`http://a.test/${name}`, body)).type;
  t.equal(await typeOf('x.xml', '<?xml version="1.0"?><book><title>x</title></book>'), 'SGML');
  t.equal(
    await typeOf('x.xml', '<xsl:stylesheet xmlns:d="http://docbook.org/ns/docbook" version="1.0"/>'),
    'SGML',
    'a style sheet for DocBook',
  );
  t.equal(await typeOf('x.dbk', '<article/>'), 'DocBook');
  t.equal(await typeOf('x.nxml', '<article/>'), 'JATS');
});

t.test('E-45: nested, unclosed and expanding documents', async (t) => {
  const deep = await summaryOf('DocBook', `<?xml version="1.0"?>${'<section><title>'.repeat(30_000)}`);
  t.match(deep.warnings, [/nested deeper than 10000 elements/]);
  const expanding = `<?xml version="1.0"?><!DOCTYPE book [<!ENTITY a "${'x'.repeat(4000)}">]><book><para>${'&a;'.repeat(200_000)}</para></book>`;
  const { all, warnings } = await summaryOf('DocBook', expanding);
  t.same(warnings, []);
  t.ok((all['Partial-Text']?.length ?? 0) < 700_000, 'long entities are not replaced');
  for (const type of ['DocBook', 'JATS', 'FB2', 'TEI']) {
    for (const opener of [
      '<title>',
      '<author><name>',
      '<a b="',
      '<!--',
      '<![CDATA[',
      '&',
      '<',
      '</a>',
      '<p>',
      '<binary>',
    ]) {
      const damaged = await summaryOf(type, `<x>${opener.repeat(2000)}`);
      t.same(damaged.warnings, [], `${type} ${opener}`);
    }
  }
});

t.test('property: no document makes the reader throw', async () => {
  const names =
    'title author name surname given-names abstract p para sec section date year keyword kwd contrib-group contrib book-title title-info ref ref-list article-meta binary programlisting info'.split(
      ' ',
    );
  const piece = fc.oneof(
    fc.constantFrom(...names).map((name) => `<${name}>`),
    fc.constantFrom(...names).map((name) => `</${name}>`),
    fc.constantFrom(
      '<ulink url="a">',
      '<date when="1">',
      '&amp;',
      '<!--',
      ']]>',
      '<?a',
      'words ',
      '</>',
      '<!DOCTYPE a [',
    ),
    fc.string({ maxLength: 8 }),
  );
  await assertProperty(
    fc.asyncProperty(
      fc.constantFrom('DocBook', 'JATS', 'FB2', 'TEI'),
      fc.array(piece, { maxLength: 60 }),
      async (type, pieces) => {
        const { summary } = await summaryOf(type, pieces.join(''));
        return summary.attributes.every(([name]) => /^[A-Za-z-]+$/.test(name));
      },
    ),
    { numRuns: 800 },
  );
});
