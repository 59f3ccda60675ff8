// The character sets of the servers from which documents come: a page without a declaration is probably in that
// of its neighbors.

/** Servers that are remembered. */
const MAX_ORIGINS = 1000;

/**
 * Remembers the character set of the last text of each server that declared one, or was long enough for a
 * guess.
 */
export class OriginCharsets {
  readonly #max: number;
  readonly #byOrigin = new Map<string, string>();

  /** @param max - servers that are remembered; the one that was used longest ago is forgotten. */
  constructor(max = MAX_ORIGINS) {
    this.#max = max;
  }

  /** The character set of a text from the server of this URL. */
  likely(url: string): string | undefined {
    const origin = originOf(url);
    const charset = origin === undefined ? undefined : this.#byOrigin.get(origin);
    if (origin !== undefined && charset !== undefined) this.#put(origin, charset);
    return charset;
  }

  remember(url: string, charset: string): void {
    const origin = originOf(url);
    if (origin !== undefined) this.#put(origin, charset);
  }

  #put(origin: string, charset: string): void {
    this.#byOrigin.delete(origin);
    this.#byOrigin.set(origin, charset);
    const oldest = this.#byOrigin.keys().next();
    if (this.#byOrigin.size > this.#max && oldest.done !== true) this.#byOrigin.delete(oldest.value);
  }
}

/** Scheme, host and port of a canonical URL. */
function originOf(url: string): string | undefined {
  return /^[a-z]+:\/\/[^/?#]{1,300}/.exec(url)?.[0];
}
