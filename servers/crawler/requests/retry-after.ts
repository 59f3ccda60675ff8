import { parseHttpDate } from '../../../clients/fetch/headers.js';

/**
 * Parses Retry-After, seconds or a date (RFC 9110 10.2.3). A date counts from the server's own `Date`, because its
 * clock may be another one. Of a list, as of two header fields, the longest wait counts.
 * @param value of the header field; undefined if absent
 * @param now milliseconds since 1970
 * @param date the header field `Date` of the response
 * @returns milliseconds from now; 0 if it is absent, over or not valid
 */
export function retryAfter(value = '', now = Date.now(), date?: string): number {
  if (/^[\d\s,]+$/.test(value)) return Math.max(0, ...value.split(',').map((part) => Number(part) * 1000));
  const until = dateOf(value);
  if (until === undefined) return 0;
  return Math.max(0, Math.ceil(until - (dateOf(date) ?? now)));
}

/** A date of HTTP, or one of ISO 8601 with its zone, which some servers send; milliseconds. */
function dateOf(value = ''): number | undefined {
  const text = value.trim();
  const seconds = parseHttpDate(text);
  if (seconds > 0) return seconds * 1000;
  const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/.test(text)
    ? Date.parse(text)
    : NaN;
  return Number.isFinite(iso) ? iso : undefined;
}
