/** Abbreviations whose full stop does not end a sentence (E-73). */
const ABBREVIATIONS = new Set(
  'al approx apr aug bzw ca cf ch co corp dec dept dr ed eds e.g eg engl est etc feb fig figs gen i.e ie inc jan jr jul jun ltd mar messrs mr mrs ms mt nov no nr oct op p pp prof resp rev sec sen sep sept sr st usw vgl viz vol vs z.b'.split(
    ' ',
  ),
);

/**
 * Returns the index after the first sentence of `text` that ends at or after `from`: at `.`, `!` or `?` before
 * white space or the end, but not after a single capital letter or a known abbreviation (E-73). Returns the
 * length if no sentence ends.
 */
export function sentenceEnd(text: string, from = 0): number {
  for (let i = from; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c !== 0x2e && c !== 0x21 && c !== 0x3f) continue;
    if (i + 1 < text.length && !/\s/.test(text[i + 1]!)) continue;
    if (c === 0x2e && isAbbreviated(text, i)) continue;
    return i + 1;
  }
  return text.length;
}

function isAbbreviated(text: string, dot: number): boolean {
  let start = dot;
  while (start > 0 && dot - start < 12 && /[\p{L}.]/u.test(text[start - 1]!)) start--;
  const word = text.slice(start, dot);
  return /^\p{Lu}$/u.test(word) || ABBREVIATIONS.has(word.toLowerCase());
}

/**
 * Returns the first sentences of `text` up to `limit` characters; a longer first sentence is cut at a word.
 * Collapses white space.
 */
export function openingSentences(text: string, limit: number): string {
  const line = text
    .slice(0, limit * 5)
    .replace(/\s+/g, ' ')
    .trim();
  if (line.length <= limit) return line;
  let end = 0;
  for (let next = sentenceEnd(line); next <= limit; next = sentenceEnd(line, next)) end = next;
  if (end > 0) return line.slice(0, end);
  const blank = line.lastIndexOf(' ', limit - 3);
  return `${line.slice(0, blank > limit / 2 ? blank : limit - 3)}...`;
}
