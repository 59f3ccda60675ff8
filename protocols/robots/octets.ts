// The octets of a robots.txt (RFC 9309 2.2.2): a string with one UTF-16 unit, 0 to 255, for each.

/**
 * Returns the octets of a file without its byte-order mark. UTF-16, which no path has, becomes UTF-8.
 * @param file a text is encoded in UTF-8
 */
export function octetsOf(file: Uint8Array | string): string {
  const bytes = typeof file === 'string' ? new TextEncoder().encode(file) : file;
  const encoding = utf16Of(bytes);
  const octets =
    encoding === undefined ? bytes : new TextEncoder().encode(new TextDecoder(encoding).decode(bytes));
  return Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength)
    .toString('latin1')
    .replace(/^(?:\xef\xbb\xbf)+/, '');
}

/** Files of text editors in UTF-16 begin with a mark, or with ASCII, which has a zero in each unit. */
function utf16Of(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const [first = 1, second = 1, third = 1, fourth = 1] = bytes;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (second === 0 && fourth === 0 && first !== 0 && third !== 0) return 'utf-16le';
  return first === 0 && third === 0 && second !== 0 && fourth !== 0 ? 'utf-16be' : undefined;
}

/** Removes white space of ASCII, and zeros, around octets: A0 may be the end of a letter. */
export function trimLine(octets: string): string {
  let begin = 0;
  let end = octets.length;
  while (begin < end && isBlank(octets.charCodeAt(begin))) begin++;
  while (end > begin && isBlank(octets.charCodeAt(end - 1))) end--;
  return octets.slice(begin, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0 || (code >= 9 && code <= 13);
}

/** Returns a trimmed line as text, to be shown: UTF-8, or Latin-1 if it is not valid. */
export function textOfLine(octets: string): string {
  const line = trimLine(octets);
  if (!/[\x80-\xff]/.test(line)) return line;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(line, 'latin1'));
  } catch {
    return line; // not UTF-8
  }
}
