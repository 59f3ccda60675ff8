// Names without a declared character set: of the files of an archive.
import { isUtf8 } from 'node:buffer';
import { decodeAs, decodeUtf8 } from './decoders.js';
import { guessCharset } from './guess.js';

/** Bytes of names by which the character set is guessed. */
const MAX_BYTES = 2048;

/** The sets of DOS, in which its programs and those of Windows write the names in archives. */
export const DOS_CHARSETS: readonly string[] =
  'ibm866 ibm437 ibm850 ibm852 ibm855 ibm737 ibm857 ibm775 ibm862'.split(' ');

/**
 * Decodes the names of one archive: as UTF-8 if valid, else all in the same character set, which is guessed by
 * the first ones.
 */
export class NameDecoder {
  readonly #likely: readonly string[];
  #known = Buffer.alloc(0);
  #label: string | undefined;

  /** @param likely - character sets that the format makes probable */
  constructor(likely: readonly string[] = []) {
    this.#likely = likely;
  }

  /** Takes a name into account for the guess. Returns false when no further ones are. */
  learn(name: Uint8Array): boolean {
    if (this.#known.length >= MAX_BYTES) return false;
    if (!isUtf8(name)) {
      this.#known = Buffer.concat([this.#known, name.subarray(0, MAX_BYTES), Buffer.of(0x0a)]);
      this.#label = undefined;
    }
    return true;
  }

  decode(name: Uint8Array): string {
    if (isUtf8(name)) return decodeUtf8(name);
    // A name that was learned before is not learned again once the guess is made.
    if (this.#known.indexOf(name) < 0) this.learn(name);
    this.#label ??= guessCharset(this.#known, { likely: this.#likely }).label;
    return decodeAs(name, this.#label);
  }
}
