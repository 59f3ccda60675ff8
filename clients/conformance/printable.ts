// Bytes as text: for reports, and in scripts.
/** Bytes of a text that are shown by default. */
const SHOWN_BYTES = 200;

/**
 * Formats bytes as one line of ASCII: `\n`, `\r`, `\t`, `\\`, `\xHH` for other bytes that are not printable,
 * and the number of bytes that were left out.
 * @param limit number of bytes that are shown
 */
export function printable(bytes: Uint8Array | string, limit = SHOWN_BYTES): string {
  const all = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
  let text = '';
  for (const byte of all.subarray(0, limit)) text += NAMES[byte] ?? '';
  return all.length > limit ? `${text} [${all.length - limit} more bytes]` : text;
}

const NAMES: readonly string[] = Array.from({ length: 256 }, (_, byte) => {
  switch (byte) {
    case 0x09:
      return '\\t';
    case 0x0a:
      return '\\n';
    case 0x0d:
      return '\\r';
    case 0x5c:
      return '\\\\';
    default:
      return byte < 0x20 || byte > 0x7e
        ? `\\x${byte.toString(16).padStart(2, '0')}`
        : String.fromCharCode(byte);
  }
});

/** Bytes of a text whose characters are bytes (0x00 to 0xff). */
export function bytes(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}
