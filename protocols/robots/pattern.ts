/**
 * A path pattern of an `Allow` or `Disallow` line, with `*` anywhere and `$` at the end (CRAWL-13.1.7, RFC
 * 9309).
 */
export class PathPattern {
  /** CRAWL-13.2.9: characters of the normalized pattern; the longest matching pattern wins. */
  readonly length: number;
  /** The literal pieces between the stars; the first is anchored at the start. */
  readonly #pieces: readonly string[];
  /** The same with `/` and `?` for their escapes in the query. */
  readonly #foldedPieces: readonly string[];
  readonly #anchoredEnd: boolean;

  private constructor(pieces: readonly string[], anchoredEnd: boolean) {
    this.#pieces = pieces;
    this.#foldedPieces = foldQuery(pieces.join('*')).split('*');
    this.#anchoredEnd = anchoredEnd;
    this.length =
      pieces.reduce((sum, piece) => sum + piece.length, pieces.length - 1) + (anchoredEnd ? 1 : 0);
  }

  /**
   * @param text the pattern as written, one UTF-16 unit for each octet; a pattern that begins neither with `/` nor
   *   with `*` matches no path (RFC 9309 2.2.2)
   */
  static parse(text: string): PathPattern {
    const anchoredEnd = text.endsWith('$');
    const body = (anchoredEnd ? text.slice(0, -1) : text).replace(/\*{2,}/g, '*');
    // CRAWL-13.1.5: a star at the very end has no effect.
    const meaningful = !anchoredEnd && body.endsWith('*') ? body.slice(0, -1) : body;
    return new PathPattern(meaningful.split('*').map(normalizeOctets), anchoredEnd);
  }

  /**
   * Takes time linear in the path for each piece: every piece matches at the first position, without
   * backtracking.
   * @param path a path normalized by {@link normalizePath}
   */
  matches(path: string): boolean {
    if (this.#match(this.#pieces, path)) return true;
    // What follows a star may be in the path or in the query, so that both forms are tried.
    return path.includes('?') && this.#match(this.#foldedPieces, foldQuery(path));
  }

  #match(pieces: readonly string[], path: string): boolean {
    const first = pieces[0]!;
    if (!path.startsWith(first)) return false;
    const last = pieces.length - 1;
    if (last === 0) return !this.#anchoredEnd || path.length === first.length;
    let position = first.length;
    for (let i = 1; i < last; i++) {
      const found = path.indexOf(pieces[i]!, position);
      if (found < 0) return false;
      position = found + pieces[i]!.length;
    }
    const tail = pieces[last]!;
    if (!this.#anchoredEnd) return path.includes(tail, position);
    return path.length - tail.length >= position && path.endsWith(tail);
  }
}

/**
 * Normalizes a path with its query, so that `/~joe`, `/%7Ejoe` and `/%7ejoe` are the same (RFC 9309 2.2.2; the
 * defect of CRAWL-13.7 is that `%2f` and `%2F` differ). Characters other than ASCII are escaped as UTF-8.
 */
export function normalizePath(text: string): string {
  return PLAIN.test(text) ? text : normalizeOctets(Buffer.from(text, 'utf8').toString('latin1'));
}

const PLAIN = /^[\w\-./=&+,:;@!()?~']*$/;

/** What has no escape in the normal form. */
const LITERAL = /[\w\-.~!'()+,;=&:@]/;

/**
 * Returns the normal form. RFC 9309 compares reserved characters in their escaped form, so that `,` and `%2C` are the
 * same: here both are the character. In a path `%2F` and `%3F` stay different from `/` and `?`, which divide it. What no
 * URL has as it is, octets above 7F included, is escaped, as are a `%` without digits and `*` and `$`, which have a
 * meaning in patterns.
 */
function normalizeOctets(octets: string): string {
  if (PLAIN.test(octets)) return octets;
  return octets.replace(/%[0-9a-fA-F]{2}|[%*$"<>[\\\]^`{|}]|[^\x21-\x7e]/g, (part) => {
    const isEscape = part.length === 3;
    const code = isEscape ? Number.parseInt(part.slice(1), 16) : part.charCodeAt(0);
    const character = String.fromCharCode(code);
    if (isEscape && LITERAL.test(character)) return character;
    // A `%` alone might become an escape with the characters that follow.
    return `%${code.toString(16).toUpperCase().padStart(2, '0')}`;
  });
}

/** In a query `/` and `?` divide nothing, so that their escapes are the same (RFC 9309 2.2.2, the table). */
function foldQuery(path: string): string {
  const query = path.indexOf('?') + 1;
  if (query === 0 || !path.includes('%', query)) return path;
  return path.slice(0, query) + path.slice(query).replaceAll('%2F', '/').replaceAll('%3F', '?');
}
