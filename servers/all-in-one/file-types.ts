// The media types of the files that are served from a directory.
import { isUtf8 } from 'node:buffer';

/** Types by the end of a name. A browser shows all of them; none of them runs a script here. */
const TYPES: Readonly<Record<string, string>> = {
  avif: 'image/avif',
  css: 'text/css',
  gif: 'image/gif',
  gz: 'application/gzip',
  htm: 'text/html',
  html: 'text/html',
  ico: 'image/x-icon',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  pdf: 'application/pdf',
  png: 'image/png',
  svg: 'image/svg+xml',
  webp: 'image/webp',
  woff: 'font/woff',
  woff2: 'font/woff2',
  xht: 'application/xhtml+xml',
  xhtml: 'application/xhtml+xml',
  zip: 'application/zip',
};

/** Bytes that tell text from other data. */
export const HEAD_BYTES = 4096;

/**
 * The media type of a file. HTML names its character set itself; other text is UTF-8, or Windows-1252 if it
 * cannot be. A browser saves what it cannot show.
 *
 * @param head the first {@link HEAD_BYTES} of the file
 */
export function fileTypeOf(name: string, head: Uint8Array): string {
  const known = TYPES[/\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ''];
  if (known !== undefined) return known;
  if (head.includes(0)) return 'application/octet-stream';
  return `text/plain; charset=${isUtf8(wholeCharacters(head)) ? 'utf-8' : 'windows-1252'}`;
}

/** Leaves out a character of UTF-8 that the end of the bytes may cut. */
function wholeCharacters(head: Uint8Array): Uint8Array {
  if (head.length < HEAD_BYTES) return head;
  const lead = head.subarray(-4).findLastIndex((byte) => byte < 0x80 || byte >= 0xc0);
  return lead < 0 ? head : head.subarray(0, head.length - 4 + lead);
}
