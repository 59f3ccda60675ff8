import { cleanUri } from '../../../protocols/urls/index.js';

/** What a text of seeds says (CRAWL-10.1.5). */
export interface SeedList {
  /** Cleaned, each once. */
  readonly seeds: readonly string[];
  /** Lines for accepting SURT prefix rules: what stood behind a `+`. */
  readonly acceptSurts: readonly string[];
  /** Lines for rejecting ones: what stood behind a `-`. */
  readonly rejectSurts: readonly string[];
  /** Lines that are nothing of this, for the report; numbers from 1. */
  readonly ignored: readonly { readonly line: string; readonly lineNumber: number }[];
}

/** Reads seeds, one a line; `#` begins a comment; without a scheme they are `http` (CRAWL-10.1.5). */
export function parseSeeds(text: string): SeedList {
  const seeds = new Set<string>();
  const acceptSurts: string[] = [];
  const rejectSurts: string[] = [];
  const ignored: { line: string; lineNumber: number }[] = [];
  text.split(/\r\n|\r|\n/).forEach((raw, i) => {
    // A `#` inside a word is a URI's fragment.
    const line = raw.replace(/(^|\s)#.*$/, '').trim();
    if (line === '') return;
    if (line.startsWith('+')) acceptSurts.push(line.slice(1).trim());
    else if (line.startsWith('-')) rejectSurts.push(line.slice(1).trim());
    else {
      const seed = cleanUri(hasScheme(line) ? line : `http://${line}`);
      if (seed === undefined) ignored.push({ line: raw, lineNumber: i + 1 });
      else seeds.add(seed);
    }
  });
  return { seeds: [...seeds], acceptSurts, rejectSurts, ignored };
}

/** `localhost:8080/` looks as if it had one. */
function hasScheme(line: string): boolean {
  return /^[a-z][a-z0-9+-]*:(?!\d+(?:\/|$))/i.test(line);
}
