// Names of directory entries: bytes, which need not be UTF-8, as strings.

/** Bytes that are not UTF-8 appear in a name as one lone surrogate each, U+DC80 to U+DCFF. */
const ESCAPED_BYTE = 0xdc00;

/**
 * A name as a string. One that is not UTF-8 has a lone surrogate for each of its bytes above 127, so that
 * {@link entryBytes} finds them.
 */
export function entryOfBytes(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  if (!text.includes('\ufffd') || Buffer.from(text).equals(bytes)) return text;
  return bytes
    .toString('latin1')
    .replace(/[\x80-\xff]/g, (byte) => String.fromCharCode(ESCAPED_BYTE + byte.charCodeAt(0)));
}

/** The bytes of a name that {@link entryOfBytes} returned. */
export function entryBytes(name: string): Buffer {
  if (isWellFormed(name)) return Buffer.from(name);
  return Buffer.from(
    name.replace(/[\udc80-\udcff]/g, (byte) => String.fromCharCode(byte.charCodeAt(0) - ESCAPED_BYTE)),
    'latin1',
  );
}

/** The URL of a directory's entry, which may end in a slash. */
export function entryUrl(directoryUrl: string, entry: string): string {
  const path = entry
    .split('/')
    .map((name) => (isWellFormed(name) ? encodeURIComponent(name) : escapeBytes(entryBytes(name))))
    .join('/')
    .replaceAll('~', '%7e');
  return `${directoryUrl.endsWith('/') ? directoryUrl : `${directoryUrl}/`}${path}`;
}

function isWellFormed(name: string): boolean {
  return !/\p{Surrogate}/u.test(name);
}

function escapeBytes(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replace(
      /[^\w.!~*'()-]/g,
      (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    );
}
