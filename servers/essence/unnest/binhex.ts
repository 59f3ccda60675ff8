import { UnnestError } from '../errors.js';
import { ByteReader, type Chunks, decodeName, type Member } from './chunks.js';

const ALPHABET = '!"#$%&\'()*+,-012345689@ABCDEFGHIJKLMNPQRSTUVXYZ[`abcdefhijklmpqr';
const VALUES = new Int8Array(128).fill(-1);
for (let i = 0; i < ALPHABET.length; i++) VALUES[ALPHABET.charCodeAt(i)] = i;

/** Marks a run: the next byte is the repeat count of the previous one; 0 means this byte itself. */
const RUN = 0x90;

/** Yields the data fork of a BinHex 4 file (E-43); the resource fork is skipped. */
export async function* binhexMembers(chunks: Chunks): AsyncIterable<Member> {
  const reader = new ByteReader(decodeText(chunks));
  const [length = 0] = await reader.exactly(1);
  const name = decodeName(Buffer.from(await reader.exactly(length)));
  // Version, type, creator, flags; then the sizes of the forks and the checksum of the header.
  const head = Buffer.from(await reader.exactly(1 + 4 + 4 + 2 + 4 + 4 + 2));
  const size = head.readUInt32BE(11);
  if (length === 0 || length > 63) throw new UnnestError('a BinHex file without a name', 'E-43');
  yield { name: name.replaceAll('/', ':'), content: reader.take(size) };
}

/** Decodes the text: six bits per character, then runs. */
async function* decodeText(chunks: Chunks): Chunks {
  const reader = new ByteReader(chunks);
  for (;;) {
    const line = await reader.line();
    if (line === undefined) throw new UnnestError('it contains no BinHex file', 'E-43');
    if (/\(This file must be converted with BinHex/.test(line)) break;
  }
  let begun = false;
  let bits = 0;
  let buffer = 0;
  let previous = 0;
  let run = false;
  for await (const chunk of reader.rest()) {
    let out: number[] = [];
    for (const character of chunk) {
      if (character === 0x3a) {
        if (begun) {
          yield Uint8Array.from(out);
          return;
        }
        begun = true;
        continue;
      }
      if (!begun || character <= 0x20) continue;
      const value = VALUES[character] ?? -1;
      if (value < 0) throw new UnnestError(`a character that BinHex does not use: ${character}`, 'E-43');
      buffer = ((buffer << 6) | value) & 0xffff;
      bits += 6;
      if (bits < 8) continue;
      bits -= 8;
      const byte = (buffer >> bits) & 0xff;
      if (run) {
        run = false;
        if (byte === 0) {
          previous = RUN;
          out.push(RUN);
        }
        for (let i = 1; i < byte; i++) out.push(previous);
      } else if (byte === RUN) run = true;
      else {
        previous = byte;
        out.push(byte);
      }
      if (out.length > 32 * 1024) {
        yield Uint8Array.from(out);
        out = [];
      }
    }
    yield Uint8Array.from(out);
  }
  throw new UnnestError('the BinHex file has no end', 'E-43');
}
