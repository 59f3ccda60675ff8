// PDF files that expand: nested filters, false sizes, loops in every tree.
import { deflateSync } from 'node:zlib';
import type { Random } from '../random.js';
import { type Bomb, joined } from './bomb.js';

type PdfObject = string | Uint8Array;

const CATALOG = '<</Type/Catalog/Pages 2 0 R>>';
const ONE_PAGE = '<</Type/Pages/Kids[3 0 R]/Count 1>>';

/** Assembles a PDF file of objects, numbered from 1; the first one is the catalog. */
export function pdfOf(objects: readonly PdfObject[], trailer = ''): Uint8Array {
  const pieces: (string | Uint8Array)[] = ['%PDF-1.5\n'];
  let length = 9;
  const offsets: number[] = [];
  for (const [index, object] of objects.entries()) {
    offsets.push(length);
    const piece = joined(`${index + 1} 0 obj\n`, object, '\nendobj\n');
    pieces.push(piece);
    length += piece.length;
  }
  const lines = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  pieces.push(
    `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${lines}`,
    `trailer\n<</Size ${objects.length + 1}/Root 1 0 R${trailer}>>\nstartxref\n${length}\n%%EOF\n`,
  );
  return joined(...pieces);
}

/** A stream object; `dictionary` may set a false /Length. */
export function stream(dictionary: string, content: string | Uint8Array): Uint8Array {
  const data = joined(content);
  const size = dictionary.includes('/Length') ? '' : `/Length ${data.length}`;
  return joined(`<<${dictionary}${size}>>\nstream\n`, data, '\nendstream');
}

