// The summarizer of PostScript: documents of Ghostscript's ps2write and of poppler's pdftops, comments (DSC), colors, composite fonts.

import t from 'tap';
import { DocumentComments } from '../../../servers/essence/summarizers/postscript/document-comments.js';
import { PsMachine } from '../../../servers/essence/summarizers/postscript/machine.js';
import { OPERATORS } from '../../../servers/essence/summarizers/postscript/operators.js';
import { ShownText } from '../../../servers/essence/summarizers/postscript/shown-text.js';
import { summaryOf } from './fixtures/summary-of.js';

/** The layout of ps2write: a program that shows PDF, then the objects of the file, without a catalog. */
const PS2WRITE = `%!PS-Adobe-3.0
%%Invocation: gs -q -sDEVICE=ps2write ?
%%BoundingBox: 0 0 612 792
%%Creator: GPL Ghostscript 10000 (ps2write)
%%Title: The report
%%CreationDate: D:20261123
%%EndComments
%%BeginProlog
/DSC_OPDFREAD true def
/setup { (never shown) show undefinedoperator } def setup
%%BeginResource: procset (PDF Font obj_7)
7 0 obj
<</R6 6 0 R>>
endobj
%%EndResource
%%BeginResource: file (PDF object obj_6)
6 0 obj
<</BaseFont/Times-Roman/Type/Font/Subtype/Type1>>
endobj
%%EndResource
%%EndProlog
%%Page: 1 1
%%BeginPageSetup
4 0 obj
<</Type/Page/MediaBox [0 0 612 792]
/Parent 3 0 R
/Resources<</ProcSet[/PDF /Text]
/Font 7 0 R
>>
/Contents 5 0 R
>>
endobj
%%EndPageSetup
5 0 obj
<</Length 52>>stream
BT /R6 12 Tf 72 700 Td [(W)80(or)-1(ds)-333(of)] TJ ET
endstream
endobj
%%PageTrailer
%%Page: 2 2
8 0 obj
<</Type/Page/MediaBox [0 0 612 792]/Parent 3 0 R/Resources<</Font 7 0 R>>/Contents 9 0 R>>
endobj
9 0 obj
<</Length 41>>stream
BT /R6 12 Tf 72 700 Td (two pages) Tj ET
endstream
endobj
%%Trailer
end
%%EOF
`;

t.test(
  'PostScript (6.2): a program of ps2write contains the objects of a PDF file, whose text is read',
  async (t) => {
    const { all, warnings } = await summaryOf('PostScript', PS2WRITE);
    t.same(all, { Title: 'The report', Date: 'D:20261123', 'Partial-Text': 'Words of\n\ntwo pages' });
    t.same(warnings, []);
    const empty = await summaryOf('PostScript', PS2WRITE.slice(0, PS2WRITE.indexOf('%%BeginResource')));
    t.equal(empty.all.Title, 'The report', 'without objects the program is run');
    const cut = await summaryOf('PostScript', PS2WRITE.slice(0, PS2WRITE.indexOf('8 0 obj')));
    t.equal(cut.all['Partial-Text'], 'Words of', 'a truncated document keeps its first page');
  },
);

/** The procedures of pdftops that show text, reduced; advances are in pairs. */
const PDFTOPS = `%!PS-Adobe-3.0
%%Creator: TeX
%%LanguageLevel: 2
%%EndComments
%%BeginProlog
/Tf { exch findfont exch scalefont setfont } def
/fCol { pdfFill aload pop setcolor } def
/sc { /pdfFill exch def } def
/Tj { fCol xyshow } def
%%EndProlog
%%BeginSetup
%%BeginResource: font ABCDEF+CMR17
%!PS-AdobeFont-1.0: CMR17 003.002
%%Title: CMR17
%%For: a font
%%Creator: David M. Jones
%%CreationDate: Mon Jul 13 16:17:00 2009
%%EndComments
%%EndResource
%%EndSetup
%%Page: 1 1
`;

