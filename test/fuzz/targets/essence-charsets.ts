// Essence: character sets of texts, of names in archives and of messages.
import { decodeBytes, NameDecoder } from '../../../servers/essence/charset/decode.js';
import { guessLanguage } from '../../../servers/essence/language.js';
import { withReadableCharsets } from '../../../servers/essence/message-charsets.js';
import { type FuzzTarget, randomOf, wordsIn } from '../target.js';

/** Mail in character sets that it does not declare. */
export const messageCharsets: FuzzTarget = {
  linear: true,
  seeds: [
    'Subject: \xf2\xe5\xec\xe0\n\n\xf2\xe5\xea\xf1\xf2\n',
    'Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Transfer-Encoding: base64\n\n8uXq8fI=\n--b--\nend',
    'Content-Type: text/plain; charset=cp850\nContent-Transfer-Encoding: quoted-printable\n\nsm=9Brre\n',
    'Content-Transfer-Encoding: quoted-printable\n\n=F2 =   =\t\n      =E5',
    'Content-Type: message/rfc822\n\nSubject: \x1b$BF|K\\8l\x1b(B\n\n',
  ],
  run: (input) => {
    withReadableCharsets(input);
  },
};

/** Character sets and languages of texts. */
export const charsets: FuzzTarget = {
  linear: false,
  seeds: [
    '\xfe\xff\0a',
    '\xff\xfea\0',
    '\x1b$B$"\x1b(B',
    '<meta charset=koi8-r>\xc1\xd2',
    'caf\xc3\xa9',
    '\x82\xa0',
    '<?xml version="1.0" encoding="windows-1251"?>',
    '~{VPND~} ~~',
    '\x1b$)C\x0eGQ1[\x0f',
    'a\0 \0b\0\n\0',
    'a\0\0\0 \0\0\0b\0\0\0 \0\0\0',
    '\\usepackage[koi8-r]{inputenc} \xf3\xc2\xcf\xd2',
    '# -*- coding: cp866 -*-\n\x91\xa1\xae\xe0',
  ],
  run: (input) => {
    const random = randomOf(input);
    const names = wordsIn('utf-8|iso-2022-jp|x-unknown|utf-7|gb18030|utf-16le|utf-32be|cp850|hz|iso-2022-kr');
    const declared = random.pick([undefined, ...names]);
    const text = decodeBytes(input, { html: random.once(2), ...(declared !== undefined && { declared }) });
    guessLanguage(text);
    const decoder = new NameDecoder();
    for (let i = 0; i < 3; i++) decoder.decode(input.subarray(i));
  },
};
