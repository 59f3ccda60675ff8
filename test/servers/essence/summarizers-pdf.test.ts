// The summarizer of PDF files: fonts whose character codes are those of a predefined CMap (PDF 32000-1, 9.7.5.2), without ToUnicode.

import t from 'tap';
import { encodeEightBit } from './charset/encode.js';
import { summaryOf } from './fixtures/summary-of.js';

/** Makes a PDF file of one page that shows the string in a Type 0 font without an embedded file. */
function pdfInCidFont(encoding: string, ordering: string, hexadecimal: string): string {
  const content = `BT /F1 12 Tf 72 700 Td <${hexadecimal}> Tj ET`;
  return `%PDF-1.4
1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj
2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj
3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >> endobj
4 0 obj << /Length ${content.length} >> stream
${content}
endstream endobj
5 0 obj << /Type /Font /Subtype /Type0 /BaseFont /Song /Encoding /${encoding} /DescendantFonts [6 0 R] >> endobj
6 0 obj << /Type /Font /Subtype /CIDFontType0 /BaseFont /Song /FontDescriptor 7 0 R /DW 1000
 /CIDSystemInfo << /Registry (Adobe) /Ordering (${ordering}) /Supplement 2 >> >> endobj
7 0 obj << /Type /FontDescriptor /FontName /Song /Flags 4 /FontBBox [0 -200 1000 900] /ItalicAngle 0 /Ascent 900 /Descent -200
 /CapHeight 700 /StemV 80 >> endobj
trailer << /Root 1 0 R /Size 8 >>
%%EOF
`;
}

t.test('Pdf (6.2): the text of fonts with predefined CMaps and without ToUnicode is found', async (t) => {
  for (const [encoding, ordering, hexadecimal, text] of [
    ['UniGB-UCS2-H', 'GB1', '4E2D6587', '中文'],
    ['UniGB-UTF16-H', 'GB1', '4E2D6587', '中文'],
    ['GBK-EUC-H', 'GB1', 'D6D0CEC4', '中文'],
    ['GB-EUC-H', 'GB1', 'D6D0CEC4', '中文'],
    ['GBKp-EUC-H', 'GB1', 'D6D0CEC4', '中文'],
    ['GBK2K-H', 'GB1', 'D6D0CEC4', '中文'],
    ['ETen-B5-H', 'CNS1', 'A4A4A4E5', '中文'],
    ['B5pc-H', 'CNS1', 'A4A4A4E5', '中文'],
    ['UniCNS-UTF16-H', 'CNS1', '4E2D6587', '中文'],
    ['90ms-RKSJ-H', 'Japan1', '93FA967B8CEA', '日本語'],
    ['90msp-RKSJ-H', 'Japan1', '93FA967B8CEA', '日本語'],
    ['EUC-H', 'Japan1', 'C6FCCBDCB8EC', '日本語'],
    ['H', 'Japan1', '467C4B5C386C', '日本語'],
    ['UniJIS-UCS2-H', 'Japan1', '65E5672C8A9E', '日本語'],
    ['UniJIS-UTF16-H', 'Japan1', '65E5672C8A9E', '日本語'],
    ['KSCms-UHC-H', 'Korea1', 'C7D1B1B9BEEE', '한국어'],
    ['KSC-EUC-H', 'Korea1', 'C7D1B1B9BEEE', '한국어'],
    ['UniKS-UCS2-H', 'Korea1', 'D55CAD6DC5B4', '한국어'],
    ['Identity-H', 'Japan1', '0CD40E8A07A0', '日本語'],
    ['Identity-H', 'GB1', '11CF0ED3', '中文'],
    ['Identity-H', 'CNS1', '029502D6', '中文'],
  ] as const) {
    const { all, warnings } = await summaryOf('Pdf', pdfInCidFont(encoding, ordering, hexadecimal));
    t.equal(all['Partial-Text'], text, `${encoding} of Adobe-${ordering}`);
    t.same(warnings, [], encoding);
  }
});

/** Makes a PDF file of one page that shows a text in T2A in a simple font. */
function pdfInCyrillicFont(font: string, text: string, title = ''): Buffer {
  return pdfInFont(font, encodeEightBit(text, 'windows-1251'), title);
}

