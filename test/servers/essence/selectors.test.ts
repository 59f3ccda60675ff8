// Extraction rules by CSS selectors for the pages of a site: selectors.cf.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { ConfigError } from '../../../protocols/errors.js';
import { compileEssence, EssencePool, readEssenceSources } from '../../../servers/essence/index.js';
import { mayReadInThread } from '../../../servers/essence/recognition/trust.js';
import { parseSelectorRules } from '../../../servers/essence/selectors/rules.js';
import { summarizeDocument } from '../../../servers/essence/summarize.js';
import { assertProperty } from '../../helpers/property.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { contentOf, IDENTITY, inputOf } from './helpers.js';

const options = { ...IDENTITY, keywords: false, description: false, trailingNewline: false };
const sources = await readEssenceSources({});
const contextWith = (text: string) =>
  compileEssence(options, { ...sources, 'selectors.cf': { file: 'lib/selectors.cf', text } });

/** Summarizes a page with rules; returns its attributes and warnings. */
async function summarizeWith(rules: string, html: string, url = 'http://shop.test/item/1.html') {
  const output = await summarizeDocument(inputOf(url, html), contextWith(rules));
  return { content: contentOf(output), warnings: output.warnings };
}

const PAGE =
  '<title>Shop - Pump</title><h1 itemprop="name">The  pump</h1><span class="price">EUR 12.50 (new)</span>' +
  '<span class="price">EUR 12.50</span><ul><li>a<li>b</ul><a class=manual href="../m.pdf">Manual</a>';

const RULES = [
  '# comment',
  '^http://shop\\.test/item/\tPrice\tspan.price\t([0-9]+[.][0-9][0-9])',
  '^http://shop\\.test/  !TITLE  h1[itemprop="name"]',
  '^http://shop\\.test/  Part  ul > li',
  '^http://shop\\.test/  Manual  a.manual@href',
  '^http://shop\\.test/  !body  p.absent',
].join('\n');

t.test('E-146 pages of other URLs are summarized as without rules', async (t) => {
  const other = 'http://other.test/item/1.html';
  t.same((await summarizeWith(RULES, PAGE, other)).content, (await summarizeWith('', PAGE, other)).content);
  const html = { type: 'HTML', isHtml: true };
  t.ok(mayReadInThread(html, 1000, contextWith(RULES), other));
  t.notOk(mayReadInThread(html, 1000, contextWith(RULES), 'http://shop.test/item/1.html'), 'E-45: memory');
});

t.test('E-10 rules for pages see unreserved characters without escapes', async (t) => {
  for (const written of ['~ann', '%7eann', '%7Eann']) {
    const rules = parseSelectorRules(`^http://shop\\.test/${written}/ Price span.price`, 'lib/selectors.cf');
    t.ok(rules.has('http://shop.test/%7eann/1.html'), written);
  }
});

t.test('G-21 errors of the file name its line and the rule', async (t) => {
  for (const [text, message] of [
    ['^a Price', /lib\/selectors\.cf:1: \^a Price: an expression for URLs, an attribute and a selector/],
    ['\n^a P:x b', /lib\/selectors\.cf:2: P:x: not an attribute name/],
    ['(a P b', /lib\/selectors\.cf:1: \(a: the expression/],
    ['a P b\t[', /lib\/selectors\.cf:1: \[: the expression/],
  ] as const) {
    t.throws(() => parseSelectorRules(text, 'lib/selectors.cf'), { message, constructor: ConfigError }, text);
  }
  const directory = await temporaryDirectory(t);
  for (const selector of ['p[', ':no-such-class', 'a >> > b']) {
    await writeFile(join(directory, 'selectors.cf'), `# first\n^a P ${selector}\n`);
    await t.rejects(readEssenceSources({ libDirectory: directory }), {
      message: /selectors\.cf:2: .*not a selector/,
      constructor: ConfigError,
    });
  }
});

t.test('G-21 the file of Lib-Directory is used by a pool, in a reader process', async (t) => {
  const directory = await temporaryDirectory(t);
  await writeFile(join(directory, 'selectors.cf'), RULES);
  await using pool = await EssencePool.create({ ...options, libDirectory: directory, workers: 1 });
  const output = await pool.summarize(inputOf('http://shop.test/item/2.html', PAGE));
  t.match(contentOf(output), { Price: '12.50' });
});

t.test('E-45 bounded: elements, depth, values; any page', async (t) => {
  const deep = await summarizeWith('. P b', `<b>first</b>${'<i>'.repeat(5000)}<b>x</b>`);
  t.equal(deep.content.P, 'first');
  t.match(deep.warnings, [
    /selectors\.cf: more than 50000 elements, or deeper than 500: the rest is not read/,
  ]);
  const many = await summarizeWith('. P i', Array.from({ length: 1000 }, (_, i) => `<i>${i}</i>`).join(''));
  t.equal(many.content.P?.split('\n').length, 200);
  const piece = fc.constantFrom(
    ...'<p>|</p>|<b>|</b>|<a href="x">|<!--|-->|<script>|</script>|x|&amp;|<|</'.split('|'),
  );
  await assertProperty(
    fc.asyncProperty(fc.array(piece), async (pieces) => {
      const { warnings } = await summarizeWith('. P p > b\n. Q a@href', pieces.join(''));
      t.same(warnings, []);
    }),
    { numRuns: 100 },
  );
});
