// Documents that refer to themselves, to files of this machine or to more than they contain: PDF, office files,
// media, SOIF.
import { deflateSync, gzipSync } from 'node:zlib';
import type { Random } from '../random.js';
import { type Bomb, type Bombs, bombsOf, joined, series } from './bomb.js';
import { EXTERNAL, markupReferences, SECRET } from './markup-bombs.js';
import { office, opendocument } from './office-bombs.js';
import { pdfOf, stream } from './pdf-bombs.js';

const MIB = 1024 * 1024;
const TYPES = ['[Content_Types].xml', '<Types/>'] as const;
function relations(count: number, target: (i: number) => string): string {
  return `<Relationships>${series(count, (i) => `<Relationship Id="r${i}" Type="officeDocument" Target="${target(i)}"/>`)}</Relationships>`;
}

function officeReferences(): Bombs {
  let nested: Uint8Array = office([TYPES, ['word/document.xml', '<w:t>x</w:t>']]);
  for (let i = 0; i < 200; i++)
    nested = office([TYPES, ['word/document.xml', '<w:t>x</w:t>'], ['word/embeddings/a.docx', nested]]);
  const sheet = (cells: string) =>
    office([
      TYPES,
      ['xl/workbook.xml', '<workbook><sheets><sheet name="a"/></sheets></workbook>'],
      ['xl/worksheets/sheet1.xml', cells],
    ]);
  return {
    'ext.docx: a file as an entity': office([
      TYPES,
      ['word/document.xml', `${EXTERNAL}<w:document><w:t>&s;</w:t></w:document>`],
    ]),
    'loop.docx: relations that are a circle': office([
      TYPES,
      ['_rels/.rels', relations(20_000, () => '_rels/.rels')],
      ['word/_rels/document.xml.rels', relations(20_000, () => `../../../..${SECRET}`)],
      ['word/document.xml', '<w:t>x</w:t>'],
    ]),
    'nest.docx: documents in documents': nested,
    'columns.xlsx: sixteen million columns': sheet(
      `<worksheet><dimension ref="A1:XFD1048576"/><cols><col min="1" max="16777216"/></cols><sheetData><row r="1048576" spans="1:16777216"><c r="ZZZZZZZ99999999999" t="s"><v>4294967295</v></c></row></sheetData></worksheet>`,
    ),
    'cells.xlsx: a million cells that name one string': sheet(
      `<worksheet><sheetData>${'<row><c t="s"><v>0</v></c></row>'.repeat(500_000)}</sheetData></worksheet>`,
    ),
    'strings.xlsx: one string of 40 MB': office([
      TYPES,
      ['xl/workbook.xml', '<workbook/>'],
      ['xl/sharedStrings.xml', `<sst><si><t>${'a '.repeat(20 * MIB)}</t></si></sst>`],
    ]),
    'slides.pptx: twenty thousand slides': office([
      TYPES,
      ['ppt/presentation.xml', '<p/>'],
      ...Array.from({ length: 20_000 }, (_, i) => [`ppt/slides/slide${i}.xml`, '<a:t>x</a:t>'] as const),
    ]),
    'same.pptx: members of one name': office([
      TYPES,
      ['ppt/presentation.xml', '<p/>'],
      ...Array.from({ length: 20_000 }, () => ['ppt/slides/slide1.xml', '<a:t>x</a:t>'] as const),
    ]),
    'ext.odt: an external entity': opendocument(`${EXTERNAL}<office:text><text:p>&s;</text:p></office:text>`),
    'lol.odt: entities of entities': opendocument(
      `<!DOCTYPE x [<!ENTITY a0 "lol">${series(12, (i) => `<!ENTITY a${i + 1} "${`&a${i};`.repeat(10)}">`)}]><text:p>&a12;</text:p>`,
    ),
    'deep.odt: elements a million deep': opendocument('<text:p>'.repeat(1_000_000)),
    'columns.ods: cells that are repeated': opendocument(
      `<table:table>${'<table:table-row table:number-rows-repeated="1048576"><table:table-cell table:number-columns-repeated="16384"><text:p>x</text:p></table:table-cell></table:table-row>'.repeat(1000)}</table:table>`,
    ),
    'object.rtf: an object of digits': ['{\\rtf1 {\\object{\\*\\objdata ', 'd0cf11e0'.repeat(MIB), '}}}'],
    'field.rtf: fields that include files': [
      '{\\rtf1 ',
      `{\\field{\\*\\fldinst INCLUDETEXT "${SECRET}"}{\\fldrslt x}}`.repeat(50_000),
      '}',
    ],
    'deep.rtf: pictures in pictures': `{\\rtf1 ${'{\\pict{\\*\\blipuid '.repeat(300_000)}`,
  };
}