/** Makes a PDF file of one page that shows codes in a simple font; 6 0 R is a picture. */
function pdfInFont(font: string, codes: Buffer, title = ''): Buffer {
  const hexadecimal = codes.toString('hex');
  const content = `BT /F1 12 Tf 72 700 Td <${hexadecimal}> Tj ET`;
  const head = `%PDF-1.4
1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj
2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj
3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >> endobj
4 0 obj << /Length ${content.length} >> stream
${content}
endstream endobj
5 0 obj << /Type /Font ${font} >> endobj
6 0 obj << /Length 20 >> stream
500 0 0 0 500 500 d1
endstream endobj
7 0 obj << /Title (`;
  const tail = ') >> endobj\ntrailer << /Root 1 0 R /Info 7 0 R /Size 8 >>\n%%EOF\n';
  return Buffer.concat([Buffer.from(head), encodeEightBit(title, 'windows-1251'), Buffer.from(tail)]);
}

t.test('Pdf (6.2), E-77: Cyrillic fonts of TeX without ToUnicode, and a title in windows-1251', async (t) => {
  const text = 'Сборщик обходит серверы';
  const codes = Array.from({ length: 64 }, (_, i) => 192 + i);
  const widths = codes.map(() => 500).join(' ');
  const names = codes.map((code) => `/a${code}`).join(' ');
  const pictures = codes.map((code) => `/a${code} 6 0 R`).join(' ');
  const glyphs =
    'A B V G D E ZH Z I ISHRT K L M N O P R S T U F H C CH SH SHCH HRDSN ERY SFTSN EREV YU YA'.split(' ');
  const latex = [...glyphs, ...glyphs.map((name) => name.toLowerCase())];
  const common = `/FirstChar 192 /LastChar 255 /Widths [${widths}]`;
  for (const [font, name] of [
    [
      `/Subtype /Type3 /FontBBox [0 0 500 500] /FontMatrix [0.001 0 0 0.001 0 0] ${common} /CharProcs << ${pictures} >> /Encoding << /Differences [192 ${names}] >>`,
      'pictures',
    ],
    [
      `/Subtype /Type1 /BaseFont /ABCDEF+F ${common} /Encoding << /Differences [192 ${latex.map((glyph, i) => `/${i < 32 ? 'CYR' : 'cyr'}${glyph}`).join(' ')}] >>`,
      'names of LaTeX',
    ],
    [
      `/Subtype /Type1 /BaseFont /ABCDEF+SFRM1000 ${common} /Encoding << /Differences [192 ${codes.map((_, i) => `/afii${i < 32 ? 10017 + i + (i > 5 ? 1 : 0) : 10033 + i + (i > 37 ? 1 : 0)}`).join(' ')}] >>`,
      'names of Adobe',
    ],
  ] as const) {
    const { all } = await summaryOf('Pdf', pdfInCyrillicFont(font, text, 'Описание сборщика'));
    t.equal(all['Partial-Text'], text, name);
    t.equal(all.Title, 'Описание сборщика');
  }
  const french = await summaryOf(
    'Pdf',
    pdfInCyrillicFont('/Subtype /Type1 /BaseFont /Times-Roman /Encoding /WinAnsiEncoding', 'Text', 'abc'),
  );
  t.same([french.all['Partial-Text'], french.all.Title], ['Text', 'abc']);
});

t.test(
  'Pdf (6.2): ligatures and quotation marks in picture fonts of TeX, whose glyph names are not read',
  async (t) => {
    const font = `/Subtype /Type3 /FontBBox [0 0 500 500] /FontMatrix [0.001 0 0 0.001 0 0] /FirstChar 0 /LastChar 127 /Widths [${'500 '.repeat(128)}] /CharProcs << /x 6 0 R >> /Encoding << /Differences [65 /A] >>`;
    for (const [codes, text] of [
      ['o\x0ece, \x0dow, \\quotes", na\x10ve', 'office, flow, “quotes”, naive'],
      ['o\x1ece, \x1dow, \x10quotes\x11, na\x19ve', 'office, flow, “quotes”, naive'],
      ['x < y "z"', 'x < y "z"'],
    ] as const) {
      const { all } = await summaryOf('Pdf', pdfInFont(font, Buffer.from(codes, 'latin1')));
      t.equal(all['Partial-Text'], text);
    }
  },
);
