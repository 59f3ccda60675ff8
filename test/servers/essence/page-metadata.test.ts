// Metadata of pages in other vocabularies: Open Graph, Dublin Core, citation_*, JSON-LD, and `lang`, `alt`, canonical.

import fc from 'fast-check';
import t from 'tap';
import { ConfigError } from '../../../protocols/errors.js';
import { parseExtractionTable } from '../../../servers/essence/sgml/table.js';
import { assertProperty } from '../../helpers/property.js';
import { contentOf, summarize } from './helpers.js';

const PAGE = 'http://a.test/dir/page.html';

/** Returns the content attributes of a page, by lower-case name. */
async function contentOfPage(html: string): Promise<Record<string, string>> {
  const content = contentOf(await summarize(PAGE, html, { trailingNewline: false }));
  return Object.fromEntries(Object.entries(content).map(([name, value]) => [name.toLowerCase(), value]));
}

const jsonLd = (value: unknown) => `<script type="application/ld+json">${JSON.stringify(value)}</script>`;

t.test('E-104 Open Graph fills what the page does not say itself', async (t) => {
  const openGraph =
    '<meta property="og:title" content="The  graph"><meta property="og:description" content="About it">' +
    '<meta property="article:author" content="Ada"><meta property="article:author" content="Bob">' +
    '<meta property="article:author" content="Ada"><meta property="og:site_name" content="Example Daily">' +
    '<meta property="article:published_time" content="2024-05-06T07:08:09Z">' +
    '<meta property="article:tag" content="one"><meta property="article:tag" content="two">';
  t.match(await contentOfPage(openGraph), {
    title: 'The graph',
    description: 'About it',
    author: 'Ada\nBob',
    publisher: 'Example Daily',
    date: '2024-05-06T07:08:09Z',
    keywords: 'one\ntwo',
  });
  const own = '<title>Own</title><meta name=author content=Own><meta name=description content=Own>';
  t.match(await contentOfPage(`${openGraph}${own}`), { title: 'Own', author: 'Own', description: 'Own' });
});

t.test('E-104 an address of a profile is not a name', async (t) => {
  const found = await contentOfPage(
    '<meta property="article:author" content="https://social.test/ada">' +
      '<meta property="article:publisher" content="//social.test/daily">' +
      '<meta property="og:site_name" content="Daily">',
  );
  t.equal(found.author, undefined);
  // The line of article:publisher comes first, but gave no value.
  t.equal(found.publisher, 'Daily');
});

t.test(
  'E-104 the first line of the table with a value counts, in whatever order the page has them',
  async (t) => {
    const dublinCore =
      '<meta name="DC.title" content="Core"><meta name="DC.creator" content="C1"><meta name="dcterms.issued" content="2001">' +
      '<meta name="DCTERMS.Publisher" content="Press"><meta name="DC.language" content="de">';
    const highwire =
      '<meta name="citation_title" content="High"><meta name="citation_author" content="H1">' +
      '<meta name="citation_author" content="H2"><meta name="citation_publication_date" content="2002/03/04">' +
      '<meta name="citation_journal_title" content="Journal of X"><meta name="citation_doi" content="10.1/2">';
    const expected = {
      title: 'High',
      author: 'H1\nH2',
      date: '2002/03/04',
      journal: 'Journal of X',
      identifier: '10.1/2',
      publisher: 'Press',
      language: 'de',
      'dc.title': 'Core',
      citation_title: 'High',
    };
    t.match(await contentOfPage(dublinCore + highwire), expected);
    t.match(await contentOfPage(highwire + dublinCore), expected);
  },
);

