import { cleanUri } from '../../../protocols/urls/index.js';

/** A parsed seed list (CRAWL-10.1.5). */
export interface SeedList {
  /** Cleaned URIs without repetitions. */
  readonly seeds: readonly string[];
  /** Lines for accepting SURT prefix rules, which begin with `+`. */
  readonly acceptSurts: readonly string[];
  /** Lines for rejecting SURT prefix rules, which begin with `-`. */
  readonly rejectSurts: readonly string[];
  /** Invalid lines, numbered from 1. */
  readonly ignored: readonly { readonly line: string; readonly lineNumber: number }[];
}

/** Parses a seed list, one seed per line; `#` begins a comment; the default scheme is `http` (CRAWL-10.1.5). */
export function parseSeeds(text: string): SeedList {
  const seeds = new Set<string>();
  const acceptSurts: string[] = [];
  const rejectSurts: string[] = [];
  const ignored: { line: string; lineNumber: number }[] = [];
  text.split(/\r\n|\r|\n/).forEach((raw, i) => {
    // A `#` within a word begins a fragment.
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

/** The name in `localhost:8080/` is not a scheme. */
function hasScheme(line: string): boolean {
  return /^[a-z][a-z0-9+-]*:(?!\d+(?:\/|$))/i.test(line);
}
