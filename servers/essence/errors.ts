import { KitError } from '../../protocols/errors.js';

/**
 * A document could not be summarized: its worker crashed, ran out of memory or exceeded the time limit (E-70).
 */
export class EssenceError extends KitError {
  readonly code = 'ERR_ESSENCE';
  constructor(
    message: string,
    /** The document that failed. */
    readonly url: string,
  ) {
    super(message);
  }
}

/**
 * A nested file could not be unpacked completely: its bytes are not of the format it claims, or a limit of E-45
 * was reached. Only the rest of that file is lost; the error becomes a warning of its document.
 */
export class UnnestError extends KitError {
  readonly code = 'ERR_UNNEST';
  constructor(
    message: string,
    /** The rule of the essence specification. */
    readonly rule: string,
    cause?: unknown,
  ) {
    super(`${message} (${rule})`, { cause });
  }
}
