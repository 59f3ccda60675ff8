// An upper bound for the steps of a backtracking engine on a pattern (E-144).
import type { EreNode } from './ere.js';

/** Worst-case steps of a backtracking engine for one subject: a few milliseconds. */
const MAX_STEPS = 1_000_000;

/** Worst-case cost of enumerating all ways in which a node can match from one position. */
interface Cost {
  readonly ways: number;
  readonly steps: number;
}

/**
 * Whether a backtracking engine needs at most a million steps for every subject of at most `subjectLength`
 * characters (E-144). The bound is computed from the tree: ways multiply along a sequence and add up over
 * alternatives; a repetition of a single character has as many ways as the subject has characters; a repetition
 * of anything ambiguous has exponentially many. `\B` is never cheap, because V8 matches it wrongly.
 */
export function isCheap(node: EreNode, subjectLength: number): boolean {
  const startPositions = isAnchored(node) ? 1 : subjectLength + 1;
  return startPositions * costOf(node, subjectLength).steps <= MAX_STEPS;
}

function costOf(node: EreNode, length: number): Cost {
  switch (node.kind) {
    case 'group':
      return costOf(node.child, length);
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
      return costOfRepeat(costOf(node.child, length), node.min, node.max, length);
    case 'no-word-border':
      // V8 also finds \B between the two halves of a character beyond U+FFFF; RE2 does not.
      return { ways: 1, steps: Number.POSITIVE_INFINITY };
    default:
      return { ways: 1, steps: 1 };
  }
}

function costOfRepeat(once: Cost, min: number, max: number, length: number): Cost {
  // After the required rounds, an engine only continues with rounds that consume at least one character.
  const rounds = Math.min(max, min + length);
  // One way for each number of rounds, such as `.*`: nearly every repetition in a pattern.
  if (once.ways === 1) return { ways: Math.max(1, rounds - min + 1), steps: 1 + (rounds + 1) * once.steps };
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
      return isAnchored(node.child);
    case 'alternatives':
      return node.parts.every(isAnchored);
    case 'sequence':
      return node.parts[0] !== undefined && isAnchored(node.parts[0]);
    default:
      return false;
  }
}