t.test('E-104 JSON-LD: the item that the page is about, by the lines of the table', async (t) => {
  t.match(
    await contentOfPage(
      jsonLd({
        '@context': 'https://schema.org',
        '@graph': [
          { '@type': 'WebSite', '@id': '#site', name: 'The site' },
          { '@type': 'BreadcrumbList', itemListElement: [{ '@type': 'ListItem', name: 'Home' }] },
          { '@type': ['WebPage', 'ItemPage'], name: 'The page', inLanguage: 'en-GB' },
          { '@type': 'Person', '@id': '#ada', name: 'Ada Lovelace' },
          {
            '@type': 'NewsArticle',
            headline: 'News &amp; more',
            author: [
              { '@id': '#ada' },
              { '@type': 'Person', givenName: 'Bob', familyName: 'Bee' },
              'Ada Lovelace',
            ],
            publisher: { '@type': 'Organization', name: 'Example Daily' },
            datePublished: '2024-01-02',
            keywords: ['k1', 'k2', 'k1'],
            articleSection: 'Science',
          },
        ],
      }),
    ),
    {
      title: 'News & more',
      author: 'Ada Lovelace\nBob Bee',
      publisher: 'Example Daily',
      date: '2024-01-02',
      keywords: 'k1\nk2',
      subject: 'Science',
      language: 'en-GB',
    },
  );
  const product = { '@type': 'https://schema.org/Product', name: 'A pump', brand: { name: 'Acme' }, sku: 12 };
  t.match(await contentOfPage(jsonLd([product])), { title: 'A pump', brand: 'Acme', identifier: '12' });
  const article = await contentOfPage(jsonLd({ '@type': 'Article', name: 'A', brand: 'not of an article' }));
  t.equal(article.brand, undefined, 'a line with TYPE= applies to this type only');
  t.match(await contentOfPage(jsonLd({ '@type': 'Person', name: 'Ada' })), { title: 'Ada' });
  t.match(
    await contentOfPage(jsonLd({ '@type': 'ProfilePage', mainEntity: { '@type': 'Person', name: 'Eve' } })),
    { title: 'Eve' },
  );
});

t.test('E-45 JSON-LD without end: cycles, depth, size and other languages cost little', async (t) => {
  const cycle = {
    '@graph': [
      { '@type': 'Article', '@id': 'a', name: { '@id': 'b' } },
      { '@id': 'b', name: { '@id': 'a' } },
    ],
  };
  t.equal((await contentOfPage(jsonLd(cycle))).title, undefined);
  const wide = Array.from({ length: 200 }, (_, i) => ({
    '@id': String(i),
    name: Array.from({ length: 200 }, () => ({ '@id': String(i + 1) })),
  }));
  t.equal(
    (await contentOfPage(jsonLd({ '@graph': [{ '@type': 'Article', author: { '@id': '0' } }, ...wide] })))
      .author,
    undefined,
  );
  const deep = `<script type="application/ld+json">${'['.repeat(100_000)}</script><title>T</title>`;
  t.equal((await contentOfPage(deep)).title, 'T');
  const large = await summarize(
    PAGE,
    `${jsonLd({ '@type': 'Article', name: 'x'.repeat(300_000) })}<title>T</title>`,
  );
  t.match(large.warnings, ['1 JSON-LD scripts beyond 262144 characters or the first 32 are not read']);
  const other = await contentOfPage(`<script>${JSON.stringify({ '@type': 'Article', name: 'A' })}</script>`);
  t.equal(other.title, undefined, 'a script of another type');
  await assertProperty(
    fc.asyncProperty(fc.json(), async (text) => {
      const { title } = await contentOfPage(
        `<script type=application/ld+json>${text}</script><title>T</title>`,
      );
      t.equal(title, 'T');
    }),
    { numRuns: 50 },
  );
});

t.test('E-104 lang, canonical and alt', async (t) => {
  const found = await contentOfPage(
    '<html lang="pt-BR"><link rel="Canonical" href="../x?y=1"><body>See <a href="/p">the <img src=i alt="old  pump"></a>here<img alt="">.',
  );
  t.match(found, { language: 'pt-BR', 'canonical-url': 'http://a.test/x?y=1' });
  t.equal(found.body, 'See the old pump here .');
  t.equal(found.keywords, 'the old pump');
  const named = await contentOfPage('<html lang=en><meta name=language content=fr>');
  t.equal(named.language, 'fr', 'the META element of the page precedes');
});

t.test('E-88 ?NAME is for values of attributes only', async (t) => {
  t.throws(() => parseExtractionTable('<A:HREF> x\n<B>\t?y', 'X.sum.tbl'), ConfigError);
  t.throws(() => parseExtractionTable('<B>\t?y', 'X.sum.tbl'), {
    message: /X\.sum\.tbl:1: \?y: \?NAME is for the value/,
  });
});
