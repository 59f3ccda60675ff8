// The summarizers of sound, films and pictures: metadata of containers, and damaged files.

import fc from 'fast-check';
import t from 'tap';
import { compileEssence, readEssenceSources } from '../../../servers/essence/index.js';
import { recognize } from '../../../servers/essence/recognize.js';
import { summarizeDocument } from '../../../servers/essence/summarize.js';
import { TagTexts } from '../../../servers/essence/summarizers/media/facts.js';
import { id3v2 } from '../../../servers/essence/summarizers/media/id3.js';
import { assertProperty } from '../../helpers/property.js';
import { encodeEightBit } from './charset/encode.js';
import {
  avi,
  box,
  chunk,
  element,
  item,
  itunes,
  matroska,
  mp4,
  png,
  quickTimeText,
  simpleTag,
  u32,
  webp,
} from './fixtures/media-files.js';
import { contentOf, IDENTITY, inputOf } from './helpers.js';

const options = { ...IDENTITY, keywords: false, description: false, trailingNewline: false };
const sources = { ...(await readEssenceSources({})), stoplist: { file: 'stoplist.cf', text: '' } };
const context = compileEssence(options, sources);

/** Returns the content attributes of a file, whose type is recognized by its name. */
async function contentOfFile(name: string, body: Uint8Array | string) {
  return contentOf(await summarizeDocument(inputOf(`http://a.test/${name}`, body), context));
}

t.test('6.2 MPEG-4: tags of iTunes, duration and size', async (t) => {
  const tags = itunes(
    item('\xa9nam', 'Title ä'),
    item('\xa9ART', 'Ada'),
    item('\xa9alb', 'Series'),
    item('\xa9day', '2020'),
    item('keyw', 'key'),
    item('desc', 'About'),
    item('\xa9too', 'program'),
  );
  const expected = {
    Title: 'Title ä',
    Author: 'Ada',
    'Series-Title': 'Series',
    Date: '2020',
    Keywords: 'key',
    Duration: '2.5',
  };
  t.same(await contentOfFile('a.mp4', mp4('isom', tags)), {
    ...expected,
    Description: 'About\nMPEG-4 video, 640 x 360 pixels, 2.5 seconds',
  });
  t.match(await contentOfFile('a.m4a', mp4('M4A ', tags)), { ...expected, Description: /MPEG-4 audio/ });
});

t.test('6.2 QuickTime and 3GPP: texts of the user data, keys of the metadata', async (t) => {
  t.match(
    await contentOfFile(
      'a.mov',
      mp4('qt  ', quickTimeText('\xa9nam', 'Old'), quickTimeText('\xa9aut', 'Ada')),
    ),
    {
      Title: 'Old',
      Author: 'Ada',
      Description: /^QuickTime video/,
    },
  );
  const key = (name: string) => box('mdta', `com.apple.quicktime.${name}`);
  const keys = box('keys', u32(0), u32(2), key('title'), key('creationdate'));
  const meta = box(
    'meta',
    box('hdlr', ''),
    keys,
    box('ilst', item('\0\0\0\x01', 'New'), item('\0\0\0\x02', '2024-01-01')),
  );
  t.match(await contentOfFile('a.mov', mp4('qt  ', meta)), { Title: 'New', Date: '2024-01-01' });
  const title = box('titl', u32(0), Buffer.from([0x15, 0xc7]), Buffer.from('\xfe\xff\0H\0i', 'latin1'));
  t.match(await contentOfFile('a.3gp', mp4('3gp4', title)), { Title: 'Hi', Description: /^3GPP video/ });
});

