import { UsageError } from '../../protocols/errors.js';
import { encodeSoif, type SoifObject, timesOf, urlOfText } from '../../protocols/soif/index.js';
import type { UnixSeconds } from '../../protocols/time.js';

/** A row of a database file: key = URL, value = the object's SOIF text (G-113, GATHERD-10.1). */
export interface DatabaseRecord {
  /** One character a byte. */
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
 * @param bytes the object's original bytes if they have the layout of SOIF-2.2; by default the object is
 *   encoded
 * @throws ProtocolError SOIF-2.9 if the object has no URL, or one that readers would read otherwise
 */
export function recordOf(object: SoifObject, bytes: Uint8Array = encodeSoif(object)): DatabaseRecord {
  const { updateTime, timeToLive } = timesOf(object);
  return { url: object.url, updateTime, timeToLive, soif: bytes };
}

/**
 * Returns the key of a URL that a user wrote: its UTF-8.
 * @throws UsageError if the URL is empty or has white space
 */
export function storedUrl(text: string): string {
  if (text === '' || /[\t-\r ]/.test(text)) throw new UsageError(`not a URL: ${JSON.stringify(text)}`);
  return urlOfText(text);
}
