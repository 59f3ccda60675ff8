import { UsageError } from '../../protocols/errors.js';
import { decodeSoif, encodeSoif, SoifObject, timesOf } from '../../protocols/soif/index.js';
import type { UnixSeconds } from '../../protocols/time.js';

/** A row of a database file: key = URL, value = the object's SOIF text (G-113, GATHERD-10.1). */
export interface DatabaseRecord {
  readonly url: string;
  /** `undefined`: the object does not say, or not as a number. */
  readonly updateTime: UnixSeconds | undefined;
  /** Seconds; the default of SOIF-6.2 when the object does not say. */
  readonly timeToLive: number;
  /** The object, complete, as it goes over the wire. */
  readonly soif: Uint8Array;
}

/**
 * The record of an object.
 *
 * @param bytes the object as it came, when it has the layout of SOIF-2.2; else it is encoded.
 * @throws UsageError the object has no URL.
 */
export function recordOf(object: SoifObject, bytes?: Uint8Array): DatabaseRecord {
  // SQLite's text ends at a NUL, so such a URL is written percent-encoded first (SOIF-2.9).
  if (bytes === undefined || object.url.includes('\0')) {
    const soif = encodeSoif(object);
    return recordOf(decodeSoif(soif), soif);
  }
  const { updateTime, timeToLive } = timesOf(object);
  return { url: object.url, updateTime, timeToLive, soif: bytes };
}

/** What writers leave as it is: ASCII without white space, control characters and braces. */
const PLAIN_URL = /^[!-z|~]+$/;

/** Whether writers write the URL as it is (SOIF-2.9). */
export function isStoredUrl(url: string): boolean {
  return PLAIN_URL.test(url);
}

/** The key under which databases keep a URL that somebody typed: percent-encoded as writers do it (SOIF-2.9). @throws UsageError it is empty or has white space. */
export function storedUrl(url: string): string {
  if (url === '' || /[\t-\r ]/.test(url)) throw new UsageError(`not a URL: ${JSON.stringify(url)}`);
  return isStoredUrl(url) ? url : decodeSoif(encodeSoif(SoifObject.of('FILE', url, []))).url;
}
