import type { Expression } from '../../../../protocols/broker/index.js';
import type { Hit, SearchOptions, SearchOutcome } from '../../contract.js';
import { Matcher, type QueryLimits } from '../../query/matcher.js';
import { plainWordsOf } from '../../query/plain-words.js';
import { type IndexDatabase, openIndexFile } from '../index/index-file.js';
import { Spellings } from '../index/spellings.js';
import { countWords, type IndexExpression, indexExpression } from './index-expression.js';

/** A complete answer. */
export interface QuickAnswer {
  readonly hits: readonly Hit[];
  readonly outcome: SearchOutcome;
}

/** Maximum number of terms and operators of a query that is answered here. */
const MAX_NODES = 8;
/** Maximum number of words in all its phrases, with their spellings. */
const MAX_WORDS = 32;
/** Maximum number of posting list entries that a query may read: about half a millisecond. */
const MAX_STEPS = 20_000;
/** Maximum number of objects that may match. */
const MAX_MATCHES = 500;
/** Pattern characters of a word (BRK-2.22). */
const PATTERN = /[\\.#[\]^$|*()]/;

/**
 * Answers queries for a few whole words in the owner's thread: the index decides them in less time than a
 * message to the query thread takes. Queries that could take longer are left to the query thread.
 */
export class QuickSearch {
  readonly #db: IndexDatabase;
  readonly #limits: QueryLimits;
  readonly #spellings: Spellings;
  readonly #last;
  readonly #count;
  readonly #found;

  constructor(file: string, cacheKiB: number, limits: QueryLimits) {
    // Never waits for a lock: a query that would wait is left to the query thread.
    this.#db = openIndexFile(file, { cacheKiB, busyTimeoutMs: 0 });
    this.#limits = limits;
    this.#spellings = new Spellings(this.#db);
    this.#last = this.#db.prepare('SELECT max(oid) FROM object').raw();
    this.#count = this.#db
      .prepare('SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)')
      .raw();
    this.#found = this.#db
      .prepare(
        `SELECT group_concat(oid) FROM (SELECT rowid AS oid FROM words WHERE words MATCH ? LIMIT ${MAX_MATCHES})`,
      )
      .raw();
  }

  /** Returns the answer; undefined if the query thread must answer. */
  answer(expression: Expression, options: Omit<SearchOptions, 'signal'>): QuickAnswer | undefined {
    if (options.wantLines || !options.matchWord || !options.ignoreCase || options.errors > 0)
      return undefined;
    if (!isPlain(expression, MAX_NODES)) return undefined;
    if (options.mostWords && plainWordsOf(expression) !== undefined) return undefined;
    const { plan } = new Matcher(expression, options, this.#limits);
    const found = indexExpression(plan, this.#spellings);
    if (found?.exact !== true || !this.#isCheap(found, options.ordered === false ? MAX_MATCHES : 1))
      return undefined;
    // The order of several objects needs the vocabulary, which the query thread has.
    const [packed] = this.#found.get(found.match) as readonly [string | null];
    const hits = packed === null ? [] : packed.split(',').map((oid) => ({ oid: Number(oid), lines: [] }));
    const limit = Math.min(options.maxFiles || hits.length, options.maxResults || hits.length);
    const outcome: SearchOutcome =
      limit < hits.length
        ? { complete: false, reason: 'limit', warnings: [] }
        : { complete: true, warnings: [] };
    return { hits: hits.slice(0, limit), outcome };
  }

  close(): void {
    this.#db.close();
  }

  /** Whether there are at most so many matches, and posting lists that are read fast. */
  #isCheap({ match, phrases }: IndexExpression, mostMatches: number): boolean {
    // The words of a phrase are compared in each object that has all of them.
    const words = countWords(phrases);
    if (words > MAX_WORDS) return false;
    let steps = 0;
    const [objects] = this.#last.get() as readonly [number | null];
    if (Number(objects ?? 0) * words > MAX_STEPS) {
      for (const phrase of phrases) {
        steps += this.#countOf(phrase, MAX_STEPS + 1 - steps);
        if (steps > MAX_STEPS) return false;
      }
    }
    return this.#countOf(match, mostMatches + 1) <= mostMatches;
  }

  #countOf(match: string, limit: number): number {
    const [count] = this.#count.get(match, limit) as readonly [number];
    return count;
  }
}

/**
 * Whether a query has at most `maxNodes` nodes and each term is plain text, so that no pattern needs compiling.
 */
function isPlain(expression: Expression, maxNodes: number): boolean {
  let nodes = 0;
  const check = (node: Expression): boolean => {
    if (++nodes > maxNodes) return false;
    switch (node.kind) {
      case 'term':
        return !PATTERN.test(node.text);
      case 'select':
        return node.operator === 'contains' && !PATTERN.test(node.value);
      case 'not':
        return check(node.operand);
      default:
        return check(node.left) && check(node.right);
    }
  };
  return check(expression);
}
