// Office documents, pictures, sound and fonts with false sizes, loops and expansions.
import { deflateRawSync, deflateSync } from 'node:zlib';
import { zip } from '../archives.js';
import type { Random } from '../random.js';
import { type Bomb, bombsOf, joined, latin1Bytes, once, series } from './bomb.js';

const MIB = 1024 * 1024;

const TYPES = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>';

/** A zip archive of texts (Latin-1) and bytes. */
export function office(members: readonly (readonly [string, string | Uint8Array])[]): Uint8Array {
  return new Uint8Array(
    zip(members.map(([name, body]) => [name, typeof body === 'string' ? latin1Bytes(body) : body] as const)),
  );
}

function docx(document: string | Uint8Array): Uint8Array {
  return office([
    ['[Content_Types].xml', TYPES],
    ['word/document.xml', document],
  ]);
}

export function opendocument(content: string | Uint8Array): Uint8Array {
  return office([
    ['mimetype', 'application/vnd.oasis.opendocument.text'],
    ['content.xml', content],
  ]);
}

const ENTITIES = `<!DOCTYPE x [<!ENTITY a "${'lol'.repeat(10)}">${series(12, (i) => `<!ENTITY ${String.fromCharCode(98 + i)} "${`&${String.fromCharCode(97 + i)};`.repeat(10)}">`)}]>`;

/**
 * An OLE compound file whose allocation table is `table`. The header has these numbers at these offsets: before
 * 44 they are of two bytes, from there of four.
 */
function compound(
  table: (index: number) => number,
  fields: Readonly<Record<number, number>> = {},
): Uint8Array {
  const sectors = 200;
  const file = Buffer.alloc(512 * (sectors + 1));
  Buffer.from('d0cf11e0a1b11ae1', 'hex').copy(file);
  const header = new DataView(file.buffer, file.byteOffset, 512);
  header.setUint16(24, 0x3e, true);
  header.setUint16(26, 3, true);
  header.setUint16(28, 0xfffe, true);
  header.setUint16(30, 9, true);
  header.setUint16(32, 6, true);
  header.setUint32(44, 1, true);
  header.setUint32(48, 1, true);
  header.setUint32(56, 4096, true);
  header.setUint32(60, 0xfffffffe, true);
  header.setUint32(68, 0xfffffffe, true);
  for (let i = 0; i < 109; i++) header.setUint32(76 + 4 * i, i === 0 ? 0 : 0xffffffff, true);
  for (let i = 0; i < 128; i++) file.writeUInt32LE(table(i) >>> 0, 512 + 4 * i);
  for (const [index, name] of ['Root Entry', 'WordDocument', 'Workbook', '1Table'].entries()) {
    const at = 1024 + 128 * index;
    file.write(name, at, 'utf16le');
    file.writeUInt16LE(name.length * 2 + 2, at + 64);
    file[at + 66] = index === 0 ? 5 : 2;
    file.writeUInt32LE(index, at + 68);
    file.writeUInt32LE(index + 1, at + 72);
    file.writeUInt32LE(1, at + 76);
    file.writeUInt32LE(2, at + 116);
    file.writeUInt32LE(0x7fffffff, at + 120);
  }
  for (const [offset, value] of Object.entries(fields)) {
    if (Number(offset) < 44) header.setUint16(Number(offset), value, true);
    else header.setUint32(Number(offset), value, true);
  }
  return new Uint8Array(file);
}

function png(chunks: readonly (readonly [string, Uint8Array])[]): Uint8Array {
  const pieces = chunks.map(([type, data]) => {
    const size = Buffer.alloc(4);
    size.writeUInt32BE(data.length);
    return joined(size, type, data, '\0\0\0\0');
  });
  return joined(
    '\x89PNG\r\n\x1a\n',
    '\x00\x00\x00\x0dIHDR\x7f\xff\xff\xff\x7f\xff\xff\xff\x08\x06\x00\x00\x00\x00\x00\x00\x00',
    ...pieces,
  );
}