t.test('PostScript (6.2): comments of fonts in the document are not those of the document', async (t) => {
  t.same((await summaryOf('PostScript', PDFTOPS)).all, {});
  const atEnd = `%!PS-Adobe-2.0\n%%Title: (atend)\n%%For: B. Writer\n%%EndComments\n${PDFTOPS.slice(PDFTOPS.indexOf('%%BeginS'))}
%%BeginDocument: figure.eps
%!PS-Adobe-3.0 EPSF-3.0
%%Title: figure.eps
%%Trailer
%%Title: figure
%%EndDocument
%%Trailer
%%Title: At the end
%%EOF
`;
  t.same((await summaryOf('PostScript', atEnd)).all, { Title: 'At the end', Author: 'B. Writer' });
});

t.test(
  'PostScript (6.2): a color has as many components as its space, and advances are the widths of characters',
  async (t) => {
    const wide = '[6 0 6 0 6 0 6 0 6 0]';
    const program = `${PDFTOPS}/Typewriter 10 Tf
/DeviceRGB setcolorspace [0 0 0] sc 72 700 moveto (still) ${wide} Tj
/DeviceCMYK setcolorspace [0 0 0 1] sc 72 680 moveto (ill) ${wide} Tj
[/Separation /Black /DeviceGray {}] setcolorspace [1] sc 72 660 moveto (ill) ${wide} Tj
[/DeviceN [/Cyan /Black] /DeviceCMYK {}] setcolorspace [1 0] sc 72 640 moveto (fill) ${wide} Tj
[/Pattern /DeviceRGB] setcolorspace 1 0 0 << >> setcolor clear 0 setgray [0] sc 72 620 moveto (till) ${wide} Tj
`;
    const { all, warnings } = await summaryOf('PostScript', program);
    t.equal(all['Partial-Text'], 'still\n\nill\n\nill\n\nfill\n\ntill');
    t.same(warnings, []);
  },
);

t.test('PostScript (6.2): bitmap fonts of dvips, with and without names of glyphs', async (t) => {
  const font = (name: string, encoding: string, scale: string) => `%DVIPSBitmapFont: Fc ${name} 10 4
8 dict begin /FontType 3 def /FontMatrix [0.012 0 0 -0.012 0 0] def /FontBBox [0 0 1 1] def /BitMaps 256 array def
/BuildChar {pop pop} def /Encoding ${encoding} def currentdict end /Fc exch definefont ${scale} setfont
72 720 moveto (o\\036ce,\\035ow,\\020quotes\\021) show
`;
  // The names that dvips has given since 2020, of which the copy in another size keeps the encoding only.
  const named = `[256 {/.notdef} repeat] dup 16 /quotedblleft put dup 17 /quotedblright put dup 29 /fl put dup 30 /ffi put
dup 32 1 126 {1 string dup 0 3 index put cvn put dup} for pop`;
  // Its older names have no meaning; one of them is that of a letter.
  const arbitrary = '[256 {/A0} repeat] dup 14 /AE put';
  for (const [name, encoding, scale] of [
    ['ecrm1000', named, '83.3333 scalefont'],
    ['unknown10', named, '83.3333 scalefont'],
    ['ecrm1000', arbitrary, ''],
    ['ecrm1000', arbitrary, '83.3333 scalefont'],
  ] as const) {
    const { all, warnings } = await summaryOf('PostScript', `%!PS-Adobe-2.0\n${font(name, encoding, scale)}`);
    t.equal(all['Partial-Text'], 'office,flow,“quotes”', `${name}, ${encoding.slice(0, 30)}, ${scale}`);
    t.same(warnings, []);
  }
});