t.test('6.2 Matroska and WebM: title, tags behind the clusters, levels of tags', async (t) => {
  const album = element(
    0x7373,
    element(0x63c0, element(0x68ca, Buffer.from([50]))),
    simpleTag('TITLE', 'Album'),
  );
  const track = element(
    0x7373,
    element(0x63c0, element(0x68ca, Buffer.from([30]))),
    simpleTag('TITLE', 'Song'),
    simpleTag('artist', 'Ada'),
    simpleTag('GENRE', 'Jazz'),
  );
  t.same(await contentOfFile('a.mkv', matroska('matroska', album, track)), {
    'Series-Title': 'Album',
    Title: 'Song',
    Author: 'Ada',
    Keywords: 'Jazz',
    Description: 'Matroska video, 320 x 200 pixels, 3.0 seconds',
    Duration: '3.0',
  });
  t.match(await contentOfFile('a.webm', matroska('webm', album)), {
    Title: 'Album',
    Description: /^WebM video/,
  });
});

t.test('6.2 AVI: head and INFO; text that is not UTF-8', async (t) => {
  const info = [
    chunk('INAM', 'Film'),
    chunk('IART', Buffer.from('J\xfcrgen', 'latin1')),
    chunk('ICRD', '1999'),
    chunk('ICOP', 'me'),
  ];
  t.same(await contentOfFile('a.avi', avi(...info)), {
    Title: 'Film',
    Author: 'Jürgen',
    Date: '1999',
    Copyright: 'me',
    Description: 'AVI video, 160 x 120 pixels, 4.0 seconds',
    Duration: '4.0',
  });
});

t.test('6.2 MPEG audio: duration by the number of frames, or by the bit rate', async (t) => {
  const frame = Buffer.alloc(417);
  frame.set([0xff, 0xfb, 0x90, 0x00]);
  t.match(await contentOfFile('a.mp3', Buffer.concat(Array.from({ length: 100 }, () => frame))), {
    Duration: '2.6',
  });
  const first = Buffer.from(frame);
  first.write('Xing\0\0\0\x01\0\0\x03\xe8', 36, 'latin1');
  t.match(await contentOfFile('a.mp3', Buffer.concat([first, frame])), { Duration: '26.1' });
});

t.test(
  '6.2 PNG: plain, compressed and international texts; those beyond the limit are left out',
  async (t) => {
    const long = 'very '.repeat(20).trim();
    t.same(
      await contentOfFile(
        'a.png',
        png(
          ['tEXt', 'Title', 'Plain'],
          ['zTXt', 'Author', 'Packed'],
          ['iTXt', 'Description', 'Größe'],
          ['iTXt', 'Copyright', long],
          ['tEXt', 'Camera', 'x'],
          ['zTXt', 'Comment', 'a'.repeat(1_000_000)],
          ['tEXt', 'date:create', 'y'],
        ),
      ),
      {
        Title: 'Plain',
        Author: 'Packed',
        Description: 'Größe\nCamera: x\nPNG image, 256 x 16 pixels',
        Copyright: long,
      },
    );
  },
);

t.test('6.2 WebP: XMP; AVIF: size', async (t) => {
  t.same(await contentOfFile('a.webp', webp('Title', 'Ada')), {
    Title: 'Title',
    Author: 'Ada',
    Description: 'WebP image, 32 x 16 pixels',
  });
  const ispe = box('ispe', u32(0), u32(20), u32(30));
  const avif = Buffer.concat([
    box('ftyp', 'avif', u32(0)),
    box('meta', u32(0), box('hdlr', Buffer.alloc(25)), box('iprp', box('ipco', ispe))),
  ]);
  t.match(await contentOfFile('a.avif', avif), {
    Title: 'a.avif',
    Description: 'AVIF image, 20 x 30 pixels',
  });
});

