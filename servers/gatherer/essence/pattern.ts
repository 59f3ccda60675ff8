import { RE2JS } from 're2js';
import { type EreNode, finiteLanguage, formatEre, isCheap, parseEre } from './ere.js';

/** A compiled POSIX extended regular expression. It is searched for anywhere unless it anchors itself (E-9). */
export interface Pattern {
  test(subject: string): boolean;
  /** The first group when the expression has one, else the matched text (E-65); undefined when nothing matches. */
  extract(subject: string): string | undefined;
}

/** Longest subject, in characters, that the backtracking engine is given; a canonical URL is shorter (CRAWL-2.1). */
const MAX_BACKTRACKING_SUBJECT = 2083;

/** @throws UsageError when `source` is not a POSIX extended regular expression. */
export function compilePattern(source: string): Pattern {
  return compileNode(parseEre(source));
}

/** E-144: JavaScript's engine when it provably cannot blow up, RE2 otherwise. */
export function compileNode(node: EreNode): Pattern {
  const source = formatEre(node);
  let linear: RE2JS | undefined;
  const safe = () => {
    linear ??= RE2JS.compile(source, RE2JS.DOTALL);
    return linear;
  };
  if (!isCheap(node)) safe();
  const fast = isCheap(node) ? new RegExp(source, 's') : undefined;
  return {
    test: (subject) =>
      fast !== undefined && subject.length <= MAX_BACKTRACKING_SUBJECT
        ? fast.test(subject)
        : safe().test(subject),
    extract(subject) {
      const matcher = safe().matcher(subject);
      if (!matcher.find()) return undefined;
      return (matcher.groupCount() > 0 ? matcher.group(1) : undefined) ?? matcher.group() ?? undefined;
    },
  };
}

/** Most strings one pattern is spelled out into. */
const MAX_SPELLINGS = 512;

/** What a pattern demands when it is no more than a list: names that are equal to, or end with, one of `strings`. */
export interface Spelling {
  readonly how: 'whole' | 'ending';
  readonly strings: readonly string[];
}

/** `^.*\.(c|cc)$` is the endings `.c` and `.cc`, `^Makefile$` a whole name; undefined for anything less simple. */
export function spell(node: EreNode): Spelling | undefined {
  if (node.kind !== 'sequence') return undefined;
  const parts = [...node.parts];
  if (parts.pop()?.kind !== 'end') return undefined;
  let how: Spelling['how'] = 'ending';
  if (parts[0]?.kind === 'start') {
    parts.shift();
    if (isAnything(parts[0])) parts.shift();
    else how = 'whole';
  }
  const strings = finiteLanguage({ kind: 'sequence', parts }, MAX_SPELLINGS);
  return strings === undefined ? undefined : { how, strings };
}

/** `.*` */
function isAnything(node: EreNode | undefined): boolean {
  return (
    node?.kind === 'repeat' &&
    node.of.kind === 'any' &&
    node.min === 0 &&
    node.max === Number.POSITIVE_INFINITY
  );
}