function pdfReferences(): Bombs {
  const pages = '<</Type/Pages/Kids[3 0 R]/Count 1>>';
  const of = ({
    root = '',
    resources = '',
    more = [],
    content = stream('', 'BT /F 9 Tf (x) Tj ET'),
    trailer = '',
  }: {
    readonly root?: string;
    readonly resources?: string;
    readonly more?: readonly (string | Uint8Array)[];
    readonly content?: Uint8Array;
    readonly trailer?: string;
  }) => {
    const page = `<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Resources<<${resources}>>/Contents 4 0 R>>`;
    return pdfOf([`<</Type/Catalog/Pages 2 0 R${root}>>`, pages, page, content, ...more], trailer);
  };
  const packed = (text: string) => new Uint8Array(deflateSync(Buffer.from(text)));
  const filters = '/FlateDecode'.repeat(200_000);
  const objectStream = stream(
    '/Type/ObjStm/N 2/First 10/Extends 5 0 R/Filter/FlateDecode',
    packed('5 0 6 5   <</Extends 5 0 R>>'),
  );
  return {
    'filters.pdf: two hundred thousand filters': of({
      content: stream(`/Filter[${filters}]`, new Uint8Array(deflateSync(Buffer.alloc(99)))),
    }),
    'hex.pdf: equal filters': of({ content: stream(`/Filter[${'/ASCIIHexDecode'.repeat(5000)}]`, '20>') }),
    'extends.pdf: a stream that extends itself': of({ root: '/Outlines 5 0 R', more: [objectStream] }),
    'outline.pdf: an outline that is a circle': of({
      root: '/Outlines 5 0 R',
      more: ['<</First 6 0 R/Last 6 0 R/Count 9>>', '<</Title(x)/Next 6 0 R/Parent 5 0 R/First 5 0 R>>'],
    }),
    'names.pdf: a tree of names that is a circle': of({
      root: '/Names<</Dests 5 0 R>>/PageLabels 5 0 R',
      more: ['<</Kids[5 0 R 5 0 R]/Limits[(a)(z)]/Nums[0 5 0 R]>>'],
    }),
    'form.pdf: fields that are a circle': of({
      root: '/AcroForm<</Fields[5 0 R]>>',
      more: ['<</T(x)/Kids[5 0 R]/Parent 5 0 R/FT 5 0 R>>'],
    }),
    'font.pdf: a font that is its own descendant': of({
      resources: '/Font<</F 5 0 R>>',
      more: ['<</Type/Font/Subtype/Type0/DescendantFonts[5 0 R]/Encoding 5 0 R/ToUnicode 5 0 R>>'],
    }),
    'alias.pdf: references to references': of({ root: '/Lang 5 0 R', more: ['6 0 R', '5 0 R'] }),
    'key.pdf: a key of two billion bits': of({
      more: ['<</Filter/Standard/V 5/R 6/Length 2147483647/O(x)/U(x)/P -1>>'],
      trailer: '/Encrypt 5 0 R/ID[(a)(b)]',
    }),
    'lzw.pdf: random codes': of({ content: stream('/Filter/LZWDecode', new Uint8Array(MIB).fill(0xab)) }),
    'updates.pdf: twenty thousand updates': [
      of({}),
      'trailer\n<</Root 1 0 R/Prev 9>>\nstartxref\n9\n%%EOF\n'.repeat(20_000),
    ],
    'prev.pdf: tables that are in each other': of({ trailer: '/Prev 9/XRefStm 9' }),
    'headers.pdf: a million object headers': joined('%PDF-1.4\n', '1 0 obj\n'.repeat(1_000_000)),
    'numbers.pdf: an object of the greatest number': joined(
      '%PDF-1.4\n4294967295 65535 obj<</Type/Catalog>>endobj\ntrailer<</Root 4294967295 65535 R/Size 4294967296>>',
    ),
    'pattern.pdf: patterns that paint themselves': of({
      resources: '/Pattern<</P 5 0 R>>',
      more: [
        stream(
          '/PatternType 1/PaintType 1/BBox[0 0 9 9]/XStep .00001/YStep .00001/Resources<</Pattern<</P 5 0 R>>>>',
          '/Pattern cs /P scn 0 0 9 9 re f',
        ),
      ],
      content: stream('', '/Pattern cs /P scn 0 0 9 9 re f BT (x) Tj ET'),
    }),
    'operators.pdf: operands without an operator': of({
      content: stream('/Filter/FlateDecode', packed('1 '.repeat(10 * MIB))),
    }),
    'states.pdf: states that are saved without end': of({
      content: stream('/Filter/FlateDecode', packed('q BT '.repeat(4 * MIB))),
    }),
  };
}

