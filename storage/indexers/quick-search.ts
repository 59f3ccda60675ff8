import type { Expression } from '../../protocols/broker/index.js';
import type { Hit, SearchOptions, SearchOutcome } from './contract.js';
import { indexExpression } from './index-expression.js';
import { type IndexDatabase, openIndexFile, RANK } from './index-file.js';
import { Matcher, type QueryLimits } from './matcher.js';
import { SCORE_UNIT } from './postings.js';

/** A complete answer. */
export interface QuickAnswer {
  readonly hits: readonly Hit[];
  readonly outcome: SearchOutcome;
}

/** Maximum number of terms and operators of a query that is answered here. */
const MAX_NODES = 8;
/** Maximum number of posting list entries that a query may read: about half a millisecond. */
const MAX_STEPS = 20_000;
/** Maximum number of objects that may match: each is scored. */
const MAX_MATCHES = 500;
/** Pattern characters of a word (BRK-2.22). */
const PATTERN = /[\\.#[\]^$|*()]/;

/**
 * Answers queries for a few whole words in the owner's thread: the index decides them in less time than a message to
 * the query thread takes. Queries that could take longer are left to the query thread.
 */
export class QuickSearch {
  readonly #db: IndexDatabase;
  readonly #limits: QueryLimits;
  readonly #last;
  readonly #count;
  readonly #scored;

  constructor(file: string, cacheKiB: number, limits: QueryLimits) {
    // Never waits for a lock: a query that would wait is left to the query thread.
    this.#db = openIndexFile(file, { cacheKiB, busyTimeoutMs: 0 });
    this.#limits = limits;
    this.#last = this.#db.prepare('SELECT max(oid) FROM object').raw();
    this.#count = this.#db
      .prepare('SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)')
      .raw();
    this.#scored = this.#db
      .prepare(
        `SELECT group_concat(oid || ',' || score) FROM (SELECT rowid AS oid,
          CAST(${RANK} * -${SCORE_UNIT} AS INTEGER) AS score FROM words WHERE words MATCH ? LIMIT ${MAX_MATCHES})`,
      )
      .raw();
  }

  /** Returns the answer; undefined if the query thread must answer. */
  answer(expression: Expression, options: Omit<SearchOptions, 'signal'>): QuickAnswer | undefined {
    if (options.wantLines || !options.matchWord || !options.ignoreCase || options.errors > 0)
      return undefined;
    if (!isPlain(expression, MAX_NODES)) return undefined;
    const { plan } = new Matcher(expression, options, this.#limits);
    const found = indexExpression(plan);
    if (found?.exact !== true || !this.#isCheap(found.match, found.phrases)) return undefined;
    const [packed] = this.#scored.get(found.match) as readonly [string | null];
    const numbers = packed === null ? [] : packed.split(',');
    const hits: { oid: number; score: number; lines: [] }[] = [];
    for (let i = 0; i < numbers.length; i += 2)
      hits.push({ oid: Number(numbers[i]), score: Number(numbers[i + 1]) / SCORE_UNIT, lines: [] });
    hits.sort((a, b) => b.score - a.score || a.oid - b.oid);
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

  /** Scoring reads the whole posting list of each phrase, whatever the limit on matches. */
  #isCheap(match: string, phrases: readonly string[]): boolean {
    let steps = 0;
    const [objects] = this.#last.get() as readonly [number | null];
    if (Number(objects ?? 0) * phrases.length > MAX_STEPS) {
      for (const phrase of phrases) {
        steps += this.#countOf(phrase, MAX_STEPS + 1 - steps);
        if (steps > MAX_STEPS) return false;
      }
    }
    return this.#countOf(match, MAX_MATCHES + 1) <= MAX_MATCHES;
  }

  #countOf(match: string, limit: number): number {
    const [count] = this.#count.get(match, limit) as readonly [number];
    return count;
  }
}

/** Whether a query has at most `maxNodes` nodes and each term is plain text, so that no pattern needs compiling. */
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
