// Whether a result has the whole document, and what cut it.
import type { FetchResult, Truncation } from './types.js';

/**
 * Returns what cut the bytes that a server sent; undefined if they are complete, as far as that can be known.
 * Those of the wire count, if they were kept: a complete body may be longer than the limit once it is decoded.
 */
export function truncationOf(result: FetchResult): Truncation | undefined {
  if (result.late !== undefined) return 'time';
  // Of a body that also ends too soon, the limit is what keeps bytes out that came.
  if ((result.wire ?? result).truncated) return 'length';
  return result.lenient?.problem === undefined ? undefined : (result.lenient.cut ?? 'disconnect');
}

/**
 * Returns whether `body` is the whole document. Only then may its digest be compared with others, or stored for
 * it: the beginnings of two documents can be equal.
 */
export function isWhole(result: FetchResult): boolean {
  return !result.truncated && isPayloadWhole(result);
}

/**
 * Returns whether the bytes that the server sent are the whole document: those of the wire, if they were kept,
 * of which `body` may be a part.
 */
export function isPayloadWhole(result: FetchResult): boolean {
  return truncationOf(result) === undefined;
}
