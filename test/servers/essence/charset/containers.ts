// A Cyrillic text in twelve encodings and in files of eight kinds, none of which declares the character set.
import { gzipSync } from 'node:zlib';
import { zip } from '../../../helpers/archives.js';
import { tar } from '../unnest-fixtures.js';
import { encodeEightBit, encodeUtf32 } from './encode.js';

/** An encoding; `ascii` if ASCII is encoded as itself: mail, names of files and the like exist only in such. */
export interface Encoding {
  readonly name: string;
  readonly encode: (text: string) => Buffer;
  readonly ascii: boolean;
}

export const ENCODINGS: readonly Encoding[] = [
  ...'koi8-r koi8-u windows-1251 ibm866 iso-8859-5 x-mac-cyrillic ibm855'
    .split(' ')
    .map((name) => ({ name, encode: (text: string) => encodeEightBit(text, name), ascii: true })),
  { name: 'UTF-8', encode: (text) => Buffer.from(text), ascii: true },
  { name: 'UTF-16LE', encode: (text) => Buffer.from(text, 'utf16le'), ascii: false },
  { name: 'UTF-16BE', encode: (text) => Buffer.from(text, 'utf16le').swap16(), ascii: false },
  { name: 'UTF-32LE', encode: (text) => encodeUtf32(text, true), ascii: false },
  { name: 'UTF-32BE', encode: (text) => encodeUtf32(text, false), ascii: false },
];

/** A text with its title and the name of its file. */
export interface Content {
  readonly text: string;
  readonly title: string;
  readonly name: string;
}

/** A page that is mostly Latin markup. */
function page({ text, title }: Content): string {
  const links = Array.from(
    { length: 100 },
    (_, i) => `<li class="item"><a href="/archive/${i}.html">File ${i}</a></li>`,
  );
  return `<html><head><title>${title}</title></head>\n<body><ul>${links.join('\n')}</ul><p>${text}</p></body></html>\n`;
}

/** The files of each kind, by their names. */
export function containersOf(content: Content, { encode, ascii }: Encoding): Map<string, Uint8Array> {
  const { text, title, name } = content;
  const plain = encode(text);
  const source = text.replace(/[\\%$&#_{}~^]/g, ' ');
  const member = ascii ? encode(`${name}.txt`).toString('latin1') : 'a.txt';
  const message = `From: ${name} <a@example.org>\nSubject: ${title}\nDate: Mon, 08 May 1995 10:00:00 +0000\nMessage-ID: <1@example.org>\n\n${text}`;
  const files = new Map<string, Uint8Array>([
    ['a.txt', plain],
    ['a.html', encode(page(content))],
    [
      'a.tex',
      encode(`\\documentclass{article}\n\\title{${title}}\n\\begin{document}\n${source}\\end{document}\n`),
    ],
    ['a.txt.gz', gzipSync(plain)],
    ['a.zip', zip([[member, plain]])],
    ['a.tar', tar([[member, plain.toString('latin1')]])],
  ]);
  if (!ascii) return files;
  files.set('a.eml', encode(`Received: by example.org\n${message}`));
  files.set('a.news', encode(`Path: news!example.org!not-for-mail\nNewsgroups: fido7.test\n${message}`));
  return files;
}
