// Validates a SOIF stream attempt by attempt (SOIF-4.9), with rules and offsets.
import { ProtocolError } from '../../protocols/errors.js';
import {
  SectionDecoder,
  type SectionItem,
  SoifDecoder,
  type SoifDecoderOptions,
  type SoifItem,
  type SoifWarning,
} from '../../protocols/soif/index.js';

/** The result of one attempt to read an object (SOIF-4.9). */
export interface SoifAttempt {
  /** Counted from 1. */
  readonly number: number;
  readonly valid: boolean;
  /** Bytes from the start of the stream to the object, or to the offending byte. */
  readonly offset: number;
  /** The type of a valid object. */
  readonly type?: string;
  /** The URL of a valid object. */
  readonly url?: string;
  /** The reason that the attempt failed. */
  readonly problem?: Omit<SoifWarning, 'kind'>;
  /** Defects that lenient reading tolerated in this object or before it. */
  readonly warnings: readonly SoifWarning[];
}

/** The counts of `cksoif`'s last line (SOIF-4.9). */
export interface SoifCounts {
  readonly valid: number;
  readonly attempts: number;
  /** Number of defects that lenient reading tolerated. */
  readonly warnings: number;
}

type Decoder = SoifDecoder | SectionDecoder;
type Item = SoifItem | SectionItem;

/** Maximum number of warnings kept for one attempt. */
const MAX_WARNINGS = 100;

/** Bytes at the start of a stream that are searched for white space and a header. */
const MAX_SNIFFED = 4096;
const WRAPPED = /^[\t-\r ]*@(?:DELETE|REFRESH|UPDATE)[\t-\r ]*\{[\t-\r ]*[@}]/i;
/** A text that can become {@link WRAPPED} with more bytes. */
const MAYBE_WRAPPED =
  /^[\t-\r ]*(?:@(?:(?:DELETE|REFRESH|UPDATE)[\t-\r ]*(?:\{[\t-\r ]*)?|[DRU][A-Z]{0,6})?)?$/i;

/**
 * Validates a stream attempt by attempt, as `cksoif` does (SOIF-4.9). An attempt begins where the one before it
 * ended. It ends with an object, or fails at its first defect. The next one begins at the next plausible start
 * of an object (SOIF-4.5), so several defects of one object are one attempt, unless the text after the first
 * defect looks like an object. In strict mode (default) text between objects is a failed attempt too; in
 * lenient mode it is skipped (SOIF-4.1).
 *
 * A stream that begins with a section is read as an update stream: wrappers are not attempts (SOIF-8.6, 8.9).
 */
export async function* checkSoif(
  chunks: AsyncIterable<Uint8Array>,
  options: SoifDecoderOptions = {},
): AsyncGenerator<SoifAttempt, SoifCounts, undefined> {
  const settings = { ...options, mode: options.mode ?? 'strict' };
  const counter = new AttemptCounter(settings.mode === 'strict');
  let decoder: Decoder | undefined;
  let beginning: Uint8Array = new Uint8Array(0);
  for await (const chunk of chunks) {
    let next = chunk;
    if (decoder === undefined) {
      beginning = beginning.length === 0 ? chunk : Buffer.concat([beginning, chunk]);
      const wrapped = isWrapped(beginning, false);
      if (wrapped === undefined) continue;
      decoder = wrapped ? new SectionDecoder(settings) : new SoifDecoder(settings);
      next = beginning;
    }
    const reader = decoder;
    yield* counter.attempts(reader, () => reader.push(next));
  }
  if (decoder === undefined) {
    const reader = isWrapped(beginning, true) ? new SectionDecoder(settings) : new SoifDecoder(settings);
    yield* counter.attempts(reader, () => reader.push(beginning));
    decoder = reader;
  }
  const reader = decoder;
  yield* counter.attempts(reader, () => reader.end());
  return counter.counts;
}

/** Whether the stream is an update stream (SOIF-8.9); `undefined`: more bytes are needed. */
function isWrapped(beginning: Uint8Array, final: boolean): boolean | undefined {
  const text = Buffer.from(beginning.subarray(0, MAX_SNIFFED)).toString('latin1');
  if (WRAPPED.test(text)) return true;
  return final || beginning.length >= MAX_SNIFFED || !MAYBE_WRAPPED.test(text) ? false : undefined;
}

/** Numbers the attempts and collects the warnings of the current one. */
class AttemptCounter {
  #valid = 0;
  #attempts = 0;
  #warned = 0;
  #warnings: SoifWarning[] = [];
  /** Whether the last attempt has failed. */
  #lastFailed = false;
  readonly #strict: boolean;

  constructor(strict: boolean) {
    this.#strict = strict;
  }

  get counts(): SoifCounts {
    return { valid: this.#valid, attempts: this.#attempts, warnings: this.#warned };
  }

  /** The attempts of one step; resumes after each error in it. */
  *attempts(decoder: Decoder, first: () => readonly Item[]): Generator<SoifAttempt, void, undefined> {
    for (let step = first; ; step = () => decoder.resume()) {
      let items: readonly Item[];
      try {
        items = step();
      } catch (error) {
        if (!this.#strict || !(error instanceof ProtocolError)) throw error;
        const { rule, offset } = error;
        if (!this.#isConsequence(rule)) yield this.#failed({ rule, offset, message: error.problem });
        continue;
      }
      for (const item of items) {
        const attempt = this.#takeItem(item);
        if (attempt !== undefined) yield attempt;
      }
      if (!decoder.failed) return;
    }
  }

  #takeItem(item: Item): SoifAttempt | undefined {
    if (item.kind === 'object') {
      const { type, url } = item.object;
      this.#valid++;
      this.#lastFailed = false;
      return { ...this.#numbered(item.offset), valid: true, type, url };
    }
    if (item.kind !== 'warning' || this.#isConsequence(item.rule)) return undefined;
    if (item.rule !== 'SOIF-4.5') {
      // The last warning is always kept: it may be the reason for a failure.
      if (this.#warnings.length >= MAX_WARNINGS) this.#warnings.pop();
      this.#warnings.push(item);
      this.#warned++;
      return undefined;
    }
    // The warning about the skipped text follows the one with the reason: the attempt failed.
    const reason = this.#warnings.pop();
    if (reason !== undefined) this.#warned--;
    const { rule, offset, message } = reason ?? item;
    return this.#failed({ rule, offset, message });
  }

  /** The closing brace of a section is skipped with a malformed last object: that counts as one defect. */
  #isConsequence(rule: string): boolean {
    return this.#lastFailed && rule === 'SOIF-8.9';
  }

  #failed(problem: Omit<SoifWarning, 'kind'>): SoifAttempt {
    this.#lastFailed = true;
    return { ...this.#numbered(problem.offset), valid: false, problem };
  }

  #numbered(offset: number): Pick<SoifAttempt, 'number' | 'offset' | 'warnings'> {
    const warnings = this.#warnings;
    this.#warnings = [];
    return { number: ++this.#attempts, offset, warnings };
  }
}

/** `cksoif`'s line about one attempt (SOIF-4.9). */
export function attemptLine({ number, valid }: Pick<SoifAttempt, 'number' | 'valid'>): string {
  return `Attempt ${number}: ${valid ? 'Valid' : 'Invalid'} SOIF\n`;
}

/** `cksoif`'s last line (SOIF-4.9). */
export function countsLine({ valid, attempts }: Pick<SoifCounts, 'valid' | 'attempts'>): string {
  return `Successfully parsed ${valid} SOIF objects, in ${attempts} attempts\n`;
}