/** A TIFF file whose first directory is at 8. */
function tiff(
  next: number,
  entries: readonly (readonly [tag: number, type: number, count: number, value: number])[],
): Uint8Array {
  const file = Buffer.alloc(8 + 2 + 12 * entries.length + 4 + 64);
  file.write('II*\0', 0, 'latin1');
  file.writeUInt32LE(8, 4);
  file.writeUInt16LE(entries.length, 8);
  for (const [index, [tag, type, count, value]] of entries.entries()) {
    const at = 10 + 12 * index;
    file.writeUInt16LE(tag, at);
    file.writeUInt16LE(type, at + 2);
    file.writeUInt32LE(count >>> 0, at + 4);
    file.writeUInt32LE(value >>> 0, at + 8);
  }
  file.writeUInt32LE(next, 10 + 12 * entries.length);
  return new Uint8Array(file);
}

/** All bombs of office documents and media. */
export function officeBombs(random: Random): Bomb[] {
  const zeros = new Uint8Array(300 * MIB + random.below(MIB));
  const packed = once(() => new Uint8Array(deflateSync(zeros, { level: 9 })));
  const exif = tiff(8, [
    [0x8769, 4, 1, 8],
    [0x010e, 2, 0xffffffff, 4],
    [0x0132, 2, 0x7fffffff, 8],
    [0x8825, 4, 1, 8],
  ]);
  return bombsOf({
    'x.docx: a document of spaces': () => docx(new Uint8Array(zeros.length).fill(0x20)),
    'e.docx: entities of entities': () =>
      docx(`${ENTITIES}<w:document><w:body><w:p><w:t>&m;</w:t></w:p></w:body></w:document>`),
    'd.docx: elements a million deep': () => docx('<w:p>'.repeat(1_000_000)),
    'a.docx: an element with a million attributes': () =>
      docx(`<w:p ${series(200_000, (i) => `a${i}="x"`, ' ')}>`),
    't.docx: a tag of many megabytes': () => docx(`<w:t a="${'x'.repeat(20 * MIB)}`),
    'x.xlsx: shared strings without end': () =>
      office([
        ['[Content_Types].xml', TYPES],
        ['xl/workbook.xml', '<workbook/>'],
        ['xl/sharedStrings.xml', `<sst count="4000000000">${'<si><t>a</t></si>'.repeat(2_000_000)}`],
      ]),
    'x.odt: content of zeros': () => opendocument(zeros),
    'r.odt: spaces that are counted': () =>
      opendocument('<office:text><text:p><text:s text:c="2000000000"/></text:p></office:text>'),
    'm.odt: a hundred thousand members': () =>
      office([
        ['mimetype', 'application/vnd.oasis.opendocument.text'],
        ...Array.from({ length: 50_000 }, (_, i) => [`${i}.xml`, 'x'] as const),
      ]),
    'l.doc: a chain of sectors that is a circle': () => compound(() => 1),
    's.doc: a sector size of 2 to the power of 31': () => compound(() => 1, { 30: 31 }),
    'm.doc: a small sector size of 0': () => compound(() => 1, { 32: 0 }),
    'f.doc: two billion table sectors': () => compound(() => 1, { 44: 0x7fffffff, 68: 1, 72: 0x7fffffff }),
    'l.xls: a chain of sectors that is a circle': () => compound((index) => index),
    's.xls: a sector size of 2 to the power of 16': () => compound(() => 1, { 30: 16 }),
    'd.doc: tables of tables in a circle': () => compound(() => 2, { 68: 2, 72: 0xffffffff }),
    'x.wpd: a WordPerfect packet of 4 GB': () =>
      joined(
        '\xffWPC\x10\x00\x00\x00\x01\x0a\x02\x01\x00\x00\x00\x00\xfb\xff\x05\x00\xff\xff\xff\xff',
        random.bytes(5000),
      ),
    'x.rtf: binary data of 2 GB': () => `{\\rtf1 \\bin2147483647 ${'x'.repeat(1000)}}`,
    'g.rtf: groups a million deep': () => `{\\rtf1 ${'{'.repeat(1_000_000)}`,
    'u.rtf: a million characters that skip the next': () => `{\\rtf1 \\uc100000 ${'\\u97 ?'.repeat(200_000)}`,
    'c.rtf: controls with huge numbers': () => `{\\rtf1 ${'\\u99999999999999999999999\\par'.repeat(50_000)}`,
    'x.png: a compressed text': () => png([['zTXt', joined('Comment\0\0', packed())]]),
    'y.png: a colour profile': () => png([['iCCP', joined('p\0\0', packed())]]),
    'i.png: an international text': () => png([['iTXt', joined('Title\0\x01\0\0\0', packed())]]),
    'n.png: a hundred thousand chunks': () =>
      png(Array.from({ length: 60_000 }, () => ['tEXt', latin1Bytes('Title\0x')] as const)),
    'x.jpg: an Exif block whose directories are a circle': () =>
      joined(
        '\xff\xd8\xff\xe1',
        Uint8Array.from([(exif.length + 8) >> 8, (exif.length + 8) & 255]),
        'Exif\0\0',
        exif,
        '\xff\xd9',
      ),
    'y.jpg: two hundred thousand segments': () => joined('\xff\xd8', '\xff\xfe\x00\x04ab'.repeat(200_000)),
    'p.jpg: a profile that claims 65535 parts': () =>
      joined('\xff\xd8', '\xff\xe2\x00\x14ICC_PROFILE\0\x01\xffabcd'.repeat(50_000)),
    'x.tif: directories in a circle': () =>
      tiff(8, [
        [0x8769, 4, 1, 8],
        [0x014a, 4, 0xffffffff, 8],
      ]),
    'y.tif: a value of 16 GB': () =>
      tiff(0, [
        [0x010e, 12, 0xffffffff, 8],
        [0x02bc, 7, 0xffffffff, 0],
      ]),
    'x.gif: comments without end': () =>
      joined('GIF89a\xff\xff\xff\xff\xf7\x00\x00', new Uint8Array(768), '\x21\xfe', '\x01a'.repeat(500_000)),
    'x.mp3: a tag of 256 MB': () => ['ID3\x03\x00\x00\x7f\x7f\x7f\x7f', 'TIT2\x7f\xff\xff\xff\x00\x00\x00x'],
    'y.mp3: a hundred thousand frames': () =>
      joined('ID3\x04\x00\x00\x7f\x7f\x7f\x7f', 'TXXX\x00\x00\x00\x01\x00\x00\x00'.repeat(200_000)),
    'z.mp3: compressed frames': () =>
      joined(
        'ID3\x03\x00\x00\x00\x0f\x7f\x7f',
        'TIT2\x00\x01\x00\x00\x00\x80\x7f\xff\xff\xff',
        new Uint8Array(deflateSync(zeros.subarray(0, 60 * MIB))),
      ),
    'x.wav: chunks of no size': () => ['RIFF\xff\xff\xff\xffWAVE', 'LIST\x00\x00\x00\x00'.repeat(200_000)],
    'x.ogg: a comment of 4 GB': () =>
      joined(
        'OggS\0\x02',
        new Uint8Array(20),
        '\x01\x1e\x01vorbis',
        new Uint8Array(23),
        'OggS\0\0',
        new Uint8Array(20),
        '\x01\xff\x03vorbis\xff\xff\xff\xff\xff\xff\xff\xff',
      ),
    'x.flac: a block of 16 MB in a circle': () => ['fLaC', '\x04\xff\xff\xff\xff\xff\xff\xff'.repeat(1000)],
    'x.ttf: a table of 4 GB': () =>
      joined(
        '\x00\x01\x00\x00\xff\xff\x00\x00\x00\x00\x00\x00',
        'name\x00\x00\x00\x00\x00\x00\x00\x0c\xff\xff\xff\xff'.repeat(65535),
      ),
    'x.bdf: a hundred thousand properties': () =>
      `STARTFONT 2.1\nSTARTPROPERTIES 1000000000\n${'COMMENT x\n'.repeat(200_000)}`,
    'x.o: an ELF file with 65535 sections of 2^63 bytes': () =>
      joined(
        '\x7fELF\x02\x01\x01',
        new Uint8Array(9),
        '\x01\x00\x3e\x00\x01\x00\x00\x00',
        new Uint8Array(16),
        '\x40\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x40\x00\x00\x00\x00\x00\x40\x00\xff\xff\x01\x00',
        new Uint8Array(64 * 100).fill(0x7f),
      ),
    'x.a: a symbol table of 4 billion names': () =>
      joined(
        '!<arch>\n',
        '/               0           0     0     0       100       `\n',
        '\xff\xff\xff\xff',
        new Uint8Array(96).fill(0xff),
      ),
    'z.docx: a deflated document without its archive': () =>
      new Uint8Array(deflateRawSync(zeros.subarray(0, MIB))),
  });
}
