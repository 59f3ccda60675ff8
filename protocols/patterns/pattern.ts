// Compiles patterns and chooses an engine for each subject (E-144).
import { RE2JS } from 're2js';
import { isCheap } from './cost.js';
import { type EreNode, formatEre, parseEre, patternProblem } from './ere.js';
import { matchesAnything } from './spelling.js';

/**
 * A compiled POSIX extended regular expression. It matches anywhere in the subject unless it is anchored (E-9,
 * G-43).
 */
export interface Pattern {
  test(subject: string): boolean;
  /**
   * Returns the text of the first group if it took part in the match, otherwise the whole match (E-65): the
   * leftmost and longest match, as in POSIX. Undefined when nothing matches.
   */
  extract(subject: string): string | undefined;
}

export interface PatternOptions {
  /** Default false: patterns are case-sensitive (E-9). */
  readonly ignoreCase?: boolean;
}

/** Characters of the longest subject for JavaScript's engine: twice a canonical URL (CRAWL-2.1). */
const MAX_NATIVE_SUBJECT = 4096;
/** A pattern that is cheap only for shorter subjects goes to RE2 alone. */
const MIN_NATIVE_SUBJECT = 64;

/**
 * Compiles an untrusted pattern. Matching takes time linear in the subject, or at most a million steps.
 * @throws ProtocolError (`config`, G-43) with the offset in the pattern; its message continues "the expression
 *   ..."
 */
export function compilePattern(source: string, options: PatternOptions = {}): Pattern {
  return compileNode(parseEre(source), options);
}

/** Compiles a pattern that is already a tree. */
export function compileNode(node: EreNode, options: PatternOptions = {}): Pattern {
  return new EnginePattern(node, options.ignoreCase ?? false);
}

/** E-144: uses JavaScript's engine for subjects whose cost has a proven bound, RE2 for all others. */
class EnginePattern implements Pattern {
  readonly #node: EreNode;
  readonly #ignoreCase: boolean;
  readonly #native: RegExp | undefined;
  readonly #nativeLimit: number;
  #re2: RE2JS | undefined;

  constructor(node: EreNode, ignoreCase: boolean) {
    this.#node = node;
    this.#ignoreCase = ignoreCase;
    // The engines fold case differently beyond ASCII, so only RE2 is used.
    const core = ignoreCase ? undefined : coreOf(node);
    this.#nativeLimit = core === undefined ? 0 : nativeLimitOf(core);
    if (core !== undefined && this.#nativeLimit > 0) this.#native = new RegExp(formatEre(core, '(?:'), 'su');
    else this.#linearPattern();
  }

  test(subject: string): boolean {
    return this.#native !== undefined && subject.length <= this.#nativeLimit
      ? this.#native.test(subject)
      : this.#linearPattern().test(subject);
  }

  extract(subject: string): string | undefined {
    if (!this.test(subject)) return undefined;
    const matcher = this.#linearPattern().matcher(subject);
    if (!matcher.find()) return undefined;
    return (matcher.groupCount() > 0 ? matcher.group(1) : undefined) ?? matcher.group() ?? undefined;
  }

  /** Compiled on first use: most patterns of the type tables never need it. */
  #linearPattern(): RE2JS {
    if (this.#re2 === undefined) {
      const flags = RE2JS.DOTALL | RE2JS.LONGEST_MATCH | (this.#ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
      try {
        this.#re2 = RE2JS.compile(formatEre(this.#node), flags);
      } catch (error) {
        const reason = error instanceof Error ? error.message : 'not understood';
        throw patternProblem(`is not a regular expression: ${reason}`, 0, error);
      }
    }
    return this.#re2;
  }
}

/** Longest subject for JavaScript's engine; 0 when the pattern is never cheap. */
function nativeLimitOf(node: EreNode): number {
  for (let length = MAX_NATIVE_SUBJECT; length >= MIN_NATIVE_SUBJECT; length /= 2) {
    if (isCheap(node, length)) return length;
  }
  return 0;
}

/**
 * Removes a leading `^.*` or `.*` and a trailing `.*$` or `.*`: `^.*x` matches if and only if x is found. This
 * saves JavaScript's engine a scan to the end and back, and makes the usual file name patterns cheap.
 */
function coreOf(node: EreNode): EreNode {
  if (node.kind !== 'sequence') return node;
  let parts = node.parts;
  if (matchesAnything(parts[0])) parts = parts.slice(1);
  else if (parts[0]?.kind === 'start' && matchesAnything(parts[1])) parts = parts.slice(2);
  if (matchesAnything(parts.at(-1))) parts = parts.slice(0, -1);
  else if (parts.at(-1)?.kind === 'end' && matchesAnything(parts.at(-2))) parts = parts.slice(0, -2);
  return { kind: 'sequence', parts };
}
