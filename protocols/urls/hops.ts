/**
 * CRAWL-2.2: one letter for each hop from the seed: `L` link, `E` embed, `X` speculative, `R` redirect, `P`
 * prerequisite, `I` inferred, `M` manifest, `S` form submit. A seed has no letters.
 */
export type HopLetter = 'L' | 'E' | 'X' | 'R' | 'P' | 'I' | 'M' | 'S';

/** CRAWL-2.3: the number of letters shown. */
const MAX_SHOWN = 50;

/** CRAWL-2.3: appends a letter. After 50 letters, the oldest is dropped and counted in a prefix: `1+LLL...`. */
export function appendHop(path: string, hop: HopLetter): string {
  const { dropped, letters } = shownHops(path);
  if (letters.length < MAX_SHOWN) return path + hop;
  return `${dropped + 1}+${letters.slice(1)}${hop}`;
}

/** The number before the `+`, and the letters after it. */
export function shownHops(path: string): { readonly dropped: number; readonly letters: string } {
  const plus = path.indexOf('+');
  if (plus < 0) return { dropped: 0, letters: path };
  return { dropped: Number(path.slice(0, plus)), letters: path.slice(plus + 1) };
}

/** CRAWL-2.3: hops from the seed. */
export function hopCount(path: string): number {
  const { dropped, letters } = shownHops(path);
  return dropped + letters.length;
}

/** CRAWL-2.4: the number of `L` among the letters shown. */
export function linkHops(path: string): number {
  let count = 0;
  for (const letter of shownHops(path).letters) if (letter === 'L') count++;
  return count;
}

/** CRAWL-2.4: the number of letters after the last `L` or `M`. */
export function transHops(path: string): number {
  const { letters } = shownHops(path);
  return letters.length - 1 - Math.max(letters.lastIndexOf('L'), letters.lastIndexOf('M'));
}

/** CRAWL-2.5: smaller is earlier. */
export type SchedulingDirective = 0 | 1 | 2 | 3;

export interface DirectiveOptions {
  /** CRAWL-2.6: 0 means depth first, a larger number prefers paths up to that length; default -1, no effect. */
  readonly preferenceDepthHops?: number;
  /** CRAWL-2.6: embeds with at most this many trans hops precede links; default 1, 0 is off. */
  readonly preferenceEmbedHops?: number;
}

/**
 * CRAWL-2.6: the scheduling directive of a URI that was just found.
 * @param path its hops
 * @param directive its directive so far; default 3, normal
 */
export function schedulingDirective(
  path: string,
  options: DirectiveOptions = {},
  directive: SchedulingDirective = 3,
): SchedulingDirective {
  const { preferenceDepthHops: depth = -1, preferenceEmbedHops: embed = 1 } = options;
  if (path.endsWith('R')) return depth >= 0 ? 1 : 2;
  if (depth === 0 || (depth > 0 && hopCount(path) + 1 <= depth)) return 1;
  const trans = transHops(path);
  if (embed > 0 && trans >= 1 && trans <= embed && directive === 3) return 2;
  return directive;
}

/** CRAWL-2.6: a prerequisite precedes the URI that needs it. */
export function prerequisiteDirective(needing: SchedulingDirective): SchedulingDirective {
  if (needing === 0 || needing === 1) return 0;
  return needing === 2 ? 1 : 2;
}
