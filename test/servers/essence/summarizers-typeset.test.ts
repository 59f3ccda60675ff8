// The summarizers of typeset documents: DVI, PostScript, PDF, LaTeX, RTF and Troff. A property feeds random bytes to all
// summarizers.

import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import { SUMMARIZERS } from '../../../servers/essence/summarizers/index.js';
import { deflated, pdfWith } from '../../helpers/bombs/pdf-bombs.js';
import { assertProperty } from '../../helpers/property.js';
import { encodeEightBit } from './charset/encode.js';
import { summaryOf } from './fixtures/summary-of.js';
import { contentOf, summarize } from './helpers.js';

/** Makes a DVI file of one page from the opcodes of characters, moves and fonts. */
function dvi(...page: number[]): Uint8Array {
  return Uint8Array.of(
    247,
    2,
    ...new Array<number>(12).fill(0),
    0,
    139,
    ...new Array<number>(44).fill(0),
    ...page,
    140,
  );
}

/** Returns the opcode fnt_def1 of font 0; ten points are 655360 units. */
function fontDefinition(name: string): number[] {
  const size = [0, 10, 0, 0];
  return [243, 0, 0, 0, 0, 0, ...size, ...size, 0, name.length, ...Buffer.from(name)];
}

/** Returns the opcode right3 for a distance in points. */
const right = (points: number): number[] => [145, points & 255, 0, 0];
/** Returns the opcode down3 for a distance in points. */
const down = (points: number): number[] => [159, points, 0, 0];
const codes = (text: string): number[] => [...Buffer.from(text, 'latin1')];

t.test(
  'Dvi (6.2): gaps separate words, baselines separate lines, and TeX fonts have ligatures and accents',
  async (t) => {
    const page = dvi(
      ...fontDefinition('cmr10'),
      171,
      // "of" + ffi ligature (14) + "ce", a word gap of 3 points, "caf", an acute (19) and e.
      ...codes('o\x0ece'),
      ...right(3),
      ...codes('caf\x13'),
      ...right(-5),
      ...codes('e'),
      141,
      142,
      ...down(12),
      ...codes('next'),
      ...down(40),
      ...codes('para'),
    );
    const { all, warnings } = await summaryOf('Dvi', page);
    t.equal(all['Partial-Text'], 'office café\nnext\n\npara');
    t.same(warnings, []);
    const truncated = await summaryOf('Dvi', page.subarray(0, page.length - 3));
    t.match(truncated.all['Partial-Text'], /^office/, 'the text before the damage is kept');
    t.match(
      (await summaryOf('Dvi', dvi(...fontDefinition('cmr10'), 171, ...codes('ab'), 255))).warnings[0],
      /not an opcode/,
    );
  },
);

t.test('Dvi, PostScript (6.2): Cyrillic fonts of TeX', async (t) => {
  // The letters of Russian have the same codes in T2A as in windows-1251, except one.
  const word = (letters: string) =>
    [...encodeEightBit(letters, 'windows-1251')].flatMap((code) => [128, code === 0xb8 ? 188 : code]);
  const t2a = [...word('Русский'), ...right(4), ...word('ёж')];
  for (const [font, page] of [
    ['larm1000', t2a],
    ['lctt1095', t2a],
    ['rxbx1200', t2a],
    ['ftmr6a', t2a],
    ['wncyr10', [...codes('Russki\x1a'), ...right(4), ...codes('\x1b\x19')]],
  ] as const) {
    const { all } = await summaryOf('Dvi', dvi(...fontDefinition(font), 171, ...page));
    t.equal(all['Partial-Text'], 'Русский ёж', font);
  }
  const glyphs = 'afii10034 afii10085 afii10083 cyrs CYRK Iicyrillic iishortcyrillic afii61352';
  const program = `%!PS
/F << /FontType 1 /FontName /SFRM1000 /FontMatrix [0.001 0 0 0.001 0 0] /Encoding [${glyphs.replace(/(\S+)/g, '/$1')}] >> definefont pop
/F findfont 10 scalefont setfont 72 700 moveto <0001020304050607> show showpage
`;
  t.equal((await summaryOf('PostScript', program)).all['Partial-Text']?.trim(), 'РуссКИй№');
});

t.test('RTF, E-77: quotation marks of windows-1252', async (t) => {
  const { all } = await summaryOf('RTF', "{\\rtf1\\ansi\\ansicpg1252 It\\'92s \\'93here\\'94}");
  t.equal(all.body?.trim(), 'It’s “here”');
});