t.test('PostScript (6.2): numbers that ps2write gives to the glyphs of CID fonts are no text', async (t) => {
  const picture = '10 0 obj\n<</Length 20>>stream\n500 0 0 0 500 500 d1\nendstream\nendobj\n';
  const fontOf = (names: readonly string[]) =>
    `<</Type/Font\n/Encoding <</Type/Encoding/Differences[0${Array.from({ length: 128 }, (_, i) => `/a${i}`).join('')}]>>/CharProcs <<${names.map((name) => `/${name} 10 0 R\n`).join('')}>>/FontMatrix[1 0 0 1 0 0]/FontBBox[0 0 95 83]/FirstChar 0/LastChar 127/Widths[${'99 '.repeat(128)}]\n/Subtype/Type3>>`;
  const document = (names: readonly string[]) =>
    PS2WRITE.replace('<</R6 6 0 R>>', '<</R6 6 0 R/R9 11 0 R>>')
      .replace('%%EndProlog', `${picture}11 0 obj\n${fontOf(names)}\nendobj\n%%EndProlog`)
      .replace('<</Length 41>>', '<</Length 56>>')
      .replace('(two pages) Tj', '(two ) Tj /R9 12 Tf (pages) Tj');
  const letters = [...'pages'].map((letter) => `a${letter.charCodeAt(0)}`);
  const text = async (names: readonly string[]) =>
    (await summaryOf('PostScript', document(names))).all['Partial-Text'];
  t.equal(await text(letters), 'Words of\n\ntwo pages', 'codes of a font of TeX');
  t.equal(await text(['a0', 'a1', 'a2', ...letters]), 'Words of\n\ntwo', 'numbers in the order of the text');
});

t.test('PostScript (6.2): a composite font has text if its parts have names of glyphs', async (t) => {
  const part = (name: string, glyphs: string) =>
    `/${name} << /FontType 42 /FontName /${name} /FontMatrix [1 0 0 1 0 0] /Encoding [${glyphs}] >> definefont pop\n`;
  const root = (name: string, parts: string) =>
    `/${name} << /FontType 0 /FMapType 2 /FontMatrix [1 0 0 1 0 0] /Encoding [0 1] /FDepVector [${parts}] >> definefont pop\n`;
  const program = `%!PS
${part('Latin', '/A /eacute')}${part('Han', '/uni4E2D /uni6587')}${part('Unknown', '/c00 /c01')}
${root('Known', '/Latin findfont /Han findfont')}${root('Arbitrary', '/Unknown findfont')}
/Known findfont 10 scalefont setfont 72 700 moveto <0000000101000101> [10 0 10 0 10 0 10 0] xyshow
72 680 moveto <0100> show <00> show <0700> show
/Arbitrary findfont 10 scalefont setfont 72 660 moveto <00000001> show
`;
  const { all, warnings } = await summaryOf('PostScript', program);
  t.equal(all['Partial-Text'], 'Aé中文\n\n中');
  t.same(warnings, []);
});

t.test('E-45: a word of many digits that is no number takes linear time', async (t) => {
  // In quadratic time it would take minutes.
  const { all } = await summaryOf(
    'PostScript',
    `%!PS\n/Times findfont 10 scalefont setfont 72 700 moveto (before) show showpage\n${'4'.repeat(900_000)}x\n`,
  );
  t.equal(all['Partial-Text']?.trim(), 'before');
});

t.test('E-45: a program ends by its processor time, not by its steps', (t) => {
  const run = (program: string, used: (looks: number) => number) => {
    let looks = 0;
    const shown = new ShownText(new DocumentComments());
    const machine = new PsMachine(Buffer.from(program), OPERATORS, shown, {
      maxTextLength: 1000,
      maxProcessorMs: 8000,
      cpuUsage: (since) => ({ user: since === undefined ? 0 : used(++looks), system: 0 }),
    });
    machine.run();
    return { failure: machine.failure, text: shown.text.finish(), looks };
  };
  const show = '/F findfont 10 scalefont setfont 9 9 moveto';
  const long = `${show} (seen) show 13000000 { } repeat ( and the end) show`;
  const whole = run(long, () => 8_000_000);
  t.same([whole.failure, whole.text], [undefined, 'seen and the end'], 'more than 12 million steps');
  t.ok(whole.looks >= 13);
  const cut = run(long, (looks) => looks * 2_000_000);
  t.same([cut.text, cut.looks], ['seen', 5]);
  t.match(cut.failure, /more than 8000 ms of processor time/);
  const short = run(`${show} 0 1 300000 { pop } for (whole) show`, () => 1e12);
  t.same(
    [short.failure, short.text, short.looks],
    [undefined, 'whole', 0],
    'a short program never depends on the clock',
  );
  t.end();
});
