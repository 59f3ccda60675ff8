/**
 * Parses Retry-After, seconds or a date (RFC 9110 10.2.3).
 * @param value of the header field; undefined if absent
 * @param now milliseconds since 1970
 * @returns milliseconds from now; 0 if it is absent or not valid
 */
export function retryAfter(value = '', now = Date.now()): number {
  const seconds = /^\s*\d{1,9}\s*$/.test(value) ? Number(value) : (Date.parse(value) - now) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds * 1000)) : 0;
}
