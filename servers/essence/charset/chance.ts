// Whether a few bytes are likelier a text than chance: the shares of control characters say little about them.
import { isUtf8 } from 'node:buffer';
import { guessCharset } from './guess.js';
import { isControl, isWideText } from './marks.js';
import { sevenBitCharset } from './seven-bit.js';

/** Longer ones are decided by their shares of control characters alone. */
const SMALL_BYTES = 1024;

/*
 * Evidence in bits. A byte of chance has 8 bits; a character of a text has less, but a language without a model
 * has words that look improbable.
 */
const PRINTABLE = 1;
const CONTROL = -7;
const BYTE_OF_WORD = 7;

/**
 * Whether few bytes are likelier chance than a text in any character set: they have control characters, and
 * bytes beyond ASCII that are neither Unicode nor words of a language. Of files of 16 random bytes one in twelve is
 * taken for a text, of 64 one in a thousand; of single words in a character set of eight bits one in forty is
 * taken for chance, of sentences one in five thousand.
 *
 * @param bonus bits in favor of a text, from its name for example
 */
export function isChance(bytes: Uint8Array, bonus = 0): boolean {
  if (bytes.length > SMALL_BYTES || isWideText(bytes)) return false;
  return bonus + evidence(bytes) < 0;
}

function evidence(bytes: Uint8Array): number {
  let bits = 0;
  let wordBytes = 0;
  // DOS ends texts with this character.
  const end = bytes.at(-1) === 0x1a ? bytes.length - 1 : bytes.length;
  for (let i = 0; i < end; ) {
    let stop = i;
    let isHigh = false;
    for (; stop < end && isWordByte(bytes[stop]!); stop++) isHigh ||= bytes[stop]! >= 0x80;
    if (isHigh) wordBytes += stop - i;
    else if (stop > i) bits += PRINTABLE * (stop - i);
    else bits += isControl(bytes[stop++]!) ? CONTROL : PRINTABLE;
    i = stop;
  }
  if (sevenBitCharset(bytes) !== undefined) return 0;
  if (wordBytes === 0) return bits;
  return bits + wordBytes * BYTE_OF_WORD - (isUtf8(bytes) ? 0 : guessCharset(bytes).cost);
}

/** The bytes of the guess's words: also of the second bytes of Shift_JIS and Big5. */
function isWordByte(byte: number): boolean {
  return byte >= 0x40 && byte !== 0x7f;
}
