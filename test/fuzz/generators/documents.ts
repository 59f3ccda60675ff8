// PDF, PostScript and other documents with their structure, nested filters and repeated constructs included.
import { deflateSync } from 'node:zlib';
import type { Random } from '../../helpers/random.js';
import { bytesOf, latin1, wordsIn } from '../target.js';

const NAMES = (
  '/Length /Filter /FlateDecode /ASCIIHexDecode /ASCII85Decode /LZWDecode /RunLengthDecode /Type ' +
  '/Page /Pages /Kids /Count /Font /Parent /Prev /Size /Root /Encrypt /ObjStm /XRef /W /Index ' +
  '/First /N /DecodeParms /Predictor /Columns /ToUnicode /Contents /Resources'
).split(' ');

function pdfValue(random: Random, depth = 0): string {
  if (depth > 3) return '1';
  switch (random.below(9)) {
    case 0:
      return `${random.between(0, 8)} 0 R`;
    case 1:
      return random.pick(NAMES);
    case 2:
      return `[${random.list(4, () => pdfValue(random, depth + 1)).join(' ')}]`;
    case 3:
      return `<<${random.list(4, () => `${random.pick(NAMES)} ${pdfValue(random, depth + 1)}`).join(' ')}>>`;
    case 4:
      return random.pick(['(text)', '(a\\(b)', '<48656c6c6f>', '(\\376\\377\\000a)', '(D:20260101)']);
    case 5:
      return String(random.pick([-1, 0, 1, 3, 255, 65535, 2147483647, 1e10]));
    default:
      return String(random.below(20));
  }
}

function pdfStream(random: Random): string {
  const operators = random.list(12, () =>
    random.pick(
      wordsIn(
        "BT|ET|/F1 12 Tf|72 700 Td|(Hello) Tj|[(a) -200 (b)] TJ|0 -14 Td|(x) '|q|Q|/X0 Do|" +
          '1 0 0 1 0 0 cm|T*|BI /W 1 /H 1 ID x EI',
      ),
    ),
  );
  let data = Buffer.from(operators.join('\n'), 'latin1');
  const filters: string[] = [];
  for (let i = random.once(2) ? 0 : random.below(3); i > 0; i--) {
    if (random.once(3)) {
      data = Buffer.from(`${data.toString('hex')}>`);
      filters.unshift('/ASCIIHexDecode');
    } else {
      data = deflateSync(data);
      filters.unshift('/FlateDecode');
    }
  }
  const filter = filters.length === 0 ? '' : `/Filter [${filters.join(' ')}]`;
  return `<< /Length ${random.once(8) ? random.below(999) : data.length} ${filter} >> stream\n${data.toString('latin1')}\nendstream`;
}

export function pdf(random: Random): Uint8Array {
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [3 0 R${random.once(4) ? ' 2 0 R' : ''}] /Count ${random.once(5) ? random.below(99999) : 1} >>`,
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> /XObject << /X0 4 0 R >> >> >>',
    pdfStream(random),
    random.once(3) ? pdfValue(random) : '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    '<< /Title (The title) /Author (A. Author) >>',
  ];
  if (random.once(2))
    objects[random.below(objects.length)] = random.once(2) ? pdfValue(random) : pdfStream(random);
  const body = objects.map((object, i) => `${i + 1} 0 obj ${object} endobj\n`).join('');
  const trailer = random.once(6)
    ? `trailer ${pdfValue(random)}`
    : 'trailer << /Root 1 0 R /Info 6 0 R /Size 7 >>';
  return bytesOf(`%PDF-1.4\n${body}${trailer}\n%%EOF\n`);
}

const POSTSCRIPT = (
  'dup exch pop copy roll index def begin end dict array string get put forall for repeat loop ' +
  'exit if ifelse exec bind load store show ashow widthshow moveto rmoveto gsave grestore findfont ' +
  'scalefont setfont add sub mul div idiv mod neg cvs cvi cvn cvx length getinterval putinterval ' +
  'search anchorsearch token aload astore mark counttomark cleartomark stopped stop eq ne lt true ' +
  'false not and bitshift currentfile readline readstring readhexstring image save restore where ' +
  'known currentdict systemdict userdict /a /b a b (text) (Hello) <48656c> <~87cUR~> 1 2 10 100 ' +
  '100000 -1 16#ff 1.5 [ ] << >> translate rotate concat showpage kshow xyshow glyphshow ' +
  'definefont StandardEncoding eexec run sqrt exp maxlength'
).split(' ');

function procedure(random: Random, depth: number): string {
  const words = random.list(8, () => {
    if (depth < 4 && random.once(6)) return `{ ${procedure(random, depth + 1)} }`;
    return random.pick(POSTSCRIPT);
  });
  return words.join(' ');
}

export function postscript(random: Random): Uint8Array {
  const head = random.once(3) ? '%!PS-Adobe-2.0\n%%Title: (x)\n%%Pages: 1\n%%EndComments\n' : '%!\n';
  const lines = random.list(8, () => {
    if (random.once(3)) return `/${random.pick(['a', 'b', 's'])} { ${procedure(random, 0)} } def`;
    if (random.once(3))
      return `${random.pick(['1 1 3', '10', '(ab)', '[1 2]'])} { ${procedure(random, 0)} } ${random.pick(['for', 'repeat', 'forall', 'loop', 'if'])}`;
    return procedure(random, 0);
  });
  return bytesOf(`${head}${lines.join('\n')}\n`);
}

/** Text with the markup of a format: words of `pieces`, in any order and nesting. */
export function markup(random: Random, pieces: readonly string[]): Uint8Array {
  return bytesOf(random.list(40, () => random.pick(pieces)).join(random.pick(['', ' ', '\n'])));
}

/** Bytes as Latin-1, with a change in one in two. */
export function damaged(random: Random, bytes: Uint8Array): Uint8Array {
  if (random.once(2)) return bytes;
  const text = latin1(bytes);
  const at = random.below(text.length);
  return bytesOf(
    text.slice(0, at) + latin1(random.bytes(random.below(4))) + text.slice(at + random.below(4)),
  );
}
