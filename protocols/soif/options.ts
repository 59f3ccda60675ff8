// The options and limits of the SOIF decoders.
import type { Complete } from '../defined.js';
/**
 * `harvest`: plain SOIF. `rdm`: Netscape/Sun, where `name-1`, `name-2`... are the values of one attribute
 * `name` (SOIF-5.8, 9.3); they are joined by LF (SOIF-5.1). `starts`: objects may lack the URL, as in
 * `@SQuery{` (SOIF-9.4); their URL is then ''.
 */
export type SoifDialect = 'harvest' | 'rdm' | 'starts';

/** Options of the decoders of SOIF. */
export interface SoifDecoderOptions {
  /**
   * The columns of SOIF-4.4: `lenient` (default) for data from the network, `strict` for validators and stored
   * objects.
   */
  readonly mode?: 'strict' | 'lenient';
  /**
   * Bytes of one object; default 64 MiB, at most 512 MiB. A decoder holds about twice this while its memory
   * grows.
   */
  readonly maxObjectBytes?: number | undefined;
  /** Bytes of one value; default `maxObjectBytes`. */
  readonly maxValueBytes?: number;
  /**
   * Bytes of an attribute's name; default 4096, since stray text of a value with a short count counts as name
   * (SOIF-4.4).
   */
  readonly maxNameBytes?: number;
  /** Attributes of one object; default 65 536. A small attribute costs many times its bytes in memory. */
  readonly maxAttributes?: number;
  /** Bytes of a URL and of a template type; default 65 535 (SOIF-4.4). */
  readonly maxUrlBytes?: number;
  /**
   * Strict mode accepts the byte 0xFF in a URL, which SOIF-4.4 refuses because the original reads it from files
   * only. For readers of objects that others relay, URLs unchanged (BRK-1.10). Default false.
   */
  readonly anyUrlByte?: boolean;
  /**
   * Bytes of an object above which a `SectionDecoder` does not hold it: it passes the bytes on as they arrive,
   * and then a `large` item (`protocols/soif/sections.ts`). Default: every object is held.
   */
  readonly largeBytes?: number | undefined;
  readonly dialect?: SoifDialect;
}

/** {@link SoifDecoderOptions} with the defaults applied. */
export interface DecoderLimits extends Omit<Complete<SoifDecoderOptions>, 'mode'> {
  readonly strict: boolean;
}

export const MEBIBYTE = 1024 * 1024;
/**
 * The largest `maxObjectBytes`: offsets inside an object's memory are 32-bit numbers, and memory grows to twice
 * the size of an object.
 */
export const MAX_OBJECT_BYTES = 512 * MEBIBYTE;

/** Applies the defaults. @throws RangeError for a limit that is not a positive whole number, or too large. */
export function decoderLimits(options: SoifDecoderOptions): DecoderLimits {
  const maxObjectBytes = checkLimit('maxObjectBytes', options.maxObjectBytes ?? 64 * MEBIBYTE);
  return {
    strict: options.mode === 'strict',
    maxObjectBytes,
    maxValueBytes: Math.min(
      maxObjectBytes,
      checkLimit('maxValueBytes', options.maxValueBytes ?? maxObjectBytes),
    ),
    maxNameBytes: checkLimit('maxNameBytes', options.maxNameBytes ?? 4096),
    maxAttributes: checkLimit('maxAttributes', options.maxAttributes ?? 65_536),
    maxUrlBytes: checkLimit('maxUrlBytes', options.maxUrlBytes ?? 65_535),
    anyUrlByte: options.anyUrlByte ?? false,
    largeBytes:
      options.largeBytes === undefined
        ? Number.POSITIVE_INFINITY
        : checkLimit('largeBytes', options.largeBytes),
    dialect: options.dialect ?? 'harvest',
  };
}

/** Checks a limit in bytes and returns it. @throws RangeError */
export function checkLimit(name: string, value: number): number {
  if (!Number.isInteger(value) || value < 1 || value > MAX_OBJECT_BYTES) {
    throw new RangeError(`${name} must be between 1 and ${MAX_OBJECT_BYTES}, not ${value}`);
  }
  return value;
}
