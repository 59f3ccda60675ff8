// The summarizer of PDF files: fonts whose character codes are those of a predefined CMap (PDF 32000-1,
// 9.7.5.2), without ToUnicode; streams that expand.
import t from 'tap';
import { deflated, pdfWith } from '../../helpers/bombs/pdf-bombs.js';
import { summaryOf } from './fixtures/summary-of.js';
import { contentOf, summarize } from './helpers.js';

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

t.test('E-45: a PDF file beyond the limits is summarized by its name; large pictures are not', async (t) => {
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
});
