import type { Expression } from '../../../protocols/broker/index.js';
import type { SoifObject } from '../../../protocols/soif/index.js';
import type { MatchedLine } from '../contract.js';
import type { TimeSlice } from '../scheduling/time-slice.js';
import {
  compileLeaf,
  type Leaf,
  type LeafTest,
  type Matching,
  type PatternLimits,
  requireShort,
  unsupported,
} from './leaf.js';
import { type AttributeText, attributeTexts, VIEW, type View } from './object-text.js';

/** Limits of one query. */
export interface QueryLimits extends PatternLimits {
  /** Maximum number of terms and operators. */
  readonly maxNodes: number;
  /** Matched lines are cut to this many bytes of UTF-8. */
  readonly maxLineBytes: number;
}

/**
 * The limits of every engine. `maxRegexpProgram` bounds the steps per character; 1 000 is enough for any
 * expression that a person types.
 */
export const QUERY_LIMITS: QueryLimits = {
  maxRegexpProgram: 1_000,
  maxRegexpSteps: 200_000,
  maxRegexpBytes: 4 * 1024 * 1024,
  maxPattern: 256,
  maxNodes: 512,
  maxLineBytes: 4_096,
};

/** Characters of a text above which its lines are copied. */
const MAX_KEPT_TEXT = 32_768;

/** A query whose terms are compiled. */
export type Plan =
  | { readonly kind: 'leaf'; readonly id: number; readonly leaf: Leaf }
  | { readonly kind: 'not'; readonly operand: Plan }
  | { readonly kind: 'and' | 'or' | 'except'; readonly left: Plan; readonly right: Plan };

/** Matches the text of an object against a query and finds the matched lines (BRK-2.17 to 2.23). */
export class Matcher {
  readonly plan: Plan;
  /** Sentences for the user. */
  readonly warnings: ReadonlySet<string>;
  /** The terms that are not negated. */
  readonly positive: readonly Leaf[];
  readonly #limits: QueryLimits;

  /**
   * @param compiled terms of the expression that are compiled already
   * @throws PeerError (111) if the query cannot be answered (BRK-2.19, 4.18); RangeError if `errors` is not a
   *   count.
   */
  constructor(
    expression: Expression,
    options: Matching,
    limits: QueryLimits,
    { leaves, warnings }: CompiledLeaves = { leaves: new Map(), warnings: new Set() },
  ) {
    const leafLimits = checkQuery(expression, options, limits);
    this.#limits = limits;
    const positive: Leaf[] = [];
    let ids = 0;
    const compile = (node: Expression, isPositive: boolean): Plan => {
      switch (node.kind) {
        case 'not':
          return { kind: 'not', operand: compile(node.operand, !isPositive) };
        case 'and':
        case 'or':
          return {
            kind: node.kind,
            left: compile(node.left, isPositive),
            right: compile(node.right, isPositive),
          };
        case 'except':
          return {
            kind: 'except',
            left: compile(node.left, isPositive),
            right: compile(node.right, !isPositive),
          };
        case 'term':
        case 'select': {
          const leaf = leaves.get(node) ?? compileLeaf(node, options, leafLimits, warnings);
          if (isPositive) positive.push(leaf);
          return { kind: 'leaf', id: ids++, leaf };
        }
      }
    };
    this.plan = compile(expression, true);
    this.warnings = warnings;
    this.positive = positive;
  }

