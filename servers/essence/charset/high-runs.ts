// The part of a text by which its character set is guessed: the words with bytes from 0x80.

/** Bytes after the first one from 0x80 that are searched, and bytes of words that are collected. */
const SEARCH_BYTES = 512 * 1024;
const MAX_RUN_BYTES = 16 * 1024;

/**
 * Returns the words that contain bytes from 0x80, each followed by a line end. A word consists of bytes from 0x40, as the second bytes of
 * Shift_JIS and Big5 do. Markup, numbers and words of ASCII say nothing about the character set, and would hide what the others say.
 */
export function highRuns(bytes: Uint8Array): Uint8Array {
  const runs = new Uint8Array(MAX_RUN_BYTES);
  let length = 0;
  const first = bytes.findIndex((byte) => byte >= 0x80);
  if (first < 0) return runs.subarray(0, 0);
  const end = Math.min(bytes.length, first + SEARCH_BYTES);
  for (let i = first; i < end && length < MAX_RUN_BYTES - 1; i++) {
    if (bytes[i]! < 0x80) continue;
    let start = i;
    // A run of signs in ASCII is no word.
    while (start > 0 && i - start < 40 && isWordByte(bytes[start - 1]!)) start--;
    let stop = i + 1;
    while (stop < end && stop - start < MAX_RUN_BYTES && isWordByte(bytes[stop]!)) stop++;
    // The last word is cut, with room for its line end.
    stop = Math.min(stop, start + MAX_RUN_BYTES - 1 - length);
    runs.set(bytes.subarray(start, stop), length);
    length += stop - start;
    runs[length++] = 0x0a;
    i = Math.max(i, stop);
  }
  return runs.subarray(0, length);
}

function isWordByte(byte: number): boolean {
  return byte >= 0x40 && byte !== 0x7f;
}
