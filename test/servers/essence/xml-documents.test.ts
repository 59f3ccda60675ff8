// DocBook, JATS, FB2 and TEI: recognition, and hostile documents.
import fc from 'fast-check';
import t from 'tap';
import { assertProperty } from '../../helpers/property.js';
import { summaryOf } from './fixtures/summary-of.js';
import { summarize } from './helpers.js';

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
    for (const opener of '<title>|<author><name>|<a b="|<!--|<![CDATA[|&|<|</a>|<p>|<binary>'.split('|')) {
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
      ...'<ulink url="a">|<date when="1">|&amp;|<!--|]]>|<?a|words |</>|<!DOCTYPE a ['.split('|'),
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
