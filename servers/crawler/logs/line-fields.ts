// Formats the fields of log lines: escaped text, JSON strings, times.
import { escapeJsonControls } from '../../../protocols/visible-text.js';

/**
 * White space of any script, controls, marks of writing direction, and lone surrogates, which UTF-8 cannot
 * represent.
 */
const FIELD_BREAKERS = /[\s\u0000-\u0020\u007f-\u00a0]|\p{Bidi_Control}|\p{Cs}/gu;

/** Text without characters to escape, as nearly all URIs are. */
const PLAIN = /^[!-~]*$/;

/**
 * Escapes a field of a line: characters that would separate fields or end the line are percent-escaped. A URI
 * stays the same URI, because CRAWL-2.1 escapes these characters too. The function is idempotent.
 */
export function escapeField(text: string): string {
  return PLAIN.test(text) ? text : text.replace(FIELD_BREAKERS, escapeCharacter);
}

/** Escapes an annotation: {@link escapeField}, and commas, which separate annotations (CRAWL-16.1 field 12). */
export function escapeAnnotation(text: string): string {
  return escapeField(text).replaceAll(',', '%2C');
}

function escapeCharacter(character: string): string {
  return /\p{Cs}/u.test(character) ? '%EF%BF%BD' : encodeURIComponent(character);
}

/** Formats a text as a JSON string on one line, at most `limit` characters of it. */
export function quoted(text: string, limit = 2000): string {
  return escapeJsonControls(JSON.stringify(text.length > limit ? `${text.slice(0, limit)}…` : text));
}

/** `2026-01-31T23:59:59.123Z` (CRAWL-16.1 field 1). @param time milliseconds since 1970 */
export function isoTime(time: number): string {
  return new Date(time).toISOString();
}

/** `2026-01-31T23:59:59Z` (CRAWL-16.3). @param time milliseconds since 1970 */
export function isoSeconds(time: number): string {
  return `${isoTime(time).slice(0, 19)}Z`;
}

/** `20260131235959123` (CRAWL-16.1 field 9). @param time milliseconds since 1970 */
export function time17(time: number): string {
  const iso = isoTime(time);
  const date = iso.slice(0, 4) + iso.slice(5, 7) + iso.slice(8, 10);
  return date + iso.slice(11, 13) + iso.slice(14, 16) + iso.slice(17, 19) + iso.slice(20, 23);
}

/** `20260131235959` (CRAWL-17.1.1). @param time milliseconds since 1970 */
export function time14(time: number): string {
  return time17(time).slice(0, 14);
}

/**
 * Parses {@link time17} and {@link time14}.
 *
 * @returns milliseconds since 1970; undefined if it is not valid
 */
export function parseDigitTime(text: string): number | undefined {
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d{3})?$/.exec(text);
  if (parts === null) return undefined;
  const [, year, month, day, hour, minute, second, rest = '000'] = parts;
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${rest}Z`);
  return Number.isNaN(time) ? undefined : time;
}
