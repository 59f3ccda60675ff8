// A Russian text in twelve encodings and eight containers, none of which declares the character set.

import { gzipSync } from 'node:zlib';
import t from 'tap';
import { zip } from '../../../helpers/archives.js';
import { contentOf, summarize } from '../helpers.js';
import { tar } from '../unnest-fixtures.js';
import { encodeEightBit, encodeUtf32 } from './encode.js';

const NAME = 'Отчёт о сборке';
const TITLE = 'Сборщик документов';
const TEXT =
  'Сборщик обходит серверы, читает документы и составляет их описания.\n' +
  'Брокер хранит описания и отвечает на вопросы пользователей сети.\n';

/** Encodings, and whether ASCII is encoded as in ASCII: mail, names and the like exist only in those. */
const ENCODINGS: readonly (readonly [name: string, encode: (text: string) => Buffer, ascii: boolean])[] = [
  ...'koi8-r koi8-u windows-1251 ibm866 iso-8859-5 x-mac-cyrillic ibm855'
    .split(' ')
    .map((label) => [label, (text: string) => encodeEightBit(text, label), true] as const),
  ['UTF-8', (text) => Buffer.from(text), true],
  ['UTF-16LE', (text) => Buffer.from(text, 'utf16le'), false],
  ['UTF-16BE', (text) => Buffer.from(text, 'utf16le').swap16(), false],
  ['UTF-32LE', (text) => encodeUtf32(text, true), false],
  ['UTF-32BE', (text) => encodeUtf32(text, false), false],
];

/** A page that is mostly Latin markup. */
function page(): string {
  const links = Array.from(
    { length: 100 },
    (_, i) => `<li class="item"><a href="/archive/${i}.html">File ${i}</a></li>`,
  );
  return `<html><head><title>${TITLE}</title></head>\n<body><ul>${links.join('\n')}</ul><p>${TEXT}</p></body></html>\n`;
}

const MESSAGE = `From: ${NAME} <a@example.org>\nSubject: ${TITLE}\nDate: Mon, 08 May 1995 10:00:00 +0000\nMessage-ID: <1@example.org>\n\n${TEXT}`;

const words = (value: string | undefined) => (value ?? '').replace(/\s+/g, ' ').trim();
const EXPECTED = words(TEXT);

for (const [name, encode, ascii] of ENCODINGS) {
  t.test(`E-77 ${name} in eight containers without a declaration`, async (t) => {
    const contents = async (file: string, body: Uint8Array) =>
      contentOf(await summarize(`ftp://a.test/${file}`, body));
    const plain = encode(TEXT);
    t.equal(words((await contents('a.txt', plain))['Partial-Text']), EXPECTED, 'plain text');
    const html = await contents('a.html', encode(page()));
    t.equal(html.title?.trim(), TITLE, 'title of a page');
    t.match(words(html.body), EXPECTED, 'page');
    const tex = `\\documentclass{article}\n\\title{${TITLE}}\n\\begin{document}\n${TEXT}\\end{document}\n`;
    t.equal((await contents('a.tex', encode(tex))).Title?.trim(), TITLE, 'TeX');
    const zipped = gzipSync(plain);
    t.equal(words((await contents('a.txt.gz', zipped))['Embed<1>-Partial-Text']), EXPECTED, 'gzip');
    const fileName = ascii ? encode(`${NAME}.txt`).toString('latin1') : 'a.txt';
    const named = ascii ? `${NAME}.txt` : 'a.txt';
    for (const [kind, body] of [
      ['zip', zip([[fileName, plain]])],
      ['tar', tar([[fileName, plain.toString('latin1')]])],
    ] as const) {
      const members = await contents(`a.${kind}`, body);
      t.equal(members['Embed<1>-Nested-Filename']?.trim(), named, `name in ${kind}`);
      t.equal(words(members['Embed<1>-Partial-Text']), EXPECTED, `member of ${kind}`);
    }
    if (!ascii) return;
    const mail = await contents('a.eml', encode(`Received: by example.org\n${MESSAGE}`));
    t.equal(mail.Author?.trim(), `${NAME} <a@example.org>`, 'author of a mail');
    t.equal(mail.Title?.trim(), TITLE, 'title of a mail');
    t.equal(words(mail['Partial-Text']), EXPECTED, 'mail');
    const news = await contents(
      'a.news',
      encode(`Path: news!example.org!not-for-mail\nNewsgroups: fido7.test\n${MESSAGE}`),
    );
    t.equal(news.Title?.trim(), TITLE, 'title of an article');
  });
}
