// Catalogs of translated messages of GNU gettext.

/**
 * Yields the pairs of original and translation of a catalog (`.mo`) in UTF-8; nothing if it is in another
 * character set.
 */
export function* catalogMessages(bytes: Buffer): Generator<readonly [original: string, translation: string]> {
  if (bytes.length < 28 || bytes.readUInt32LE(0) !== 0x950412de) return;
  const count = bytes.readUInt32LE(8);
  const at = (table: number, i: number) => {
    const entry = bytes.readUInt32LE(table) + 8 * i;
    const start = bytes.readUInt32LE(entry + 4);
    return bytes.subarray(start, start + bytes.readUInt32LE(entry)).toString('utf8');
  };
  for (let i = 0; i < count; i++) {
    const original = at(12, i);
    const translation = at(16, i);
    if (original === '' && !/charset=utf-?8/i.test(translation)) return;
    if (original !== '' && translation !== original && !translation.includes('\ufffd'))
      yield [original, plain(translation)];
  }
}

/** Without markup, the marks of keys, and formats. */
function plain(text: string): string {
  return text
    .replace(/<[^<>]*>|%[-+ #0-9.$*]*[a-zA-Z]+|&[a-z]+;|\S*[@/\\]\S*/g, ' ')
    .replace(/[_&](?=\p{L})/gu, '')
    .replaceAll('\0', '\n');
}