t.test('PostScript (6.2) yields the DSC comments and the text that the program shows', async (t) => {
  const program = `%!PS-Adobe-2.0
%%Title: (A \\(good\\) title)
%%For: A. Author
%%Creator: a test
%%EndComments
/F { findfont exch scalefont setfont } def
/L { 72 exch moveto show } bind def
10 /Times-Roman F
(First line, retrie-) 700 L
(val of two) 688 L ( words) show
% four points between two strings are a word gap
72 676 moveto (one) show 4 0 rmoveto (two) show
/Helvetica findfont dup length dict copy begin /Encoding ISOLatin1Encoding def currentdict end
/H exch definefont pop
10 /H F
(na\\357ve) 640 L
3 { (x) show } repeat
{ undefinedname } stopped pop
[ (in ) (an ) (array) ] { 72 600 moveto show } forall
showpage
`;
  const { all, warnings } = await summaryOf('PostScript', program);
  t.equal(all.Title, 'A (good) title');
  t.equal(all.Author, 'A. Author', 'the program that made it is no author');
  const text = all['Partial-Text']!;
  t.match(text, /^First line, retrieval\nof two words\none two\n/);
  t.match(text, /naïvexxx/);
  t.same(warnings, []);
});

t.test('PostScript: a program above its limits is stopped with a warning and keeps its text', async (t) => {
  const head = '%!\n/Times-Roman findfont 10 scalefont setfont 72 72 moveto (seen) show\n';
  for (const [body, reason] of [
    ['{ } loop', /more than 20 ms of processor time/],
    ['0 0 1 { pop } for', /more than 20 ms of processor time/],
    ['/f { f } def f', /too deeply/],
    ['{ 1000000 array } loop', /too much memory/],
    ['{ 1 } loop', /stack overflow/],
    ['(never closed', /no end/],
    ['nosuchname', /undefined: nosuchname/],
  ] as const) {
    const { all, warnings } = await summaryOf('PostScript', head + body, { maxProgramMs: 20 });
    t.equal(all['Partial-Text'], 'seen', body);
    t.match(warnings[0], reason);
  }
});

/** Makes a PDF file of one page with this content. It has no cross-reference table; the reader rebuilds it. */
function pdf(content: string): string {
  return `%PDF-1.4
1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj
2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj
3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >> endobj
4 0 obj << /Length ${content.length} >> stream
${content}
endstream endobj
5 0 obj << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> endobj
6 0 obj << /Title (The title) /Author (A. Author) /Keywords (one, two) /CreationDate (D:20261121120000Z) >> endobj
trailer << /Root 1 0 R /Info 6 0 R /Size 7 >>
%%EOF
`;
}

t.test('Pdf (6.2) yields the information dictionary and the text of the pages', async (t) => {
  const { all } = await summaryOf(
    'Pdf',
    pdf('BT /F1 12 Tf 72 700 Td (Hello wide) Tj 0 -14 Td (world) Tj ET'),
  );
  t.same(all, {
    Title: 'The title',
    Author: 'A. Author',
    Keywords: 'one, two',
    Date: '2026-11-21',
    'Partial-Text': 'Hello wide\nworld',
  });
  const stored = new URL('test/fuzz/corpus/findings/essence-pdf/', import.meta.resolve('#package.json'));
  const silent = await summaryOf('Pdf', await readFile(new URL('reader-never-answers', stored)));
  t.equal(silent.all.Title, 'The title', 'E-45: a damaged page, for which pdf.js never answered');
  const broken = await summaryOf('Pdf', '%PDF-1.4\nnothing');
  t.match(broken.warnings[0], /Pdf could not be read to its end/);
});

