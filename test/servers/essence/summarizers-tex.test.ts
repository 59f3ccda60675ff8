// The summarizers of TeX and LaTeX: titles and authors without notes and addresses, and included files.

import fc from 'fast-check';
import t from 'tap';
import { Inclusions } from '../../../servers/essence/summarizers/tex/inclusions.js';
import { assertProperty } from '../../helpers/property.js';
import { summaryOf } from './fixtures/summary-of.js';
import { summarize } from './helpers.js';

t.test('LaTeX (6.2): notes, marks and addresses are neither title nor author', async (t) => {
  const fieldsOf = async (head: string) => {
    const { all } = await summaryOf(
      'LaTeX',
      `\\documentclass{article}\n${head}\n\\begin{document}\nText.\n\\end{document}`,
    );
    return [all.Title, all.Author];
  };
  for (const [head, title, author] of [
    [
      '\\title{On Words\\thanks{Supported by a {grant}.}}\\author{A. Author\\thanks{The Institute} \\and B. Writer\\footnote{Now elsewhere}}',
      'On Words',
      'A. Author\nB. Writer',
    ],
    [
      '\\title[Short]{Long}\\author{A. One\\inst{1}\\orcidID{0000-1} \\and B. Two\\inst{2}\\email{b@two.test}}\\institute{Somewhere}',
      'Long',
      'A. One\nB. Two',
    ],
    [
      '\\title{T}\\author{A. One\\\\ University of X\\\\ \\texttt{a@x.test} \\AND B. Two\\\\[2pt] 12 Street}',
      'T',
      'A. One\nB. Two',
    ],
    ['\\title{T}\\author{A. One \\\\ B. Two}', 'T', 'A. One\nB. Two'],
    [
      '\\title{T\\tnoteref{a}}\\author[l1]{A. One\\corref{c}\\fnref{f}}\\ead{a@x.test}\\author[l2]{B. Two}',
      'T',
      'A. One\nB. Two',
    ],
    [
      '\\title{T}\\author{A. One}\\address{Street}\\email{a@x.test}\\author{B. Two}\\thanks{Grant}',
      'T',
      'A. One\nB. Two',
    ],
    [
      '\\title{T}\\author{\\IEEEauthorblockN{A. One}\\IEEEauthorblockA{Dept. of X} \\and \\IEEEauthorblockN{B. Two}\\IEEEauthorblockA{Y}}',
      'T',
      'A. One\nB. Two',
    ],
  ] as const)
    t.same(await fieldsOf(head), [title, author], head);
});

t.test('LaTeX and TeX: included files of the same directory are links that the crawl follows', async (t) => {
  const source = `\\documentclass{book}
\\input{macros.sty}\\input ./intro % \\input{comment}
\\begin{document}
\\include{chapters/one}\\include{two}\\input{two}
\\input{/etc/passwd}\\input{../secret}\\input{\\jobname-x}\\input{|"ls"}\\input{a/../../b}\\input epsf
\\verb|\\input{no}|
\\end{document}
`;
  const { links } = await summarize('http://a.test/book/main.tex', source);
  t.same(
    links.map(({ url }) => url),
    ['macros.sty', 'intro.tex', 'chapters/one.tex', 'two.tex'].map((name) => `http://a.test/book/${name}`),
  );
  t.match((await summaryOf('LaTeX', source)).all.References, 'chapters/one.tex');
  const plain = await summarize('http://a.test/p.tex', '\\magnification 1200 \\input chapter1 Words \\bye');
  t.same(
    plain.links.map(({ url }) => url),
    ['http://a.test/chapter1.tex'],
  );
  t.match((await summaryOf('TeX', '\\input chapter1 Words')).all['Partial-Text'], /^Words$/);
});

t.test('a name that leaves the directory of the source is never included', (t) => {
  const part = fc.constantFrom(
    '..',
    '.',
    'a',
    'b.tex',
    '',
    ' ',
    '~',
    '%2e%2e',
    '\\',
    'http:',
    '%00',
    '"',
    '|',
  );
  assertProperty(
    fc.property(
      fc.array(part, { maxLength: 6 }),
      fc.constantFrom('/', '//', '\\', ''),
      (parts, separator) => {
        const name = new Inclusions().add(parts.join(separator));
        if (name === undefined) return true;
        const url = new URL(name.split('/').map(encodeURIComponent).join('/'), 'http://a.test/d/main.tex');
        return url.host === 'a.test' && url.pathname.startsWith('/d/') && url.pathname.length > 3;
      },
    ),
  );
  t.end();
});

t.test('LaTeX (6.2): the date is that of the document, not that of its typesetting', async (t) => {
  const dateOf = async (date: string) =>
    (
      await summaryOf(
        'LaTeX',
        `\\documentclass{article}\n\\title{T}\n${date}\n\\begin{document}\nText.\n\\end{document}`,
      )
    ).all.Date;
  t.equal(await dateOf('\\date{May 8, 2023\\thanks{Revised}}'), 'May 8, 2023');
  t.equal(await dateOf('\\date{\\today}'), undefined);
  t.equal(await dateOf('\\date{}'), undefined);
});
