/**
 * Undoes the escapes of unreserved characters: letters, digits, `-`, `.`, `_` and `~` (RFC 3986, section 2.3).
 * Both spellings are the same URL. Other escapes stay as they are written.
 */
export function unescapeUnreserved(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/%(?:2[DE]|3\d|[46][1-9A-F]|[57][\dA]|5F|7E)/gi, (encoded) =>
    String.fromCharCode(Number.parseInt(encoded.slice(1), 16)),
  );
}
