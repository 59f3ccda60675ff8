// Determines body length (RFC 9112 6.3), even from malformed headers.
import { trimBlanks } from '../ascii.js';
import type { Deviation, HttpField } from './head.js';

/** Where a body ends. */
export type Framing =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'length';
      readonly length: number;
      /** Whether the header names this length alone. Otherwise the end of the connection ends the body, too. */
      readonly isCertain: boolean;
    }
  | { readonly kind: 'close' }
  | {
      readonly kind: 'chunked';
      /** The framing if the body does not begin with the size of a chunk. */
      readonly otherwise: Framing;
    };

/** Transfer codings that a fetcher can undo (RFC 9112 7.2). */
const CODINGS: ReadonlySet<string> = new Set(['gzip', 'x-gzip', 'deflate', 'br']);

/**
 * Finds the framing of a body by status and header (RFC 9112 6.3).
 *
 * Transfer-Encoding is stronger than Content-Length (rule 3). Of several Content-Lengths the largest is used,
 * and the end of the connection ends the body as well; one that is not a number, or above 2^53, is ignored, so
 * that the body ends with the connection (rule 8). RFC 9112 has such a message dropped (rule 5), because a
 * connection that is shared could deliver the rest as the next response: the reader is for connections with a
 * single request.
 */
export function bodyFraming(
  status: number,
  fields: readonly HttpField[],
  note: (deviation: Deviation) => void,
): { readonly framing: Framing; readonly transferCodings: readonly string[] } {
  const lengths = listOf(fields, 'content-length');
  const codings = listOf(fields, 'transfer-encoding').map((coding) =>
    trimBlanks(coding.split(';', 1)[0]!).toLowerCase(),
  );
  const isWithoutBody = (status >= 100 && status < 200) || status === 204 || status === 304;
  if (isWithoutBody) return { framing: { kind: 'none' }, transferCodings: [] };
  const named = codings.filter((coding) => coding !== '' && coding !== 'identity');
  const transferCodings = named.filter((coding) => CODINGS.has(coding));
  const isChunked = named.includes('chunked');
  const isByRule =
    codings.length === 0 || (named.length === transferCodings.length + 1 && named.at(-1) === 'chunked');
  if (!isByRule || (named.length > 0 && lengths.length > 0)) note('transfer-encoding');
  if (isChunked) {
    const otherwise = lengthFraming(lengths, () => undefined);
    return { framing: { kind: 'chunked', otherwise }, transferCodings };
  }
  if (transferCodings.length > 0) return { framing: { kind: 'close' }, transferCodings };
  return { framing: lengthFraming(lengths, note), transferCodings };
}

function lengthFraming(values: readonly string[], note: (deviation: Deviation) => void): Framing {
  const lengths = values.filter((value) => /^\d+$/.test(value)).map(Number);
  const possible = lengths.filter((length) => Number.isSafeInteger(length));
  if (values.length > 1 || possible.length < values.length) note('content-length');
  if (possible.length === 0) return { kind: 'close' };
  // Not Math.max(...): a header may have any number of them.
  const length = possible.reduce((a, b) => Math.max(a, b));
  const isCertain = possible.length === values.length && possible.every((other) => other === length);
  return { kind: 'length', length, isCertain };
}

/** The members of all fields of a name; an empty member is one. */
function listOf(fields: readonly HttpField[], name: string): string[] {
  return fields
    .filter((field) => field.name.toLowerCase() === name)
    .flatMap(({ value }) => value.split(',').map(trimBlanks));
}
