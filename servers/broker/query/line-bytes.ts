// Finds the bytes of a matched line in its object (BRK-1.10).
import { type ByteSource, decodeText } from '../../../protocols/soif/index.js';

/** Whether a text is ASCII, so that its bytes are the same in every character set that this kit reads. */
export function isAscii(text: string): boolean {
  return /^[\0-\x7f]*$/.test(text);
}

/**
 * Returns the bytes of a matched line as they are in its object: BRK-1.10 sends bytes above 127 as the Gatherer
 * sent them. Looks for the line in UTF-8, then in windows-1252; a line that is not found is encoded as UTF-8.
 */
export function lineBytes(text: string, object: Uint8Array): Uint8Array {
  const utf8 = Buffer.from(text, 'utf8');
  const bytes = Buffer.from(object.buffer, object.byteOffset, object.byteLength);
  if (isAscii(text) || bytes.includes(utf8)) return utf8;
  const single = singleBytes(text);
  return single !== undefined && bytes.includes(single) ? single : utf8;
}

/** Bytes that are searched between two turns. */
const SEARCHED_BYTES = 1024 * 1024;

/**
 * {@link lineBytes} of several lines of an object that is not in memory.
 *
 * @param turn resolves when the search may continue, after some work
 */
export async function largeLineBytes(
  texts: readonly string[],
  object: ByteSource,
  turn: () => Promise<void>,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const wanted = [...new Set(texts)].map((text) => ({
    text,
    utf8: Buffer.from(text, 'utf8'),
    single: singleBytes(text),
    found: isAscii(text),
    foundSingle: false,
  }));
  const longest = Math.max(1, ...wanted.map(({ utf8 }) => utf8.length));
  let end: Uint8Array = new Uint8Array(0);
  let searched = 0;
  for await (const piece of object.pieces()) {
    // The end of the piece before it, because a line may begin there.
    const bytes = Buffer.concat([end, piece]);
    for (const line of wanted) {
      searched += bytes.length;
      if (searched >= SEARCHED_BYTES) {
        searched = 0;
        await turn();
      }
      line.found ||= bytes.includes(line.utf8);
      if (!line.found && line.single !== undefined) line.foundSingle ||= bytes.includes(line.single);
    }
    end = bytes.subarray(Math.max(0, bytes.length - longest + 1));
  }
  return new Map(
    wanted.map(({ text, utf8, single, found, foundSingle }) => [
      text,
      !found && foundSingle && single !== undefined ? single : utf8,
    ]),
  );
}

/**
 * Encodes the text in windows-1252, as `decodeText` reads it; undefined if a character is not in that character
 * set.
 */
function singleBytes(text: string): Buffer | undefined {
  const bytes = Buffer.alloc(text.length);
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const byte = BYTE_OF.get(text.charAt(i)) ?? (code <= 0xff ? code : undefined);
    if (byte === undefined) return undefined;
    bytes[i] = byte;
  }
  return bytes;
}

/** Maps the characters of windows-1252 from 0x80 to 0x9f to their bytes. */
const BYTE_OF: ReadonlyMap<string, number> = new Map(
  Array.from({ length: 0x20 }, (_, i) => [decodeText(Uint8Array.of(0x80 + i)), 0x80 + i] as const),
);