  /** Compiles a query in time slices: a query may have hundreds of patterns. @throws like the constructor */
  static async compile(
    expression: Expression,
    options: Matching,
    limits: QueryLimits,
    slice: TimeSlice,
  ): Promise<Matcher> {
    const leafLimits = checkQuery(expression, options, limits);
    const leaves = new Map<Expression, Leaf>();
    const warnings = new Set<string>();
    const open: Expression[] = [expression];
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      if (node.kind === 'not') open.push(node.operand);
      else if (node.kind !== 'term' && node.kind !== 'select') open.push(node.right, node.left);
      else {
        leaves.set(node, compileLeaf(node, options, leafLimits, warnings));
        const pause = slice.yield();
        if (pause !== undefined) await pause;
      }
    }
    return new Matcher(expression, options, limits, { leaves, warnings });
  }

  /**
   * Returns the matched lines, at most `maxLines` of them; undefined if the object does not satisfy the query.
   * BRK-2.21: AND and NOT apply to the whole object, not to a line.
   */
  async match(object: SoifObject, maxLines: number, slice: TimeSlice): Promise<MatchedLine[] | undefined> {
    const attributes = attributeTexts(object);
    if (!(await this.#satisfies(this.plan, attributes, [], slice))) return undefined;
    return maxLines > 0 ? this.#lines(attributes, maxLines, slice) : [];
  }

  async #satisfies(
    plan: Plan,
    attributes: readonly AttributeText[],
    known: boolean[],
    slice: TimeSlice,
  ): Promise<boolean> {
    switch (plan.kind) {
      case 'leaf': {
        const result = known[plan.id] ?? (await testLeaf(plan.leaf, attributes, slice));
        known[plan.id] = result;
        return result;
      }
      case 'not':
        return !(await this.#satisfies(plan.operand, attributes, known, slice));
      case 'and':
        return (
          (await this.#satisfies(plan.left, attributes, known, slice)) &&
          (await this.#satisfies(plan.right, attributes, known, slice))
        );
      case 'or':
        return (
          (await this.#satisfies(plan.left, attributes, known, slice)) ||
          (await this.#satisfies(plan.right, attributes, known, slice))
        );
      case 'except': // BRK-2.13
        return (
          (await this.#satisfies(plan.left, attributes, known, slice)) &&
          !(await this.#satisfies(plan.right, attributes, known, slice))
        );
    }
  }

  async #lines(
    attributes: readonly AttributeText[],
    limit: number,
    slice: TimeSlice,
  ): Promise<MatchedLine[]> {
    const found: MatchedLine[] = [];
    for (const attribute of attributes) {
      const leaves = this.positive.filter((leaf) => attribute.isFor(leaf));
      // The line that the file name stands for is that of the URL before it, and comes once.
      const isShown = attribute.searched !== undefined && found.length > 0;
      if (leaves.length === 0 || isShown) continue;
      const numbers = await matchedLines(leaves, attribute, limit - found.length, slice);
      const { raw } = attribute;
      for (const [number, line] of pickLines(raw, numbers)) {
        const text = number === 0 ? `${attribute.lead}${line}` : line;
        const first = number === 0;
        const shown = truncate(text, this.#limits.maxLineBytes);
        found.push({
          attribute: attribute.name,
          text: raw.length > MAX_KEPT_TEXT ? detached(shown) : shown,
          first,
        });
        const pause = slice.yield();
        if (pause !== undefined) await pause;
      }
      if (found.length >= limit) break;
    }
    return found;
  }
}

/** Terms that are compiled, and the warnings about them. */
interface CompiledLeaves {
  readonly leaves: ReadonlyMap<Expression, Leaf>;
  readonly warnings: Set<string>;
}

/**
 * Returns the limits of each term, which divide the memory of the query.
 * @throws PeerError (111) and RangeError as {@link Matcher} does, for what is seen without compiling a term
 */
export function checkQuery(expression: Expression, options: Matching, limits: QueryLimits): PatternLimits {
  const terms = countTerms(expression, limits);
  requireErrorCount(options.errors);
  if (options.errors > 8) throw unsupported('more than 8 spelling errors'); // BRK-2.23
  return { ...limits, maxRegexpBytes: Math.floor(limits.maxRegexpBytes / terms) };
}

/** Uses an explicit stack: the nesting of a query may exceed the call stack. */
function countTerms(expression: Expression, limits: QueryLimits): number {
  const { maxNodes } = limits;
  const open: Expression[] = [expression];
  let terms = 0;
  for (let count = 1; open.length > 0; count++) {
    if (count > maxNodes) throw unsupported(`queries of more than ${maxNodes} terms`);
    const node = open.pop()!;
    if (node.kind === 'not') open.push(node.operand);
    else if (node.kind === 'term' || node.kind === 'select') {
      terms++;
      requireShort(node.kind === 'term' ? node.text : node.value, limits);
    } else open.push(node.left, node.right);
  }
  return terms;
}

async function testLeaf(
  leaf: Leaf,
  attributes: readonly AttributeText[],
  slice: TimeSlice,
): Promise<boolean> {
  const { test } = leaf;
  for (const attribute of attributes) {
    if (!attribute.isFor(leaf)) continue;
    const pause = slice.yield();
    if (pause !== undefined) await pause;
    if (test.scope === 'value') {
      if (test.test(attribute)) return true;
      continue;
    }
    if (test.find !== undefined) {
      for (const text of textsOf(test, attribute)) if (test.find(text, 0) >= 0) return true;
      continue;
    }
    for (const view of test.views) {
      for (const line of attribute.lines(view)) {
        const pause = slice.yield();
        if (pause !== undefined) await pause;
        if (await testLine(test, line, slice)) return true;
      }
    }
  }
  return false;
}

type TextTest = LeafTest & { readonly scope: 'text' };

/** Tests a line, in time slices if it is long. */
async function testLine(test: TextTest, line: string, slice: TimeSlice): Promise<boolean> {
  if (test.steps === undefined || line.length <= (test.longLine ?? 0)) return test.test(line);
  const steps = test.steps(line);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    const pause = slice.yield();
    if (pause !== undefined) await pause;
  }
}

/** Numbers of the first lines of an attribute that match one of the leaves, ascending, at most `limit`. */
async function matchedLines(
  leaves: readonly Leaf[],
  attribute: AttributeText,
  limit: number,
  slice: TimeSlice,
): Promise<number[]> {
  const numbers = new Set<number>();
  for (const { test } of leaves) {
    if (test.scope === 'text' && test.find !== undefined) {
      for (const text of textsOf(test, attribute)) {
        let remaining = limit;
        for (const number of linesFound(text, test.find)) {
          numbers.add(number);
          const pause = slice.yield();
          if (pause !== undefined) await pause;
          if (--remaining === 0) break;
        }
      }
      continue;
    }
    for (const view of test.scope === 'value' ? [VIEW.plain] : test.views) {
      let remaining = limit;
      for await (const number of linesOf(test, attribute, view, slice)) {
        numbers.add(number);
        if (--remaining === 0) break;
      }
    }
  }
  return [...numbers].sort((a, b) => a - b).slice(0, limit);
}

/** The views of an attribute in which a test for a text finds it. */
function* textsOf({ views, parts }: TextTest, attribute: AttributeText): Generator<string> {
  for (const view of views) yield attribute.text(view);
  if (parts !== undefined) yield attribute.parts(parts.view, parts.words);
}

/** Numbers of the lines that a test matches in one view, ascending. */
async function* linesOf(
  test: LeafTest,
  attribute: AttributeText,
  view: View,
  slice: TimeSlice,
): AsyncGenerator<number> {
  if (test.scope === 'value' && !test.test(attribute)) return;
  for (const [i, line] of attribute.lines(view).entries()) {
    const pause = slice.yield();
    if (pause !== undefined) await pause;
    if (test.scope === 'value' || (await testLine(test, line, slice))) yield i;
  }
}

/** Numbers of the matched lines, found by a search of the whole text: fast when few lines match. */
function* linesFound(text: string, find: (text: string, from: number) => number): Generator<number> {
  let number = 0;
  let start = 0;
  for (let offset = find(text, 0); offset >= 0; offset = find(text, start)) {
    for (let end = text.indexOf('\n', start); end >= 0 && end < offset; end = text.indexOf('\n', start)) {
      start = end + 1;
      number++;
    }
    yield number;
    const end = text.indexOf('\n', offset);
    if (end < 0) return;
    start = end + 1;
    number++;
  }
}

/** The lines with the given numbers, which are ascending. */
function* pickLines(text: string, numbers: readonly number[]): Generator<[number, string]> {
  let number = 0;
  let start = 0;
  for (const next of numbers) {
    for (; number < next; number++) start = text.indexOf('\n', start) + 1;
    const end = text.indexOf('\n', start);
    yield [number, text.slice(start, end < 0 ? text.length : end)];
  }
}

/** A copy of a line, which does not keep the whole text in memory as a part of it does. */
function detached(line: string): string {
  return Buffer.from(line, 'utf16le').toString('utf16le');
}

/** The text cut to `limit` bytes of UTF-8, never within a character. */
function truncate(text: string, limit: number): string {
  if (text.length * 3 <= limit || Buffer.byteLength(text) <= limit) return text;
  const bytes = Buffer.from(text.slice(0, limit));
  let end = limit;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}

/** @throws RangeError unless `errors` is an integer from 0. */
export function requireErrorCount(errors: number): void {
  if (!Number.isInteger(errors) || errors < 0) throw new RangeError(`errors: ${errors} is not a count`);
}
