import { RE2JS } from 're2js';
import { isCheap } from './cost.js';
import { type EreNode, formatEre, parseEre, patternProblem } from './ere.js';
import { isAnything } from './spelling.js';

/** A compiled POSIX extended regular expression. It is searched for anywhere unless it anchors itself (E-9, G-43). */
export interface Pattern {
  test(subject: string): boolean;
  /**
   * The first group when the expression has one that took part, else the matched text (E-65): the leftmost match, and
   * of those the longest, as POSIX has it. Undefined when nothing matches.
   */
  extract(subject: string): string | undefined;
}

export interface PatternOptions {
  /** Default false: patterns distinguish case (E-9). */
  readonly ignoreCase?: boolean;
}

/** Longest subject, in characters, that JavaScript's engine is given, however cheap; twice a canonical URL (CRAWL-2.1). */
const MAX_NATIVE_SUBJECT = 4096;
/** A pattern that is cheap only for shorter subjects is not worth a second engine. */
const MIN_NATIVE_SUBJECT = 64;

/**
 * Compiles a pattern that a person wrote. Matching takes time linear in the subject, or at most a million steps.
 * @throws ProtocolError (`config`, G-43) with the offset in the pattern; its sentence continues "the expression ..."
 */
export function compilePattern(source: string, options: PatternOptions = {}): Pattern {
  return compileNode(parseEre(source), options);
}

/** The same for a pattern that is a tree already. */
export function compileNode(node: EreNode, options: PatternOptions = {}): Pattern {
  return new EnginePattern(node, options.ignoreCase ?? false);
}

/** E-144: JavaScript's engine for subjects that it provably cannot choke on, RE2 for all others. */
class EnginePattern implements Pattern {
  readonly #node: EreNode;
  readonly #ignoreCase: boolean;
  readonly #native: RegExp | undefined;
  readonly #nativeLimit: number;
  #re2: RE2JS | undefined;

  constructor(node: EreNode, ignoreCase: boolean) {
    this.#node = node;
    this.#ignoreCase = ignoreCase;
    // The engines fold case differently beyond ASCII, so one of them does it alone.
    const core = ignoreCase ? undefined : coreOf(node);
    this.#nativeLimit = core === undefined ? 0 : nativeLimitOf(core);
    if (core !== undefined && this.#nativeLimit > 0) this.#native = new RegExp(formatEre(core, '(?:'), 'su');
    else this.#linear();
  }

  test(subject: string): boolean {
    return this.#native !== undefined && subject.length <= this.#nativeLimit
      ? this.#native.test(subject)
      : this.#linear().test(subject);
  }

  extract(subject: string): string | undefined {
    if (!this.test(subject)) return undefined;
    const matcher = this.#linear().matcher(subject);
    if (!matcher.find()) return undefined;
    return (matcher.groupCount() > 0 ? matcher.group(1) : undefined) ?? matcher.group() ?? undefined;
  }

  /** Compiled when first needed: most patterns of the type tables never are. */
  #linear(): RE2JS {
    if (this.#re2 === undefined) {
      const flags = RE2JS.DOTALL | RE2JS.LONGEST_MATCH | (this.#ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
      try {
        this.#re2 = RE2JS.compile(formatEre(this.#node), flags);
      } catch (error) {
        const reason = error instanceof Error ? error.message : 'not understood';
        throw patternProblem(`is no regular expression: ${reason}`, 0, error);
      }
    }
    return this.#re2;
  }
}

/** Longest subject for JavaScript's engine; 0 when the pattern is not for it. */
function nativeLimitOf(node: EreNode): number {
  for (let length = MAX_NATIVE_SUBJECT; length >= MIN_NATIVE_SUBJECT; length /= 2) {
    if (isCheap(node, length)) return length;
  }
  return 0;
}

/**
 * What is left to look for: whether `^.*x` or `.*x` or `x.*$` matches is whether x is found. It spares JavaScript's
 * engine a walk to the end and back, and makes the usual file name patterns cheap.
 */
function coreOf(node: EreNode): EreNode {
  if (node.kind !== 'sequence') return node;
  let parts = node.parts;
  if (isAnything(parts[0])) parts = parts.slice(1);
  else if (parts[0]?.kind === 'start' && isAnything(parts[1])) parts = parts.slice(2);
  if (isAnything(parts.at(-1))) parts = parts.slice(0, -1);
  else if (parts.at(-1)?.kind === 'end' && isAnything(parts.at(-2))) parts = parts.slice(0, -2);
  return { kind: 'sequence', parts };
}
