// Expressions for URLs and parts of them: both have one spelling of unreserved characters (G-48).
import { unescapeUnreserved } from '../urls/index.js';
import { type EreNode, parseEre } from './ere.js';
import { compileNode, type Pattern, type PatternOptions } from './pattern.js';

/**
 * Compiles an expression for URLs. `~`, `%7e` and `%7E` are the same in it and in its subjects, and so are the
 * spellings of all other unreserved characters (G-48).
 * @throws ProtocolError as `compilePattern`
 */
export function compileUrlPattern(source: string, options: PatternOptions = {}): Pattern {
  const pattern = compileNode(parseUrlEre(source), options);
  return {
    test: (subject) => pattern.test(unescapeUnreserved(subject)),
    extract: (subject) => pattern.extract(unescapeUnreserved(subject)),
  };
}

/**
 * Parses an expression for URLs whose unreserved characters have no escapes.
 * @throws ProtocolError as `parseEre`
 */
export function parseUrlEre(source: string): EreNode {
  return withoutEscapes(parseEre(source));
}

/** Replaces `%7e`, `%7E` and `%7[eE]` by `~`. An escape that may also be another character stays. */
function withoutEscapes(node: EreNode): EreNode {
  switch (node.kind) {
    case 'group':
    case 'repeat':
      return { ...node, child: withoutEscapes(node.child) };
    case 'alternatives':
      return { ...node, parts: node.parts.map(withoutEscapes) };
    case 'sequence': {
      const parts: EreNode[] = [];
      for (let i = 0; i < node.parts.length; i++) {
        const decoded = decodeEscape(node.parts.slice(i, i + 3));
        if (decoded !== undefined) i += 2;
        parts.push(decoded ?? withoutEscapes(node.parts[i]!));
      }
      return { ...node, parts };
    }
    default:
      return node;
  }
}

/** The characters of an escape; undefined if the parts are not an escape of unreserved characters only. */
function decodeEscape([sign, high, low]: readonly EreNode[]): EreNode | undefined {
  if (charactersOf(sign, 1)?.[0] !== '%') return undefined;
  const lows = charactersOf(low, MAX_DIGITS);
  const escapes = charactersOf(high, MAX_DIGITS)?.flatMap((a) => lows?.map((b) => `%${a}${b}`) ?? []) ?? [];
  const characters = escapes.map(unescapeUnreserved);
  if (characters.length === 0 || characters.some((text) => text.length !== 1)) return undefined;
  const codes = characters.map((text) => text.charCodeAt(0));
  return { kind: 'chars', ranges: codes.map((code) => [code, code]), negated: false };
}

/** Both cases of the hexadecimal digits. */
const MAX_DIGITS = 22;

/** The characters that a node of one character stands for; undefined if they are more than `limit`. */
function charactersOf(node: EreNode | undefined, limit: number): string[] | undefined {
  if (node?.kind !== 'chars' || node.negated) return undefined;
  const size = node.ranges.reduce((sum, [low, high]) => sum + high - low + 1, 0);
  if (size > limit) return undefined;
  return node.ranges.flatMap(([low, high]) =>
    Array.from({ length: high - low + 1 }, (_, i) => String.fromCodePoint(low + i)),
  );
}
