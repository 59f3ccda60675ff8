// A rule of a grammar beside the codec that reads its sentences.
import { ConfigError, PeerError, ProtocolError, UsageError } from '../../../protocols/errors.js';
import { bytesOfVector, readVectors } from '../vectors/vector-file.js';

/** A rule of a grammar beside the codec that reads its sentences. */
export interface Pair {
  readonly folder: string;
  readonly rule: string;
  /** The rule by which the codec refuses a sentence, or another name of the reason; undefined if it accepts. */
  readonly refusal: (sentence: Uint8Array) => string | undefined;
  /** Sentences to mutate, where counts make those of the grammar useless. */
  readonly seeds?: () => readonly Uint8Array[];
  /**
   * Refusals of what the grammar derives, all of them if counts or the longest tokens decide. The document says
   * beside the grammar that it cannot express them.
   */
  readonly beyond?: readonly string[] | 'any';
  /** Sentences that are compared; the document says what happens before the grammar reads a file. */
  readonly isCompared?: (sentence: string) => boolean;
  /** The document says which looser forms a reader accepts as well. */
  readonly isLoose?: true;
}

/** The rule of the error of a call, or its message if it names none; undefined if it does not throw. */
export function ruleOf(call: () => unknown): string | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    if (error instanceof ProtocolError) return error.rule;
    if (error instanceof UsageError || error instanceof ConfigError || error instanceof PeerError)
      return error.message;
    throw error;
  }
}

/** The bytes of the valid vectors of a file. */
export const valid = (file: string) => (): Uint8Array[] =>
  readVectors(file)
    .vectors.filter(({ verdict }) => verdict === 'valid')
    .map(bytesOfVector);
