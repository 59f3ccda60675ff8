// Mail and news that do not declare their character set, or declare one that the parser does not know.
import fc from 'fast-check';
import PostalMime from 'postal-mime';
import t from 'tap';
import { withReadableCharsets } from '../../../servers/essence/message-charsets.js';
import { assertProperty } from '../../helpers/property.js';
import { encodeEightBit } from './charset/encode.js';

const RUSSIAN = 'Сборщик читает документы и составляет описания.';

const parse = (bytes: Uint8Array) => PostalMime.parse(Uint8Array.from(withReadableCharsets(bytes)));
const ascii = (text: string) => Buffer.from(text);

t.test('E-77 a message that the parser reads rightly stays the same bytes', async (t) => {
  for (const message of [
    'Subject: a\n\ntext\n',
    'Subject: тема\nContent-Type: text/plain; charset=utf-8\n\nтекст\n',
    'Subject: =?koi8-r?Q?=D4?=\nContent-Type: text/plain; charset=koi8-r\n\ntext',
    'no header',
    '',
    'Content-Type: multipart/mixed; boundary=b\n\npreamble\n--b\n\ntext\n--b--\nepilogue\n',
  ]) {
    const bytes = Buffer.from(message);
    t.equal(withReadableCharsets(bytes), bytes, JSON.stringify(message.slice(0, 30)));
  }
});

t.test('E-77 8-bit header fields and texts without a declaration', async (t) => {
  for (const charset of ['koi8-r', 'windows-1251', 'ibm866', 'iso-8859-5']) {
    const head = 'From: a@example.org\nContent-Type: text/plain; format=flowed; charset=unknown-8bit\n';
    for (const message of [
      `From: a@example.org\nSubject: ${RUSSIAN}\n\n${RUSSIAN}\n`,
      `${head}Subject: ${RUSSIAN}\r\n\r\n${RUSSIAN}\r\n`,
    ]) {
      const { subject, text } = await parse(encodeEightBit(message, charset));
      t.same([subject, text?.trim()], [RUSSIAN, RUSSIAN], charset);
    }
  }
});

t.test('E-77 a declared text decides about the 8-bit header above it', async (t) => {
  const message = 'Subject: тест\nContent-Type: text/plain; charset=koi8-r\n\nда\n';
  const { subject, text } = await parse(encodeEightBit(message, 'koi8-r'));
  t.same([subject, text?.trim()], ['тест', 'да']);
});

t.test('E-77 transfer encodings, parts, nested messages, attached files', async (t) => {
  const raw = encodeEightBit(RUSSIAN, 'windows-1251');
  const quoted = raw
    .toString('latin1')
    .replace(/[\x80-\xff]/g, (c) => `=${c.charCodeAt(0).toString(16).toUpperCase()}`);
  const message = Buffer.concat([
    ascii(
      'Subject: a\nContent-Type: multipart/mixed; boundary="x y"\n\n--x y\nContent-Transfer-Encoding: quoted-printable\n\n',
    ),
    ascii(
      `${quoted}\n--x y\nContent-Type: text/plain\nContent-Transfer-Encoding: base64\n\n${raw.toString('base64')}\n`,
    ),
    ascii('--x y\nContent-Type: text/plain; charset=cp850\n\n'),
    encodeEightBit('smørrebrød', 'ibm850'),
    ascii('\n--x y\nContent-Type: text/plain\nContent-Disposition: attachment; filename="'),
    encodeEightBit('Отчёт о работе', 'windows-1251'),
    ascii('.txt"\n\n'),
    raw,
    ascii('\n--x y--\n'),
  ]);
  const { text, attachments } = await parse(message);
  t.equal(text?.split(RUSSIAN).length, 3, 'quoted-printable and base64');
  t.match(text, 'smørrebrød', 'a set of DOS that is declared');
  t.equal(attachments[0]?.filename, 'Отчёт о работе.txt');
  const content = attachments[0]?.content;
  t.ok(content instanceof ArrayBuffer && Buffer.from(content).includes(raw), 'a file keeps its bytes');
});

t.test('E-77 pages declare their set in META; texts of seven bits switch', async (t) => {
  const page = `<html><meta charset=koi8-r><p>${RUSSIAN}</html>`;
  const html = await parse(encodeEightBit(`Subject: a\nContent-Type: text/html\n\n${page}\n`, 'koi8-r'));
  t.match(html.html, RUSSIAN);
  const korean = await parse(
    ascii('Subject: a\nContent-Type: text/plain; charset=iso-2022-kr\n\n\x1b$)C\x0eGQ1[\x0f\n'),
  );
  t.equal(korean.text?.trim(), '한글');
  const japanese = await parse(ascii('Subject: \x1b$BF|K\\8l\x1b(B\n\n\x1b$BF|K\\8l\x1b(B\n'));
  t.same([japanese.subject, japanese.text?.trim()], ['日本語', '日本語']);
  const western = await parse(
    Buffer.from('Subject: a\nContent-Type: text/plain; charset=iso-8859-1\n\n\x93a\x94\n', 'latin1'),
  );
  t.equal(western.text?.trim(), '“a”', 'as the Encoding Standard reads ISO-8859-1');
});

t.test('E-77 any bytes are a message, and no part of one that is ASCII is lost', async (t) => {
  const line = fc.constantFrom(
    ...(
      '--b|--b--||Content-Type: multipart/mixed; boundary=b|Content-Type: text/plain|' +
      'Content-Type: message/rfc822|a: b|text|é'
    ).split('|'),
  );
  assertProperty(
    fc.property(fc.array(line, { maxLength: 30 }), (lines) => {
      const bytes = Buffer.from(lines.join('\n'));
      return Buffer.from(withReadableCharsets(bytes)).equals(bytes);
    }),
  );
  assertProperty(
    fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => withReadableCharsets(bytes).length >= 0),
  );
  t.end();
});