/** Boxes of MP4 and JPEG 2000 in each other. */
function boxes(levels: number): string {
  return '\0\0\0\x01moov\xff\xff\xff\xff\xff\xff\xff\xff'.repeat(levels);
}

function mediaReferences(): Bombs {
  const jp2 = '\0\0\0\x0cjP  \r\n\x87\n';
  return {
    'x.ppm: a picture of 10 to the power of 18': 'P6\n999999999 999999999\n65535\nabc',
    'x.pbm: comments without end': `P1\n${'#\n'.repeat(MIB)}`,
    'x.bmp: a picture of two billion lines': joined(
      'BM\xff\xff\xff\xff\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\x7f\xff\xff\xff\x7f\0\0\0\x80',
      new Uint8Array(64).fill(0xff),
    ),
    'x.xpm: a picture of words': [
      '/* XPM */\nstatic char *x[] = {\n"999999999 999999999 999999999 99999",\n',
      '"a c #000",\n'.repeat(100_000),
    ],
    'x.xbm: definitions without end': '#define x_width 999999999999\n'.repeat(100_000),
    'x.ico: sixty thousand pictures': joined(
      '\0\0\x01\0\xff\xff',
      '\0\0\0\0\0\0\0\0\xff\xff\xff\xff\0\0\0\0'.repeat(1000),
    ),
    'x.pcx: the greatest sizes': ['\x0a\x05\x01\x08\0\0\0\0\xff\xff\xff\xff', new Uint8Array(200).fill(0xff)],
    'x.webp: pieces of no size': joined('RIFF\xff\xff\xff\xffWEBP', 'EXIF\0\0\0\0'.repeat(200_000)),
    'y.webp: a piece of 4 GB': 'RIFF\xff\xff\xff\xffWEBPXMP \xff\xff\xff\xffx',
    'big.tif: a directory of 2 to the power of 63 entries': joined(
      'II+\0\x08\0\0\0\x10\0\0\0\0\0\0\0',
      new Uint8Array(64).fill(0x7f),
    ),
    'x.jp2: boxes in boxes': jp2 + boxes(100_000),
    'zero.jp2: boxes of no size': jp2 + '\0\0\0\0jp2h'.repeat(200_000),
    'x.mp4: boxes in boxes': `\0\0\0\x18ftypisom\0\0\0\0isommp42${boxes(100_000)}`,
    'x.mid: tracks of 4 GB': [
      'MThd\0\0\0\x06\0\x01\xff\xff\0\x60',
      'MTrk\xff\xff\xff\xff\0\xff\x03\xff\xff\xff\x7f'.repeat(50_000),
    ],
    'x.au: a comment of 4 GB': '.snd\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\x01comment',
    'x.aiff: pieces of no size': `FORM\xff\xff\xff\xffAIFF${'NAME\0\0\0\0'.repeat(200_000)}`,
    'x.djvu: forms in forms': `AT&TFORM\xff\xff\xff\xffDJVM${'FORM\xff\xff\xff\xffDJVU'.repeat(100_000)}`,
    'x.pfb: segments of 4 GB': '\x80\x01\xff\xff\xff\xff%!PS-AdobeFont-1.0: X\n'.repeat(10_000),
    'x.woff: tables of 4 GB': ['wOFF\0\x01\0\0\xff\xff\xff\xff\xff\xff\0\0', new Uint8Array(2000).fill(0xff)],
    'x.gdbm: a bucket of 2 GB': joined('\xce\x9a\x57\x13', new Uint8Array(4096).fill(0x7f)),
    'x.sqlite: pages of pages': joined('SQLite format 3\0', new Uint8Array(4096).fill(0xff)),
  };
}

