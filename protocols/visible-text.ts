// Makes text of others safe to show: control characters could move the cursor, marks of writing direction could
// reorder a line.

/**
 * Controls beyond ASCII (DEL, the C1 set) and Unicode's line separators and bidirectional controls, for a
 * character class.
 */
const BEYOND_ASCII = '\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069';

const CONTROLS = new RegExp(`[\\0-\\x1f${BEYOND_ASCII}]`, 'g');
const TEXT_CONTROLS = new RegExp(`[\\0-\\x08\\x0b-\\x1f${BEYOND_ASCII}]`, 'g');
const JSON_CONTROLS = new RegExp(`[${BEYOND_ASCII}]`, 'g');

/** Replaces control characters, line ends and marks of writing direction. */
export function replaceControls(text: string, replacement: string): string {
  return text.replace(CONTROLS, replacement);
}

/** Like {@link replaceControls}, except tabs and line feeds. */
export function replaceTextControls(text: string, replace: (character: string) => string): string {
  return text.replace(TEXT_CONTROLS, replace);
}

/**
 * Escapes control characters, line ends and marks of writing direction as `\x1b` and `\u202e`, for a line of a
 * log.
 */
export function escapeControls(text: string): string {
  return text.replace(CONTROLS, (character) => {
    const code = character.charCodeAt(0).toString(16);
    return code.length > 2 ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`;
  });
}

/** Escapes in a JSON text what JSON permits in strings: the same value, without an effect on a terminal. */
export function escapeJsonControls(json: string): string {
  return json.replace(
    JSON_CONTROLS,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Characters of {@link excerpt}. */
const MAX_EXCERPT = 200;

/**
 * The part of a peer's text that a message repeats: a peer must not choose how long a line of a reply or a log
 * is.
 */
export function excerpt(text: string): string {
  return text.length > MAX_EXCERPT ? `${text.slice(0, MAX_EXCERPT)}...` : text;
}

/** A scheme and a login of an authority; a login is at most as long as a URL. */
const LOGIN = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^/?#\s"<>]{1,2083}@/gi;

/**
 * A login whose password has a character that belongs into no authority; a number and a slash are the port and
 * path of a URL.
 */
const ODD_LOGIN = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^/?#\s"<>:@]{1,255}:(?!\d{0,5}[/?#])[^\s"<>]{1,2083}@/gi;

/**
 * Removes logins from URLs in a text, also in JSON: `ftp://user:password@host/` becomes `ftp://host/` (G-81).
 */
export function redactLogins(text: string): string {
  return text.includes('@') ? text.replace(LOGIN, '$1').replace(ODD_LOGIN, '$1') : text;
}
