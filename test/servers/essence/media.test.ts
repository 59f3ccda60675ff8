// The summarizers of sound, films and pictures: damaged files, character sets of tags.
import fc from 'fast-check';
import t from 'tap';
import { compileEssence, readEssenceSources } from '../../../servers/essence/index.js';
import { recognize } from '../../../servers/essence/recognition/recognize.js';
import { summarizeDocument } from '../../../servers/essence/summarize.js';
import { TagTexts } from '../../../servers/essence/summarizers/media/facts.js';
import { id3v2 } from '../../../servers/essence/summarizers/media/mp3.js';
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

t.test('E-45 SVG: nested elements without end', async (t) => {
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

t.test('6.2 no character sets of very many texts are guessed: time grows with the size of the file', (t) => {
  const texts = new TagTexts();
  const russian = encodeEightBit('Война и мир, роман в четырёх томах', 'koi8-r');
  const decoded = Array.from({ length: 300 }, () => texts.decode(russian));
  t.equal(decoded.filter((text) => text === 'Война и мир, роман в четырёх томах').length, 200);
  t.match(decoded[299], /^÷ÏÊÎÁ/, 'windows-1252');
  t.equal(texts.decode(Buffer.from('ä')), 'ä', 'UTF-8 is not a guess');
  t.end();
});
