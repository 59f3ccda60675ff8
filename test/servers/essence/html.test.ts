// The summarizer of HTML: values that are cut, extraction tables that are wrong, deep nesting.
import t from 'tap';
import { ConfigError } from '../../../protocols/errors.js';
import { decodeSoif } from '../../../protocols/soif/index.js';
import { parseExtractionTable } from '../../../servers/essence/sgml/table.js';
import { contentOf, summarize } from './helpers.js';

const PAGE = 'http://a.test/dir/page.html';

t.test('--link-text: the number and the length of the texts are limited', async (t) => {
  const many = Array.from({ length: 3000 }, (_, i) => `<a href="${i}">link ${i}</a>`).join('');
  const textsOf = async (options = {}) =>
    contentOf(await summarize(PAGE, many, { linkText: true, ...options }))['Link-Text'] ?? '';
  t.equal((await textsOf()).split('\n').length, 1001, 'at most a thousand');
  t.ok((await textsOf({ maxAttributeLength: 500 })).length <= 500);
});

t.test('SOIF-4.7 a value of several lines ends with LF, also when it is cut', async (t) => {
  const html = `<title>t</title>${Array.from({ length: 200 }, (_, i) => `<a href="${i}.html">link ${i} é</a>\n`).join('')}`;
  for (let maxObjectBytes = 700; maxObjectBytes < 900; maxObjectBytes += 7) {
    const { soif } = await summarize(PAGE, html, { maxObjectBytes });
    if (soif === undefined) throw new Error('no object');
    for (const { name, value } of decodeSoif(soif).attributes) {
      if (value.subarray(0, -1).includes(0x0a) && value.at(-1) !== 0x0a)
        t.fail(`${name} at ${maxObjectBytes}: ${Buffer.from(value).toString()}`);
    }
    t.ok(soif.length <= maxObjectBytes);
  }
});

t.test('E-89 to E-94 a line of an extraction table that is not one is an error', (t) => {
  for (const line of ['A keywords', '<A>', '<A HREF> x', '<A> k=1', '<A,x> k'])
    t.throws(() => parseExtractionTable(line, 'HTML.sum.tbl'), ConfigError, line);
  t.end();
});

t.test('deep nesting is read in linear time, up to a limit', async (t) => {
  const output = await summarize(PAGE, `<title>T</title>${'<ul><b>x'.repeat(50_000)}`);
  t.match(output.warnings[0], /nested deeper/);
  t.equal(contentOf(output).title, 'T\n');
});
