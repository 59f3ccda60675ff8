/**
 * A path pattern of an `Allow` or `Disallow` line, with `*` anywhere and `$` at the end (CRAWL-13.1.7, RFC
 * 9309).
 */
export class PathPattern {
  /** CRAWL-13.2.9: characters of the normalized pattern; the longest matching pattern wins. */
  readonly length: number;
  /** The literal pieces between the stars; the first is anchored at the start. */
  readonly #pieces: readonly string[];
  readonly #anchoredEnd: boolean;

  private constructor(pieces: readonly string[], anchoredEnd: boolean) {
    this.#pieces = pieces;
    this.#anchoredEnd = anchoredEnd;
    this.length =
      pieces.reduce((sum, piece) => sum + piece.length, pieces.length - 1) + (anchoredEnd ? 1 : 0);
  }

  /**
   * @param text the pattern as written; a pattern that begins neither with `/` nor with `*` matches no path
   *   (RFC 9309 2.2.2)
   */
  static parse(text: string): PathPattern {
    const anchoredEnd = text.endsWith('$');
    const body = (anchoredEnd ? text.slice(0, -1) : text).replace(/\*{2,}/g, '*');
    // CRAWL-13.1.5: a star at the very end has no effect.
    const meaningful = !anchoredEnd && body.endsWith('*') ? body.slice(0, -1) : body;
    return new PathPattern(meaningful.split('*').map(normalizePath), anchoredEnd);
  }

  /**
   * Takes time linear in the path for each piece: every piece matches at the first position, without
   * backtracking.
   * @param path a path normalized by {@link normalizePath}
   */
  matches(path: string): boolean {
    const pieces = this.#pieces;
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
 * Normalizes a path, so that `/~joe`, `/%7Ejoe` and `/%7ejoe` are the same rule (RFC 9309 2.2.2; the defect of
 * CRAWL-13.7 is that `%2f` and `%2F` differ). Escapes of unreserved characters are undone, the hexadecimal
 * digits of others become upper case, bytes beyond ASCII are escaped, and so are a `%` without digits and
 * literal `*` and `$`, which have a meaning in patterns. `%2F` stays different from `/`.
 */
export function normalizePath(text: string): string {
  if (/^[\w\-./=&+,:;@!()?~]*$/.test(text)) return text;
  return text.replace(/\p{Surrogate}/gu, '\ufffd').replace(/%[0-9a-fA-F]{2}|[%*$]|[^\x21-\x7e]/gu, (part) => {
    if (part === '*') return '%2A';
    if (part === '$') return '%24';
    // Otherwise it might become an escape with the characters that follow.
    if (part === '%') return '%25';
    if (part.length < 3 || part[0] !== '%') return encodeURIComponent(part);
    const character = String.fromCharCode(Number.parseInt(part.slice(1), 16));
    return /[\w\-.~]/.test(character) ? character : part.toUpperCase();
  });
}
