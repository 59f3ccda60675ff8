// Recognizes patterns that are lists of strings, such as `^.*\.(c|cc)$`.
import type { EreNode } from './ere.js';

/** The largest number of strings of one pattern. */
const MAX_SPELLINGS = 512;

/** A pattern that is only a list: it matches subjects that are equal to, or end with, one of `strings`. */
export interface Spelling {
  readonly match: 'whole' | 'ending';
  readonly strings: readonly string[];
}

/**
 * `^.*\.(c|cc)$` is the endings `.c` and `.cc`, `^Makefile$` a whole name; undefined for more complex patterns.
 */
export function listSpellings(node: EreNode): Spelling | undefined {
  if (node.kind !== 'sequence') return undefined;
  const parts = [...node.parts];
  if (parts.pop()?.kind !== 'end') return undefined;
  let match: Spelling['match'] = 'ending';
  if (parts[0]?.kind === 'start') {
    parts.shift();
    if (matchesAnything(parts[0])) parts.shift();
    else match = 'whole';
  }
  const strings = finiteLanguage({ kind: 'sequence', parts }, MAX_SPELLINGS);
  return strings === undefined ? undefined : { match, strings };
}

/**
 * All strings that the expression matches; undefined when there are more than `limit`, or when context matters.
 */
export function finiteLanguage(node: EreNode, limit: number): readonly string[] | undefined {
  switch (node.kind) {
    case 'chars': {
      if (node.negated) return undefined;
      const strings: string[] = [];
      for (const [low, high] of node.ranges) {
        if (strings.length + high - low >= limit) return undefined;
        for (let code = low; code <= high; code++) strings.push(String.fromCodePoint(code));
      }
      return strings;
    }
    case 'group':
      return finiteLanguage(node.child, limit);
    case 'repeat': {
      if (node.max === 0) return [''];
      const inner = node.max === 1 ? finiteLanguage(node.child, limit) : undefined;
      return inner === undefined ? undefined : node.min === 0 ? ['', ...inner] : inner;
    }
    case 'alternatives': {
      const strings: string[] = [];
      for (const part of node.parts) {
        const more = finiteLanguage(part, limit - strings.length);
        if (more === undefined) return undefined;
        strings.push(...more);
      }
      return strings.length <= limit ? strings : undefined;
    }
    case 'sequence': {
      let strings: readonly string[] = [''];
      for (const part of node.parts) {
        const more = finiteLanguage(part, limit);
        if (more === undefined || more.length * strings.length > limit) return undefined;
        strings = strings.flatMap((head) => more.map((tail) => head + tail));
      }
      return strings;
    }
    default:
      return undefined;
  }
}

/** `.*` */
export function matchesAnything(node: EreNode | undefined): boolean {
  return (
    node?.kind === 'repeat' &&
    node.child.kind === 'any' &&
    node.min === 0 &&
    node.max === Number.POSITIVE_INFINITY
  );
}
