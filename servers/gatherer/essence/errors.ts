import { KitError } from '../../../protocols/errors.js';

/** A document could not be summarised: its worker crashed, ran out of memory or exceeded the time limit (E-70). */
export class EssenceError extends KitError {
  readonly code = 'ERR_ESSENCE';
  constructor(
    message: string,
    /** The document that failed. */
    readonly url: string,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}
