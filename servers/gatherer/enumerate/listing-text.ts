import type { ListedReference, ListingFormat, ListingKind } from './listing-model.js';

/** Limit of a line in UTF-16 units; a URL may have 2083. */
const MAX_LINE = 8192;

/** G-172: reads text sitemaps, one URL a line, and the `Sitemap:` lines of robots.txt, which are independent of groups. */
export class ListingText implements ListingFormat {
  readonly found: ListedReference[] = [];
  readonly problem = undefined;
  #listed = false;
  #rest = '';

  constructor(private readonly form: 'text' | 'robots') {}

  get kind(): ListingKind | undefined {
    return this.form === 'robots' || this.#listed ? this.form : undefined;
  }

  write(text: string): void {
    const lines = (this.#rest + text).split(/\r\n|\r|\n/);
    // A line that is too long is replaced by blanks, so that its end is not taken for a line.
    const rest = lines.pop() ?? '';
    this.#rest = rest.length > MAX_LINE ? ' '.repeat(MAX_LINE) : rest;
    for (const line of lines) this.#line(line);
  }

  end(): void {
    this.#line(this.#rest);
    this.#rest = '';
  }

  #line(line: string): void {
    if (line.length > MAX_LINE) return;
    const reference =
      this.form === 'robots'
        ? /^\s*sitemap\s*:\s*(\S+)/i.exec(line)?.[1]
        : /^\s*((?:[a-z]+:\/\/|news:)\S+)\s*$/i.exec(line)?.[1];
    if (reference === undefined) return;
    this.#listed = true;
    this.found.push({
      reference,
      base: '',
      lastModified: 0,
      kind: this.form === 'robots' ? 'listing' : 'document',
    });
  }
}
