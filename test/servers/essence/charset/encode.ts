// Encoding texts in character sets for which the platform has only decoders.

import { decodeBytes } from '../../../../servers/essence/charset/decode.js';
import { codePage, decodeAs } from '../../../../servers/essence/charset/decoders.js';

const tables = new Map<string, Map<string, number>>();

/** Encodes a text in a character set of eight bits; throws on a character that is not in it. */
export function encodeEightBit(text: string, label: string): Buffer {
  let table = tables.get(label);
  if (table === undefined) {
    const page = codePage(label);
    const characters =
      page ??
      decodeAs(
        Uint8Array.from({ length: 128 }, (_, i) => 128 + i),
        label,
      );
    table = new Map([...characters].map((character, i) => [character, 128 + i]));
    tables.set(label, table);
  }
  const bytes: number[] = [];
  for (const character of text) {
    const code = character.charCodeAt(0);
    const byte = code < 0x80 ? code : table.get(character);
    if (byte === undefined) throw new Error(`${character} is not in ${label}`);
    bytes.push(byte);
  }
  return Buffer.from(bytes);
}

/** Encodes a text in UTF-32. */
export function encodeUtf32(text: string, littleEndian: boolean): Buffer {
  const points = [...text];
  const bytes = Buffer.alloc(4 * points.length);
  for (const [i, character] of points.entries()) {
    const point = character.codePointAt(0) ?? 0;
    if (littleEndian) bytes.writeUInt32LE(point, 4 * i);
    else bytes.writeUInt32BE(point, 4 * i);
  }
  return bytes;
}

/** Decodes a text that is no page, as Essence does. */
export function decodePlain(bytes: Uint8Array, declared?: string): string {
  return decodeBytes(bytes, { html: false, declared });
}