t.test('6.2 GIF: comments and XMP, also behind pictures', async (t) => {
  const xmp =
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description ' +
    'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title><rdf:Alt><rdf:li xml:lang="x-default">A title</rdf:li></rdf:Alt></dc:title>' +
    '<dc:creator><rdf:Seq><rdf:li>Ada</rdf:li></rdf:Seq></dc:creator></rdf:Description></rdf:RDF></x:xmpmeta>';
  const head = Buffer.from('GIF89a\x10\0\x20\0\0\0\0', 'latin1');
  const comment = Buffer.from('!\xfe\x05hello\0', 'latin1');
  // The bytes of the packet are no sub-blocks; the trailer makes a reader of sub-blocks arrive at its end.
  const trailer = Buffer.from([1, ...Array.from({ length: 256 }, (_, i) => 255 - i), 0]);
  const application = Buffer.concat([
    Buffer.from('!\xff\x0bXMP DataXMP', 'latin1'),
    Buffer.from(xmp),
    trailer,
  ]);
  const picture = Buffer.from(',\0\0\0\0\x10\0\x20\0\0\x02\x02\x4c\x01\0', 'latin1');
  const end = Buffer.from(';');
  for (const parts of [
    [comment, application, picture],
    [comment, picture, application],
  ])
    t.same(await contentOfFile('a.gif', Buffer.concat([head, ...parts, end])), {
      Title: 'A title',
      Author: 'Ada',
      Description: 'hello\nGIF image, 16 x 32 pixels',
    });
  t.match(await contentOfFile('a.gif', Buffer.concat([head, application.subarray(0, 100)])), {
    Title: 'a.gif',
  });
});

t.test('6.2 AIFF and WAVE: tags as chunks, and an ID3 tag', async (t) => {
  const frame = (id: string, text: string) =>
    Buffer.concat([Buffer.from(id), u32(text.length + 1), Buffer.from([0, 0, 3]), Buffer.from(text)]);
  const frames = Buffer.concat([frame('TIT2', 'A title'), frame('TPE1', 'Ada')]);
  const tag = Buffer.concat([
    Buffer.from('ID3\x04\0\0\0\0\0', 'latin1'),
    Buffer.from([frames.length]),
    frames,
  ]);
  const bigEndian = (name: string, data: Buffer) =>
    Buffer.concat([Buffer.from(name), u32(data.length), data, Buffer.alloc(data.length % 2)]);
  const aiff = Buffer.concat([Buffer.from('FORM\0\0\0\0AIFF', 'latin1'), bigEndian('ID3 ', tag)]);
  t.match(await contentOfFile('a.aiff', aiff), { Title: 'A title', Author: 'Ada' });
  const wave = Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE', 'latin1'), chunk('id3 ', tag)]);
  t.match(await contentOfFile('a.wav', wave), { Title: 'A title', Author: 'Ada' });
  const own = Buffer.concat([
    Buffer.from('FORM\0\0\0\0AIFF', 'latin1'),
    bigEndian('NAME', Buffer.from('Own')),
    bigEndian('AUTH', Buffer.from('Eve')),
  ]);
  t.match(await contentOfFile('a.aiff', own), { Title: 'Own', Author: 'Eve' });
});

t.test('6.2 SVG: title, description, metadata, and the text that is shown', async (t) => {
  const svg =
    '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 20"><title>Plan</title><desc>Of a house</desc>' +
    '<metadata><rdf:RDF><cc:Work><dc:creator><cc:Agent><dc:title>Ada</dc:title></cc:Agent></dc:creator></cc:Work></rdf:RDF></metadata>' +
    '<style>no</style><g><title>Door</title><text>Main <tspan>door</tspan></text></g><script>no()</script></svg>';
  t.same(await contentOfFile('a.svg', svg), {
    Title: 'Plan',
    Description: 'Of a house\nSVG image, 10 x 20 pixels',
    Author: 'Ada',
    'Partial-Text': 'Door\nMain door',
  });
  t.match(await contentOfFile('a.svg', `<svg>${'<g>'.repeat(100_000)}`), { Title: 'a.svg' });
});

t.test('E-16 sound, films and pictures of one container are told apart by their first bytes', (t) => {
  const typeOf = (body: Uint8Array) => recognize(inputOf('http://a.test/x', body), context.rules).type;
  t.equal(typeOf(mp4('M4A ')), 'Audio');
  t.equal(typeOf(mp4('isom')), 'Video');
  t.equal(typeOf(mp4('avif')), 'Image');
  t.equal(typeOf(matroska('webm')), 'Video');
  t.equal(typeOf(avi()), 'Video');
  t.end();
});