t.test(
  'LaTeX and TeX (6.2) yield the marked fields and the text without commands, formulas and definitions',
  async (t) => {
    const source = `\\documentclass[a4paper]{article}
\\usepackage{amsmath} % not text
\\newcommand{\\foo}[1]{not said #1}
\\title{On \\emph{Words}}
\\author{A. Author \\and J\\"urgen \\'Etoile}
\\begin{document}\\maketitle
\\begin{abstract}What it is about.\\end{abstract}
\\section{First steps}\\label{sec:one}
Costs 5\\,\\$ --- see~\\cite{knuth} and \\textbf{bold}\\index{boldness!very}: $x^2$ \\verb|a_b|.
\\begin{equation} E = mc^2 \\end{equation}
\\begin{verbatim}
x = $y
\\end{verbatim}
\\begin{thebibliography}{9}
\\bibitem{knuth} D. Knuth, \\textit{The book}.
\\end{thebibliography}
\\end{document}
`;
    const { all, summary } = await summaryOf('LaTeX', source);
    t.same(all, {
      Title: 'On Words',
      Author: 'A. Author\nJürgen Étoile',
      Abstract: 'What it is about.',
      Headings: 'First steps',
      References: 'D. Knuth, The book.',
      Keywords: 'boldness',
    });
    t.match(summary.text, /Costs 5 \$ – see and bold: a_b\./);
    t.match(summary.text, /x = \$y/);
    t.notMatch(summary.text, /amsmath|not said|mc\^2|knuth\b(?!,)/);
    t.match(
      (await summaryOf('TeX', '\\def\\a#1{gone}\\font\\big=cmr17\n\\big Plain\\par words \\bye')).all[
        'Partial-Text'
      ],
      /Plain\n\nwords/,
    );
  },
);

t.test(
  'RTF (6.2) yields the attributes of HTML, with title and author from the information group',
  async (t) => {
    const source =
      '{\\rtf1\\ansi\\ansicpg1252{\\fonttbl{\\f0\\fcharset0 Times;}{\\f1\\fcharset204 Cyr;}}' +
      '{\\stylesheet{\\s0 Normal;}{\\s1 heading 1;}}{\\info{\\title The title}{\\author A. Author}}' +
      "{\\*\\unknown gone}\\pard\\s1 Chapter\\par\\pard\\s0 Plain {\\b bold} caf\\'e9 \\u8364 ?\\par" +
      "{\\f1\\'cc\\'e8\\'f0}\\par{\\field{\\*\\fldinst HYPERLINK \"http://b.test/\"}{\\fldrslt link}}}";
    t.same((await summaryOf('RTF', source)).all, {
      Title: 'The title',
      Author: 'A. Author',
      keywords: 'bold',
      headings: 'Chapter',
      'url-references': 'http://b.test/',
      body: 'Chapter\nPlain bold café €\nМир\nlink',
    });
  },
);

