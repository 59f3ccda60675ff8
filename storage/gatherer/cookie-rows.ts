// The cookies of a crawl, a row for each site.
import { TABLE, tableRange, textKey } from '../level/keys.js';
import type { Level } from '../level/level.js';

/** The stored cookies by site. What a row contains is the crawler's concern. */
export class CookieStore {
  readonly #level: Level;

  constructor(level: Level) {
    this.#level = level;
  }

  /** @param site in lower case, e.g. `example.org` */
  get(site: string): Promise<Uint8Array | undefined> {
    return this.#level.get(textKey(TABLE.cookies, site));
  }

  /** All rows, in the order of the sites. */
  async *pages(): AsyncGenerator<Uint8Array[], void, undefined> {
    for await (const rows of this.#level.pages(tableRange(TABLE.cookies)))
      yield rows.map(([, cookies]) => cookies);
  }
}
