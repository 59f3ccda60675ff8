import { UsageError } from '../../protocols/errors.js';
import { decodeSoif, encodeSoif, SoifObject, timesOf } from '../../protocols/soif/index.js';
import type { UnixSeconds } from '../../protocols/time.js';

/** A row of a database file: key = URL, value = the object's SOIF text (G-113, GATHERD-10.1). */
export interface DatabaseRecord {
  readonly url: string;
  /** Undefined if the object has none or it is not a number. */
  readonly updateTime: UnixSeconds | undefined;
  /** Seconds; the default of SOIF-6.2 if the object has none. */
  readonly timeToLive: number;
  /** The complete object in its wire format. */
  readonly soif: Uint8Array;
}

/**
 * Returns the record of an object.
 *
 * @param bytes the object's original bytes if they have the layout of SOIF-2.2; by default the object is encoded
 * @throws UsageError if the object has no URL
 */
export function recordOf(object: SoifObject, bytes?: Uint8Array): DatabaseRecord {
  // SQLite's text ends at a NUL, so a URL with a NUL is percent-encoded first (SOIF-2.9).
  if (bytes === undefined || object.url.includes('\0')) {
    const soif = encodeSoif(object);
    return recordOf(decodeSoif(soif), soif);
  }
  const { updateTime, timeToLive } = timesOf(object);
  return { url: object.url, updateTime, timeToLive, soif: bytes };
}

/** A URL that writers leave unchanged: ASCII without white space, control characters and braces. */
const PLAIN_URL = /^[!-z|~]+$/;

/** Whether writers leave the URL unchanged (SOIF-2.9). */
export function isStoredUrl(url: string): boolean {
  return PLAIN_URL.test(url);
}

/**
 * Returns the key of a URL from user input, percent-encoded as writers do (SOIF-2.9).
 * @throws UsageError if the URL is empty or has white space
 */
export function storedUrl(url: string): string {
  if (url === '' || /[\t-\r ]/.test(url)) throw new UsageError(`not a URL: ${JSON.stringify(url)}`);
  return isStoredUrl(url) ? url : decodeSoif(encodeSoif(SoifObject.of('FILE', url, []))).url;
}