function recordReferences(): Bombs {
  const warc = (length: string) =>
    `WARC/1.0\r\nWARC-Type: response\r\nContent-Length: ${length}\r\n\r\nHTTP/1.0 200 OK\r\n\r\nx`;
  return {
    'body.soif: a value of 4 GB': '@FILE { http://a/\nBody{4294967295}:\tx',
    'digits.soif: a length of a million digits': `@FILE { http://a/\nBody{${'9'.repeat(MIB)}}:\tx`,
    'many.soif: a million attributes': `@FILE { http://a/\n${'A{1}:\tx\n'.repeat(1_000_000)}}\n`,
    'name.soif: a name of ten megabytes': `@FILE { http://a/\n${'N'.repeat(10 * MIB)}{1}:\tx\n}\n`,
    'objects.soif: five hundred thousand objects': '@FILE { http://a/\n}\n'.repeat(500_000),
    'deep.soif: objects in objects': '@FILE { http://a/\nBody{9}:\t'.repeat(200_000),
    'url.soif: a URL of ten megabytes': `@FILE { ${'u'.repeat(10 * MIB)}\n}\n`,
    'x.warc: a record of 10 to the power of 11 bytes': warc('99999999999'),
    'many.warc: a hundred thousand records of no length': `${warc('0')}\r\n\r\n`.repeat(50_000),
    'x.warc.gz: records in gzip members': joined(...Array.from({ length: 5000 }, () => gzipSync(warc('-1')))),
    'x.arc: a record with a false length':
      'filedesc://a 0.0.0.0 19980101000000 text/plain 76\n1 0 x\nURL IP-address Archive-date Content-type Archive-length\n\nhttp://a/ 1.1.1.1 19980101000000 text/html 99999999999\nx',
    'x.src: descriptions in descriptions': `(:source\n${'(:a '.repeat(500_000)}`,
    'x.pod: lists in lists': '=over 4\n\n=item x\n\n'.repeat(200_000),
    's.x: a million deltas': [
      '\x01h00000\n',
      '\x01s 99999/99999/99999\n\x01d D 1.1 98/01/01 00:00:00 a 99999 99998\n'.repeat(50_000),
    ],
  };
}

/** All bombs of references. */
export function referenceBombs(random: Random): Bomb[] {
  const noise = random.bytes(20_000);
  return bombsOf({
    ...officeReferences(),
    ...markupReferences(),
    ...pdfReferences(),
    ...mediaReferences(),
    ...recordReferences(),
    'noise: random bytes': noise,
  });
}
