// E-45: the time of a summarizer grows with the length of the text, also when one character is repeated. A
// pattern that divides such a run in several ways takes quadratic time: these tests would then run for minutes
// and end by the time limit of the area.
import t from 'tap';
import { isRequestLine } from '../../../protocols/http-line.js';
import { scanSrcset } from '../../../servers/essence/outlinks/attributes.js';
import { summaryOf } from './fixtures/summary-of.js';

const RUN = 1_000_000;
const blanks = ' '.repeat(RUN);

/** Documents of one type: the beginning, a long run, and an end that the pattern does not expect. */
const TEXTS: readonly (readonly [type: string, text: string])[] = [
  // The exponential case: a few dozen blanks were enough.
  ['Image', `P1${' '.repeat(1500)}x`],
  ['ReferBibliographic', `%A${blanks}\u2028x`],
  ['ManPage', `.TH${blanks}\u2028x`],
  ['Troff', `.TL${blanks}\u2028x`],
  ['Troff', `.a${blanks}\u2028x`],
  ['Markdown', `---\ntitle:${blanks}\u2028x\n---\ntext`],
  ['ReStructuredText', `:a:${blanks}\u2028x`],
  ['ReStructuredText', `.. title:: a\n :a:${blanks}\u2028x`],
  ['AsciiDoc', `= Title\nName\nv1,${'1 '.repeat(RUN / 2)}`],
  ['RTF', `{\\rtf1{\\field{\\*\\fldinst HYPERLINK "${blanks}}{\\fldrslt x}}}`],
  ['RFC', `Network Working Group\n\nAbstract${'\n'.repeat(RUN)}x`],
  ['Makefile', `a${blanks}x`],
  ['TeX', `\\documentclass{article}\\begin{document}\\bibitem${blanks}x\\end{document}`],
  ['Image', `<svg xmlns="http://www.w3.org/2000/svg" width="1${blanks}x"><title>t</title></svg>`],
];

for (const [type, text] of TEXTS) {
  t.test(`E-45: ${type} with a long run: ${JSON.stringify(text.slice(0, 24))}`, async (t) => {
    const { all } = await summaryOf(type, Buffer.from(text));
    t.type(all, 'object');
  });
}

t.test('E-45: srcset with parentheses that stay open', (t) => {
  const found: string[] = [];
  scanSrcset(`a.png ${'('.repeat(RUN)}`, (url) => found.push(url));
  scanSrcset('b.png (1x, c.png', (url) => found.push(url));
  scanSrcset('d.png (1,x) 2x, e.png', (url) => found.push(url));
  t.same(found, ['a.png', 'b.png', 'd.png', 'e.png'], 'an open parenthesis encloses the rest');
  t.end();
});

t.test('a request line with a long run of blanks', (t) => {
  t.notOk(isRequestLine(`GET${blanks}x`));
  t.ok(isRequestLine(`GET${blanks}HTTP/1.0`));
  t.ok(isRequestLine('GET / HTTP/1.1\r'));
  t.end();
});
