import type { ListedReference, ListingFormat, ListingKind } from './listing-model.js';

/** Maximum length of a line in UTF-16 units; a URL may have 2083. */
const MAX_LINE = 8192;

/**
 * G-172: reads text sitemaps, one URL a line, and the `Sitemap:` lines of robots.txt, which are independent of
 * groups.
 */
export class ListingText implements ListingFormat {
  readonly #format: 'text' | 'robots';
  readonly found: ListedReference[] = [];
  readonly problem = undefined;
  #hasEntries = false;
  #pending = '';

  constructor(format: 'text' | 'robots') {
    this.#format = format;
  }

  get kind(): ListingKind | undefined {
    return this.#format === 'robots' || this.#hasEntries ? this.#format : undefined;
  }

  write(text: string): void {
    const lines = (this.#pending + text).split(/\r\n|\r|\n/);
    // A line that is too long is replaced by blanks, so that its end is not taken for a line.
    const lastLine = lines.pop() ?? '';
    this.#pending = lastLine.length > MAX_LINE ? ' '.repeat(MAX_LINE) : lastLine;
    for (const line of lines) this.#readLine(line);
  }

  end(): void {
    this.#readLine(this.#pending);
    this.#pending = '';
  }

  #readLine(line: string): void {
    if (line.length > MAX_LINE) return;
    const reference =
      this.#format === 'robots'
        ? /^\s*sitemap\s*:\s*(\S+)/i.exec(line)?.[1]
        : /^\s*((?:[a-z]+:\/\/|news:)\S+)\s*$/i.exec(line)?.[1];
    if (reference === undefined) return;
    this.#hasEntries = true;
    this.found.push({
      reference,
      base: '',
      lastModified: 0,
      kind: this.#format === 'robots' ? 'listing' : 'document',
    });
  }
}
