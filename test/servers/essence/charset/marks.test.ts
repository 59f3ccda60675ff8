// Units of two and four bytes, texts of seven bits, and what documents declare.
import fc from 'fast-check';
import t from 'tap';
import { decodeBytes } from '../../../../servers/essence/charset/decode.js';
import { assertProperty } from '../../../helpers/property.js';
import { decodePlain, encodeEightBit, encodeUtf32 } from './encode.js';

const RUSSIAN = 'Сборщик обходит серверы, читает документы\nи составляет их описания.';

t.test('E-77 UTF-16 and UTF-32, with and without a byte order mark', async (t) => {
  for (const text of [
    RUSSIAN,
    'The gatherer visits servers.',
    '収集プログラムは文書を読みます。要約を書きます。',
    'Größe',
    'a 😀 b',
  ]) {
    const little = Buffer.from(text, 'utf16le');
    const encodings: readonly (readonly [string, Buffer])[] = [
      ['UTF-16LE', little],
      ['UTF-16BE', Buffer.from(little).swap16()],
      ['UTF-32LE', encodeUtf32(text, true)],
      ['UTF-32BE', encodeUtf32(text, false)],
      ['UTF-16LE with a mark', Buffer.concat([Buffer.from([0xff, 0xfe]), little])],
      ['UTF-32LE with a mark', encodeUtf32(`\ufeff${text}`, true)],
      ['UTF-32BE with a mark', encodeUtf32(`\ufeff${text}`, false)],
    ];
    for (const [name, bytes] of encodings) t.equal(decodePlain(bytes), text, name);
  }
  t.equal(decodePlain(Buffer.from([1, 2, 0, 0xff, 0xd8, 3, 0, 4, 9])).length, 9, 'other bytes with NUL');
});

t.test('E-77 UTF-32 with units that are no characters', async (t) => {
  const bytes = Buffer.concat([
    encodeUtf32('\ufeffab', false),
    Buffer.from([0xff, 0, 0, 0, 0, 0, 0xd8, 0, 0]),
  ]);
  t.equal(decodePlain(bytes), 'ab\ufffd\ufffd');
});

t.test('E-77 HZ, ISO-2022-KR, ISO-2022-CN', async (t) => {
  t.equal(
    decodeBytes(Buffer.from('Text: ~{<:Ky2;S{#,NpJ)l6HK!#~} ~~ ~\nend'), { html: false }),
    'Text: 己所不欲，勿施於人。 ~ end',
    'the example of RFC 1843',
  );
  t.equal(decodePlain(Buffer.from('if (~{flags}) ~{x~}')), 'if (~{flags}) ~{x~}', 'a program');
  t.equal(
    decodeBytes(Buffer.from('\x1b$)C\x0eGQ1[\x0f text\n\x0eGQ1[\x0f'), { html: false }),
    '한글 text\n한글',
  );
  t.equal(decodeBytes(Buffer.from('\x1b$)A\x0e=;;;\x0f text\n'), { html: false }), '交换 text\n');
  t.equal(decodePlain(Buffer.from('GQ1['), 'iso-2022-kr'), 'GQ1[');
});

t.test('E-77 declarations of sources: TeX, Texinfo, editors, interpreters', async (t) => {
  const text = 'Сборщик: файлы';
  const declarations: readonly (readonly [charset: string, head: string, tail?: string])[] = [
    ['koi8-r', '\\documentclass{article}\n\\usepackage[koi8-r]{inputenc}\n'],
    ['ibm866', '\\usepackage[T2A]{fontenc}\n\\usepackage[cp866]{inputenc}\n'],
    ['windows-1251', '\\usepackage[cp1251]{inputenc}\n'],
    ['ibm855', '\\usepackage[utf8,cp855]{inputenc}\n'],
    ['x-mac-cyrillic', '\\usepackage[maccyr]{inputenc}\n'],
    ['iso-8859-5', '\\usepackage[iso88595]{inputenc}\n'],
    ['koi8-r', '# -*- coding: koi8-r -*-\n'],
    ['windows-1251', '#!/usr/bin/python\n# coding=cp1251\n'],
    ['koi8-r', '; comment\n', '\n;; Local Variables:\n;; coding: koi8-r-unix\n;; End:\n'],
    ['ibm866', '# comment\n', '\n# vim: set fileencoding=cp866 :\n'],
    ['koi8-r', '\\input texinfo\n@documentencoding KOI8-R\n'],
    ['iso-8859-5', '=encoding iso-8859-5\n\n'],
  ];
  for (const [charset, head, tail = ''] of declarations) {
    // Text that the guess would take for another language: capitals and small letters are exchanged.
    const odd = `${head}${text} ъЬЭ жЖъ${tail}`;
    t.equal(decodePlain(encodeEightBit(odd, charset)), odd, head.trim());
  }
  const converted = '\\usepackage[koi8-r]{inputenc}\nСборщик';
  t.equal(decodePlain(Buffer.from(converted)), converted, 'a source that is UTF-8 now');
  const unknown = '\\usepackage[nonsense]{inputenc}\nСборщик читает';
  t.equal(decodePlain(encodeEightBit(unknown, 'koi8-r')), unknown, 'an unknown name is guessed');
  const commented = '% \\usepackage[latin1]{inputenc}\n\\usepackage[koi8-r]{inputenc}\nСборщик';
  t.equal(decodePlain(encodeEightBit(commented, 'koi8-r')), commented, 'a comment does not count');
});

t.test('E-77 character sets of DOS and the Macintosh by their names', async (t) => {
  for (const [name, label, text] of [
    ['cp437', 'ibm437', 'Größe │ ½'],
    ['IBM852', 'ibm852', 'żółw'],
    ['pc850', 'ibm850', 'smørrebrød'],
    ['x-mac-ce', 'x-mac-ce', 'źródło'],
    ['ISO-8859-16', 'iso-8859-16', 'țară'],
  ] as const)
    t.equal(decodePlain(encodeEightBit(text, label), name), text, name);
});

t.test('E-77 any text survives UTF-16 and UTF-32 with a mark', async (t) => {
  assertProperty(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const wide = Buffer.from(`\ufeff${text}`, 'utf16le');
      const same = text.startsWith('\0') || decodePlain(wide) === text;
      return same && decodePlain(encodeUtf32(`\ufeff${text}`, false)) === text;
    }),
  );
  t.end();
});