t.test('E-74 Troff is read with the macros -ms, -me, -mm and -mdoc', async (t) => {
  const ms =
    '.TL\nThe \\fITitle\\fP\n.AU\nA. Author\n.AI\nSomewhere\n.AB\nIn short.\n.AE\n.NH 2\nFirst\n.LP\nText\\(emhere.\n.de XX\nhidden\n..\n';
  const { all, summary } = await summaryOf('Troff', ms);
  t.equal(all.Title, 'The Title');
  t.equal(all.Author, 'A. Author');
  t.equal(all.Abstract, 'In short.');
  t.equal(all.Headings, 'First');
  t.match(summary.text, /Text-here\./);
  t.notMatch(summary.text, /hidden/);
  t.equal((await summaryOf('Troff', '.sh 1 "Me heading"\n.pp\nx\n')).all.Headings, 'Me heading');
  t.equal((await summaryOf('Troff', '.H 1 "Mm heading"\n.P\nx\n')).all.Headings, 'Mm heading');
  const page = '.Dd May 1\n.Dt CAT 1\n.Sh NAME\n.Nm cat\n.Nd joins\n.Sh SYNOPSIS\n.Nm\n.Op Fl b Ar file\n';
  t.match((await summaryOf('Troff', page)).summary.text, /cat\n?.*\[?b file/s);
});

t.test('E-74 the title page of -me: centered lines before the first paragraph', async (t) => {
  const paper =
    '.tp\n.(l C 12\nThe Growth of Toenails\n.b "in Upper Primates"\n.sp\nby\n.sp\nFrank N. Furter*\nSomewhere\n.(f\n*A note.\n.)f\n.)l\n.bp\n' +
    '.uh "First"\n.pp\nText.\n.(l\nNo author\n.)l\n';
  const { all } = await summaryOf('Troff', paper);
  t.match(all, {
    Title: 'The Growth of Toenails in Upper Primates',
    Author: 'Frank N. Furter',
    Headings: 'First',
  });
  const reference =
    '.de TL\t\t\\" *** a comment\nhidden\n..\n.ds G \\s-1GROFF\\s0\n.he "head"\n.ce 20\n.b "\\*G manual"\n.sp\n.i "Version 1\\(dg"\n.sp\n.ul\nEric P. Allman*\n.sp 2\nProject\n.sh 1 One\n.TL\nNo title\n';
  const manual = await summaryOf('Troff', reference);
  t.match(manual.all, { Title: 'GROFF manual', Author: 'Eric P. Allman' });
  t.match(
    manual.summary.text,
    /GROFF manual[\s\S]*Project[\s\S]*One/,
    'a comment after a name is no end mark',
  );
  t.notMatch(manual.summary.text, /hidden/);
  const plain = (await summaryOf('Troff', '.pp\nText.\n.(l\nDear Sir\n.)l\n')).all;
  t.equal(plain.Title, undefined);
  t.equal(plain.Author, undefined);
});

t.test('E-74 the named characters of troff are text', async (t) => {
  const source =
    ".TL\nCaf\\['e] na\\(:ive \\(Fo\\[u3068]\\[u0065_0301]\\(Fc \\(ss \\[oA] \\[Eu]5 \\(*a\\(*W C:\\ea \\[none]\\(+-1 \\[charA] \\[uD800]x\n.LP\nText.\n";
  t.equal(
    (await summaryOf('Troff', source)).all.Title?.replace(/ +/g, ' '),
    'Café naïve «とé» ß Å €5 αΩ C:\\a ±1 x',
  );
});

t.test('6.2: no summarizer throws for any bytes', async (t) => {
  const fragment = fc.constantFrom(
    '%!PS\n',
    '(',
    ')',
    '{',
    '}',
    '[',
    ']',
    '<<',
    '>>',
    ' show ',
    ' def ',
    ' 1 ',
    ' exch ',
    ' begin ',
    ' forall ',
    '\\',
    '\\begin{',
    '\\title{',
    '$',
    '{\\rtf1 ',
    "\\'e",
    '\\u',
    '\\bin9',
    '.TS\n',
    '.de x\n',
    '.if n ',
    '\\*(',
    '@article{a,',
    'title={',
    '"',
    '#',
    '%A x\n',
    'PK\x03\x04',
    '%PDF-1.4\n',
    ' 0 obj',
    'endobj',
    'stream\n',
    '\xf7\x02',
    '\x7fELF\x02\x01',
    '!<arch>\n',
    'RIFF',
    'WAVE',
    'ID3\x03',
    'OggS',
    'fLaC',
    '\x89PNG\r\n\x1a\n',
    'GIF89a',
    '\xff\xd8\xff\xe1',
    'II*\0',
    '\xffWPC',
    '\xd0\xcf\x11\xe0',
    'head 1.1;\n',
    'From x\n\nFrom ',
    'Content-Type: ',
    'multipart/mixed; boundary=a\n\n--a\n',
    '\0',
    '\n',
    '<Para ',
    '(:source ',
    'STARTFONT ',
    'OTTO',
    '\xff\xff\xff\xff',
  );
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 400 }),
    fc
      .array(fragment, { maxLength: 60 })
      .map((parts) => new Uint8Array(Buffer.from(parts.join(''), 'latin1'))),
  );
  const types = [...SUMMARIZERS.keys()];
  await assertProperty(
    fc.asyncProperty(fc.constantFrom(...types), body, async (type, bytes) => {
      const { summary } = await summaryOf(type, bytes);
      return summary.attributes.every(([name]) => /^[A-Za-z0-9-]+$/.test(name));
    }),
    { numRuns: 500 },
  );
  t.ok(types.length >= 40);
  t.ok((await summaryOf('Object', gzipSync('x'))).all.Keywords === undefined);
});

t.test(
  'E-45: a PDF file whose content expands beyond the limits is summarized by its name, one with a large white picture is not',
  async (t) => {
    for (const times of [1, 2, 3]) {
      const bomb = pdfWith(`/Filter[${'/FlateDecode'.repeat(times)}]`, deflated(40 * 1024 * 1024, times));
      const output = await summarize('http://a.test/bomb.pdf', bomb);
      t.match(output.warnings, [
        /the Pdf document is summarized by its name \(E-45\): a stream expands to more than/,
      ]);
      t.equal(contentOf(output).Title, 'bomb.pdf\n');
    }
    const text = new TextEncoder().encode('BT /F 12 Tf 72 700 Td (some words) Tj ET');
    const picture = `<</Subtype/Image/Width 9000/Height 9000/Filter/FlateDecode>>\nstream\n${Buffer.from(deflated(40 * 1024 * 1024, 1)).toString('latin1')}\nendstream\n`;
    const output = await summarize(
      'http://a.test/good.pdf',
      Buffer.concat([pdfWith('', text), Buffer.from(picture, 'latin1')]),
    );
    t.same(output.warnings, []);
    t.equal(contentOf(output)['Partial-Text'], 'some words\n');
  },
);
