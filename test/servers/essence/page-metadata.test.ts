// Metadata of pages in other vocabularies: hostile JSON-LD, and lines of the extraction table.
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

t.test('E-88, E-145 ?NAME and $NAME are for values of attributes only', async (t) => {
  t.throws(() => parseExtractionTable('<A:HREF> x\n<B>\t?y', 'X.sum.tbl'), ConfigError);
  t.throws(() => parseExtractionTable('<B>\t?y', 'X.sum.tbl'), {
    message: /X\.sum\.tbl:1: \?y: \?NAME is for the value/,
  });
  t.throws(() => parseExtractionTable('<B>\t$y', 'X.sum.tbl'), {
    message: /X\.sum\.tbl:1: \$y: \$NAME is for the value/,
  });
});