t.test('E-45 cut, damaged and nested files: no exception, no end without limit', async (t) => {
  const files = [
    ['a.mp4', mp4('isom', itunes(item('\xa9nam', 'T')))],
    ['a.mkv', matroska('webm', element(0x7373, simpleTag('TITLE', 'T')))],
    ['a.avi', avi(chunk('INAM', 'T'))],
    ['a.png', png(['zTXt', 'Title', 'T'])],
    ['a.webp', webp('T', 'A')],
  ] as const;
  await assertProperty(
    fc.asyncProperty(
      fc.constantFrom(...files),
      fc.nat(),
      fc.nat(255),
      fc.nat(),
      async ([name, file], at, value, end) => {
        const damaged = Buffer.from(file);
        damaged[at % file.length] = value;
        const output = await summarizeDocument(
          inputOf(`http://a.test/${name}`, new Uint8Array(damaged.subarray(0, 1 + (end % file.length)))),
          context,
        );
        t.ok(output.soif !== undefined);
      },
    ),
    { numRuns: 300 },
  );
  let nested = box('free', '');
  for (let i = 0; i < 5000; i++)
    nested = Buffer.concat([u32(8 + nested.length), Buffer.from('moov'), nested]);
  t.match(await contentOfFile('a.mp4', Buffer.concat([box('ftyp', 'isom'), nested])), { Title: 'a.mp4' });
  const empty = Buffer.alloc(1_000_000, box('udta', ''));
  t.match(await contentOfFile('a.mp4', Buffer.concat([box('ftyp', 'isom'), empty])), { Title: 'a.mp4' });
  t.match(
    await contentOfFile(
      'a.mkv',
      Buffer.concat([element(0x1a45dfa3, ''), Buffer.alloc(1_000_000, element(0xec, ''))]),
    ),
    { Title: 'a.mkv' },
  );
});

t.test('E-77 an ID3 tag that declares ISO-8859-1 may be in the character set of the writer', (t) => {
  const frame = (text: Buffer) => {
    const head = Buffer.from('TIT2\0\0\0\0\0\0\0', 'latin1');
    head.writeUInt32BE(text.length + 1, 4);
    return Buffer.concat([
      Buffer.from([0x49, 0x44, 0x33, 3, 0, 0, 0, 0, 0, head.length + text.length]),
      head,
      text,
    ]);
  };
  for (const [charset, title] of [
    ['windows-1251', 'Вечерний звон'],
    ['windows-1252', 'Désirée – “Été”'],
  ] as const)
    t.same(id3v2(frame(encodeEightBit(title, charset))), [['Title', title]], charset);
  t.end();
});

t.test('E-45 an ID3 tag of very many frames is read up to a limit', (t) => {
  const frames = Buffer.alloc(36_000, Buffer.from('TIT2\0\0\0\x02\0\0\0a', 'latin1'));
  const tag = Buffer.concat([Buffer.from('ID3\x03\0\0\x7f\x7f\x7f\x7f', 'latin1'), frames]);
  t.equal(id3v2(tag).length, 1000);
  t.end();
});

t.test(
  '6.2 the character sets of very many texts are not guessed: the time grows with the size of the file',
  (t) => {
    const texts = new TagTexts();
    const russian = encodeEightBit('Война и мир, роман в четырёх томах', 'koi8-r');
    const decoded = Array.from({ length: 300 }, () => texts.decode(russian));
    t.equal(decoded.filter((text) => text === 'Война и мир, роман в четырёх томах').length, 200);
    t.match(decoded[299], /^÷ÏÊÎÁ/, 'windows-1252');
    t.equal(texts.decode(Buffer.from('ä')), 'ä', 'UTF-8 is not a guess');
    t.end();
  },
);
