// Whether few bytes are a text or chance, and the types of documents that follow from it.
import t from 'tap';
import { recognize } from '../../../../servers/essence/index.js';
import { Random } from '../../../helpers/random.js';
import { contextOf, inputOf } from '../helpers.js';
import { encodeEightBit, encodeUtf32 } from './encode.js';
import { TEXTS } from './texts.js';

const { rules } = contextOf();
const typeOf = (bytes: Uint8Array, name = 'x'): string =>
  recognize(inputOf(`ftp://a.test/${name}`, bytes), rules).type;

t.test('E-32 files of random bytes are not Text, of whatever length', async (t) => {
  const random = new Random(32);
  // Files of few bytes cannot be told from words in some character set.
  for (const [length, most] of [
    [16, 20],
    [32, 10],
    [64, 2],
    [128, 0],
    [200, 0],
    [299, 0],
    [1024, 0],
    [5000, 0],
  ] as const) {
    let texts = 0;
    let named = 0;
    for (let i = 0; i < 200; i++) {
      const bytes = random.bytes(length);
      if (typeOf(bytes) === 'Text') texts++;
      if (length >= 128 && typeOf(bytes, 'x.txt') === 'Text') named++;
    }
    t.ok(texts <= most, `${texts} of 200 files of ${length} bytes are Text, at most ${most}`);
    t.equal(named, 0, `${length} bytes, named as texts`);
  }
});

t.test('E-32 bytes of ASCII with control characters, NUL, and false marks are not Text', async (t) => {
  for (const bytes of [
    '\x01\x02abcdef',
    'ab\x7f\x7f\x06',
    'PING\x01\x10\x02\x05',
    'a\0b',
    '\0',
    '\xff\xfe\x00\x00a',
    `\xff\xfe${'a\0\0\0bc'.repeat(3)}`,
    `\xff\xfe${'\x91\xe4\x17\x12\x00\x3b'.repeat(8)}`,
    `\xef\xbb\xbf\x01\x02\x03\x04\x05`,
    '\x89\xe2\x01\x7f',
  ])
    t.not(typeOf(Buffer.from(bytes, 'latin1')), 'Text', JSON.stringify(bytes));
});

t.test('E-32, E-77 short texts stay Text in every character set', async (t) => {
  for (const [language, charsets, text] of TEXTS) {
    const words = text.split(' ');
    const parts = [text, ...words.slice(0, -2).map((_, i) => words.slice(i, i + 3).join(' '))];
    const mistaken: string[] = [];
    for (const part of parts) {
      const wide = Buffer.from(part, 'utf16le');
      const encodings: [string, Buffer][] = [
        ['UTF-8', Buffer.from(part)],
        ['UTF-16LE with a mark', Buffer.from(`\ufeff${part}`, 'utf16le')],
        ['UTF-16BE with a mark', Buffer.from(`\ufeff${part}`, 'utf16le').swap16()],
        ['UTF-16LE', wide],
        ['UTF-32LE with a mark', encodeUtf32(`\ufeff${part}`, true)],
        ...charsets.split(' ').map((label): [string, Buffer] => [label, encodeEightBit(part, label)]),
      ];
      for (const [label, bytes] of encodings)
        if (typeOf(bytes) !== 'Text') mistaken.push(`${label}: ${part}`);
    }
    t.ok(parts.length > 0, language);
    t.same(mistaken, [], `${language}: every part is Text`);
  }
  for (const latin of [
    'Gr\xfc\xdfe',
    'caf\xe9\n',
    'No\xebl',
    '\xa9 1996',
    '20 \xb0C',
    'price: \xa3 5',
    'na\xefve',
  ])
    t.equal(typeOf(Buffer.from(latin, 'latin1')), 'Text', latin);
  for (const plain of [
    'a',
    '\n',
    'yes\r\n',
    'DOS\r\n\x1a',
    'a_\bb_\bc\f',
    '\x1b[1mbold\x1b[0m',
    '\x1b$B4A;z\x1b(B',
    '\x1b$)C\x0eGQ1[\x0f',
    'a long line with one \x07 bell',
  ])
    t.equal(typeOf(Buffer.from(plain, 'latin1')), 'Text', JSON.stringify(plain));
  for (const [label, hex] of [
    ['Shift_JIS', '93fa967b8cea82cc95b68f91'],
    ['EUC-JP', 'c6fccbdcb8eca4cecab8bdf1'],
    ['GB 18030', 'd6d0cec4cec4bcfe'],
    ['Big5', 'a4a4a4e5a4e5a5f3'],
    ['EUC-KR', 'c7d1b1db20b9aebcad'],
  ] as const)
    t.equal(typeOf(Buffer.from(hex, 'hex')), 'Text', label);
});

t.test('E-32 a name that says Text counts for words that look like chance', async (t) => {
  for (const word of ['\xe9\xe8', '\x82\x8a', '\xdfx\xf7'])
    t.equal(typeOf(Buffer.from(word, 'latin1'), 'x.txt'), 'Text', JSON.stringify(word));
});
