import type { EreNode } from './ere.js';

/** Steps that a backtracking engine may need for one subject, at worst; some milliseconds. */
const MAX_STEPS = 1_000_000;

/** What enumerating all the ways in which a node can match from one place costs, at worst. */
interface Cost {
  readonly ways: number;
  readonly steps: number;
}

/**
 * Whether a backtracking engine surely answers within a million steps for every subject of at most `subjectLength`
 * characters (E-144). The bound is computed from the tree: ways multiply along a sequence and add up over
 * alternatives; a repetition of a single character has as many ways as the subject has characters; one of anything
 * ambiguous has exponentially many. `\B` is never cheap: there V8 is wrong.
 */
export function isCheap(node: EreNode, subjectLength: number): boolean {
  const places = isAnchored(node) ? 1 : subjectLength + 1;
  return places * costOf(node, subjectLength).steps <= MAX_STEPS;
}

function costOf(node: EreNode, length: number): Cost {
  switch (node.kind) {
    case 'group':
      return costOf(node.of, length);
    case 'sequence': {
      let ways = 1;
      let steps = 1;
      for (const part of node.parts) {
        const cost = costOf(part, length);
        steps += ways * cost.steps;
        ways *= cost.ways;
      }
      return { ways, steps };
    }
    case 'alternatives': {
      const costs = node.parts.map((part) => costOf(part, length));
      return {
        ways: costs.reduce((sum, cost) => sum + cost.ways, 0),
        steps: costs.reduce((sum, cost) => sum + cost.steps, 1),
      };
    }
    case 'repeat':
      return costOfRepeat(costOf(node.of, length), node.min, node.max, length);
    case 'no-word-border':
      // V8 also finds \B between the two halves of a character beyond U+FFFF; RE2 does not.
      return { ways: 1, steps: Number.POSITIVE_INFINITY };
    default:
      return { ways: 1, steps: 1 };
  }
}

function costOfRepeat(once: Cost, min: number, max: number, length: number): Cost {
  // Behind the demanded rounds, an engine only goes on with rounds that take at least one character.
  const rounds = Math.min(max, min + length);
  let ways = 0;
  let steps = 1;
  let waysHere = 1;
  for (let round = 0; round <= rounds && steps <= MAX_STEPS; round++) {
    if (round >= min) ways += waysHere;
    steps += waysHere * once.steps;
    waysHere *= once.ways;
  }
  return { ways: Math.max(1, ways), steps };
}

function isAnchored(node: EreNode): boolean {
  switch (node.kind) {
    case 'start':
      return true;
    case 'group':
      return isAnchored(node.of);
    case 'alternatives':
      return node.parts.every(isAnchored);
    case 'sequence':
      return node.parts[0] !== undefined && isAnchored(node.parts[0]);
    default:
      return false;
  }
}