/** A file with one page that has this content and these resources. */
function page(content: PdfObject, resources = '', more: readonly PdfObject[] = []): Uint8Array {
  return pdfOf([
    CATALOG,
    ONE_PAGE,
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<<${resources}>>/Contents 4 0 R>>`,
    content,
    ...more,
  ]);
}

/** `bytes` of one value, deflated `times` times. */
export function deflated(bytes: number, times: number, value = 0x20): Uint8Array {
  let data: Uint8Array = new Uint8Array(bytes).fill(value);
  for (let i = 0; i < times; i++) data = deflateSync(data, { level: 9 });
  return new Uint8Array(data);
}

const flate = (times: number): string => `/Filter[${'/FlateDecode'.repeat(times)}]`;

/** Forms that draw the next one twice, `levels` deep; object `first` is the outermost. */
function doublingForms(levels: number, first: number, text = ''): Uint8Array[] {
  return Array.from({ length: levels }, (_, i) => {
    const next = i + 1 < levels;
    return stream(
      `/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<<${next ? `/XObject<</X ${first + 1 + i} 0 R>>` : ''}/Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>`,
      joined(text, next ? '/X Do /X Do' : ''),
    );
  });
}

/** A file of twenty thousand pages, each of which takes long and little memory: 16,384 empty forms. */
export function endlessPdf(): Uint8Array {
  const pages = 20_000;
  return pdfOf([
    CATALOG,
    `<</Type/Pages/Kids[${'3 0 R '.repeat(pages)}]/Count ${pages}>>`,
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</XObject<</X 5 0 R>>>>/Contents 4 0 R>>',
    stream('', '/X Do'),
    ...doublingForms(14, 5),
  ]);
}

/** A file with this content and a font F. */
export function pdfWith(dictionary: string, content: Uint8Array): Uint8Array {
  return page(stream(dictionary, content), '/Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>');
}

/** Run lengths: two bytes become 128. */
function runs(pairs: number): Uint8Array {
  const data = new Uint8Array(pairs * 2 + 1).fill(0x20);
  for (let i = 0; i < pairs; i++) data[i * 2] = 129;
  data[pairs * 2] = 128;
  return data;
}

/** All PDF bombs; sizes vary by the seed. `mib` is what each expands to. */
export function pdfBombs(random: Random, mib = 600): Bomb[] {
  const bytes = (mib + random.below(64)) * 1024 * 1024;
  const thrice = () => deflated(bytes, 3);
  const kids = (count: number, text: string): string => text.repeat(count);
  const bombs: Readonly<Record<string, () => string | Uint8Array>> = {
    'three nested FlateDecode filters': () => page(stream(flate(3), thrice())),
    'two nested FlateDecode filters': () => page(stream(flate(2), deflated(bytes, 2))),
    'FlateDecode of run lengths': () =>
      page(
        stream(
          '/Filter[/FlateDecode/FlateDecode/RunLengthDecode]',
          new Uint8Array(deflateSync(deflateSync(runs(bytes / 128)))),
        ),
      ),
    'ASCIIHexDecode after FlateDecode': () =>
      page(stream('/Filter[/FlateDecode/FlateDecode/ASCIIHexDecode]', deflated(bytes, 2, 0x32))),
    'ASCII85Decode of zeros': () =>
      page(stream('/Filter[/FlateDecode/FlateDecode/ASCII85Decode]', deflated(bytes / 4, 2, 0x7a))),
    'a predictor with a million columns': () =>
      page(
        stream(
          `${flate(1)}/DecodeParms<</Predictor 15/Columns 100000000/Colors 32/BitsPerComponent 16>>`,
          deflated(1 << 20, 1),
        ),
      ),
    'a TIFF predictor with a huge row': () =>
      page(
        stream(`${flate(1)}/DecodeParms<</Predictor 2/Columns 2000000000/Colors 4>>`, deflated(1 << 20, 1)),
      ),
    'an inline image of a huge size': () =>
      page(
        stream('', joined('BI /W 100000 /H 100000 /BPC 16 /CS /RGB /F /Fl ID ', deflated(1 << 20, 1), ' EI')),
      ),
    'forms that draw each other': () =>
      page(stream('', '/X Do'), '/XObject<</X 5 0 R>>', [
        stream('/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 6 0 R>>>>', '/X Do /X Do'),
        stream('/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 5 0 R>>>>', '/X Do /X Do'),
      ]),
    'forms that double, thirty levels deep': () =>
      page(stream('', '/X Do'), '/XObject<</X 5 0 R>>', doublingForms(30, 5, 'BT /F 9 Tf (x) Tj ET ')),
    'twenty thousand pages of forms that double': () => endlessPdf(),
    'an object stream that claims a billion objects': () =>
      pdfOf([CATALOG, ONE_PAGE, stream(`/Type/ObjStm/N 1000000000/First 10${flate(3)}`, thrice())]),
    'a cross-reference stream with wide fields': () =>
      crossReference('/W[1000000 1000000 1000000]/Size 1000000000', deflated(1 << 20, 1)),
    'a cross-reference stream of two billion entries': () =>
      crossReference('/W[1 0 0]/Size 2000000000/Index[0 2000000000]', deflated(bytes / 2, 1, 1)),
    'a cross-reference table of a billion entries': () =>
      joined(
        '%PDF-1.4\n',
        'xref\n0 1000000000\n',
        '0000000000 65535 f \n'.repeat(1000),
        'trailer<</Size 1000000000/Root 1 0 R>>\nstartxref\n9\n%%EOF',
      ),
    'cross-reference tables in a circle': () =>
      '%PDF-1.4\nxref\n0 1\n0000000000 65535 f \ntrailer<</Size 1/Root 1 0 R/Prev 9>>\nstartxref\n9\n%%EOF',
    'a page tree that is a circle': () => pdfOf([CATALOG, '<</Type/Pages/Kids[2 0 R 2 0 R]/Count 1000000>>']),
    'a page tree with a million kids': () =>
      pdfOf([
        CATALOG,
        `<</Type/Pages/Kids[${kids(300_000, '3 0 R ')}]/Count 300000>>`,
        '<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>',
      ]),
    'a page tree that claims a billion pages': () =>
      pdfOf([
        CATALOG,
        '<</Type/Pages/Kids[3 0 R]/Count 1000000000>>',
        '<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>',
      ]),
    'a character map with huge ranges': () =>
      page(stream('', 'BT /F 9 Tf (xyz) Tj ET'), '/Font<</F 5 0 R>>', [
        '<</Type/Font/Subtype/Type0/BaseFont/A/Encoding 6 0 R/ToUnicode 6 0 R/DescendantFonts[<</Type/Font/Subtype/CIDFontType2/BaseFont/A/CIDSystemInfo<</Registry(A)/Ordering(B)/Supplement 0>>/W[0 2000000000 500]>>]>>',
        stream(
          '/Type/CMap/CMapName/A',
          joined(
            'begincmap 1 begincodespacerange <00000000> <ffffffff> endcodespacerange\n',
            '2 begincidrange <00000000> <7fffffff> 0 endcidrange\n1 beginbfrange <00000000> <7fffffff> <0000> endbfrange endcmap',
          ),
        ),
      ]),
    'deep arrays': () => page(`${'['.repeat(200_000)}${']'.repeat(200_000)}`),
    'deep dictionaries': () => page('<</A'.repeat(200_000)),
    'an array of a million references to streams': () =>
      pdfOf([
        CATALOG,
        ONE_PAGE,
        `<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents[${kids(100_000, '4 0 R ')}]>>`,
        stream(flate(1), deflated(1 << 20, 1)),
      ]),
    'a length that refers to itself': () => page('<</Length 4 0 R>>\nstream\nBT (x) Tj ET\nendstream'),
    'a length of two gigabytes': () => page('<</Length 2147483647>>\nstream\nBT (x) Tj ET\nendstream'),
    'an image of JBIG2 with a huge page': () =>
      page(
        stream(
          '/Filter/JBIG2Decode',
          '\x00\x00\x00\x00\x30\x00\x01\x00\x00\x00\x13\x7f\xff\xff\xff\x7f\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00',
        ),
      ),
    'content in JPX with a huge size': () =>
      page(
        stream(
          '/Filter/JPXDecode',
          '\xff\x4f\xff\x51\x00\x2f\x00\x00\x7f\xff\xff\xff\x7f\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00\x7f\xff\xff\xff\x7f\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x07\x01\x01\x07\x01\x01\x07\x01\x01',
        ),
      ),
    'content in DCT with a huge size': () =>
      page(
        stream(
          '/Filter/DCTDecode',
          '\xff\xd8\xff\xc0\x00\x11\x08\xff\xff\xff\xff\x03\x01\x22\x00\x02\x11\x01\x03\x11\x01\xff\xda\x00\x0c\x03\x01\x00\x02\x11\x03\x11\x00\x3f\x00',
        ),
      ),
    'content in CCITT fax with a huge size': () =>
      page(
        stream(
          '/Filter/CCITTFaxDecode/DecodeParms<</K 0/Columns 2000000000/Rows 2000000000>>',
          random.bytes(2000),
        ),
      ),
    'a document title of a gigabyte': () =>
      pdfOf(
        [
          '<</Type/Catalog/Pages 2 0 R/Metadata 3 0 R>>',
          '<</Type/Pages/Kids[]/Count 0>>',
          stream(`/Type/Metadata/Subtype/XML${flate(3)}`, thrice()),
        ],
        '/Info<</Title(x)>>',
      ),
    'a type 3 font whose glyphs draw text': () =>
      page(stream('', 'BT /F 9 Tf (aaaa) Tj ET'), '/Font<</F 5 0 R>>', [
        '<</Type/Font/Subtype/Type3/FontBBox[0 0 9 9]/FontMatrix[1 0 0 1 0 0]/CharProcs<</a 6 0 R>>/Encoding<</Differences[97/a]>>/FirstChar 97/LastChar 97/Widths[9]/Resources<</Font<</F 5 0 R>>>>>>',
        stream('', '9 0 d0 BT /F 9 Tf (aaaaaaaa) Tj ET'),
      ]),
    'a function with a huge table': () =>
      page(stream('', '/P sh'), '/Shading<</P<</ShadingType 1/ColorSpace/DeviceRGB/Function 5 0 R>>>>', [
        stream(
          '/FunctionType 0/Domain[0 1 0 1 0 1]/Range[0 1]/Size[10000 10000 10000]/BitsPerSample 32',
          random.bytes(100),
        ),
      ]),
    'a million text operators': () =>
      page(stream(flate(1), new Uint8Array(deflateSync(Buffer.from('BT (x) Tj ET\n'.repeat(3_000_000)))))),
  };
  return Object.entries(bombs).map(([what, body], index) => ({
    name: `${index}.pdf`,
    what,
    body: () => joined(body()),
  }));
}

function crossReference(dictionary: string, data: Uint8Array): Uint8Array {
  return joined(
    '%PDF-1.5\n',
    '1 0 obj\n',
    stream(`/Type/XRef/Root 2 0 R/Filter/FlateDecode${dictionary}`, data),
    '\nendobj\nstartxref\n9\n%%EOF',
  );
}
