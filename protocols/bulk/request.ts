// The message that requests a bulk transfer (BT-2 to BT-6), with the extensions of this kit.
import { frameMessage } from '../broker/index.js';
import type { UnixSeconds } from '../time.js';

/** The parameters of a request (BT-2 to BT-6). */
export interface BulkRequest {
  /**
   * `#SINCE`: requests only the changes after this time; 0 requests everything (BT-4). Absent: no `#SINCE`
   * (type 6).
   */
  readonly since?: UnixSeconds | undefined;
  /** Text of more flags, as in `--FLAGS` of Collection.conf (BT-6). */
  readonly flags?: string | undefined;
  /** Text of the query. Default `#ALLB`. */
  readonly query?: string | undefined;
  /** 2 requests the interface of 1995 (BP-29). Default 1: the flag is not sent. */
  readonly interface?: 1 | 2;
  /**
   * Only with interface 2: requests a CompressedBulkTransfer by `#compress` (BP-30), an extension of this kit.
   */
  readonly compress?: boolean;
  /**
   * Only with interface 2: requests the digest of a prefix instead of objects, an extension of this kit; see
   * `digest.ts`.
   */
  readonly digest?: string;
}

/**
 * Encodes the message of a bulk transfer, CR LF included. With only `since: 0` it is exactly the message of
 * BT-3.
 * @throws RangeError for a time that is not a whole number from 0 and for a malformed prefix, TypeError for an
 * extension without interface 2, UsageError for flags or a query that do not fit on one message line
 */
export function encodeBulkRequest(request: BulkRequest): Uint8Array {
  const { since, flags = '', query = '#ALLB', digest, compress = false } = request;
  if (since !== undefined && !(Number.isSafeInteger(since) && since >= 0)) {
    throw new RangeError(`a time is a whole number of seconds from 0, not ${since}`);
  }
  if (request.interface !== 2 && (digest !== undefined || compress)) {
    throw new TypeError('#digest and #compress need #interface 2');
  }
  if (digest !== undefined && !isDigestPrefix(digest)) {
    throw new RangeError(`a prefix has 0 to ${MAX_PREFIX} lower-case hex digits, not: ${digest}`);
  }
  const words = ['#BULK'];
  if (since !== undefined) words.push(`#SINCE ${since}`);
  words.push(flags.trim());
  if (request.interface === 2) words.push('#interface 2');
  if (compress) words.push('#compress');
  if (digest !== undefined) words.push(`#digest ${digest === '' ? '-' : digest}`);
  words.push('#END', query.trim());
  return frameMessage(words.filter((word) => word !== '').join(' '));
}

/** Hex digits of the longest digest prefix. */
export const MAX_PREFIX = 16;

/** Whether `text` is a prefix for `#digest`: 0 to {@link MAX_PREFIX} lower-case hex digits. */
export function isDigestPrefix(text: string): boolean {
  return text.length <= MAX_PREFIX && /^[\da-f]*$/.test(text);
}
