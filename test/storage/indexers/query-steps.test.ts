// What a query does between two looks at the clock is bounded, whatever the query: counted, not timed.
import t from 'tap';
import { openObjectReader } from '../../../storage/broker/object-reader.js';
import { type IndexDatabase, openIndexFile } from '../../../storage/indexers/embedded/index/index-file.js';
import type { Postings } from '../../../storage/indexers/embedded/index/postings.js';
import type { Spellings } from '../../../storage/indexers/embedded/index/spellings.js';
import type { CandidateFinder } from '../../../storage/indexers/embedded/search/candidates.js';
import type { MatchingObjects } from '../../../storage/indexers/embedded/search/matching-objects.js';
import { mostWords } from '../../../storage/indexers/embedded/search/most-words.js';
import { SearchEngine, type SearchLimits } from '../../../storage/indexers/embedded/search/search.js';
import type { SearchOptions } from '../../../storage/indexers/index.js';
import { QUERY_LIMITS } from '../../../storage/indexers/query/matcher.js';
import { plainWordsOf } from '../../../storage/indexers/query/plain-words.js';
import { TimeSlice } from '../../../storage/indexers/scheduling/time-slice.js';
import { Random } from '../../helpers/random.js';
import { byTier, SEED } from '../../helpers/seed.js';
import { EmbeddedFixture, expressionOf, PLAIN_SEARCH } from './embedded-fixture.js';

const OBJECTS = 300;
const WORDS = 400;
const QUERIES = byTier(20, 100);
/** Statements of a step, and the words that one of them looks for. */
const MOST_STATEMENTS = 24;
const MOST_WORDS = 256;
/** Matched lines, terms of a vocabulary and the like are not statements: a query of many looks this often. */
const LOOKS_PER_NODE = 1;

const LIMITS: SearchLimits = {
  vocabularyBytes: 1 << 20,
  maxTermsPerPart: 2_000,
  maxRanked: 20_000,
  sliceMs: 1,
  maxWorkMs: 10_000,
  readObjects: 64,
  readBytes: 1 << 20,
  maxIndexedBytes: 4 << 20,
  totalReadBytes: 24 << 20,
};

/** Counts the statements between two looks at the clock, and the words in each. */
class Meter {
  statements = 0;
  looks = 0;
  mostStatements = 0;
  mostWords = 0;

  look(): void {
    this.looks += 1;
    this.mostStatements = Math.max(this.mostStatements, this.statements);
    this.statements = 0;
  }

  count(values: readonly unknown[]): void {
    this.statements += 1;
    for (const value of values)
      if (typeof value === 'string') {
        const quoted = value.split('"').filter((_, i) => i % 2 === 1);
        this.mostWords = Math.max(this.mostWords, quoted.join(' ').split(' ').length);
      }
  }

  reset(): void {
    this.statements = 0;
    this.looks = 0;
    this.mostStatements = 0;
    this.mostWords = 0;
  }
}

type Statement = ReturnType<IndexDatabase['prepare']>;

/** The index, each of whose statements is counted. */
function metered(db: IndexDatabase, meter: Meter): IndexDatabase {
  const statement = (inner: Statement): Statement =>
    new Proxy(inner, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...values: unknown[]): unknown => {
          if (name === 'get' || name === 'all') meter.count(values);
          const result: unknown = Reflect.apply(value, target, values);
          return result === target ? statement(target) : result;
        };
      },
    });
  return new Proxy(db, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (name === 'prepare') return (source: string) => statement(target.prepare(source));
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** A word of a rank; low ones are frequent. */
function wordOf(rank: number): string {
  return `${'bcdfgklmnp'.charAt(rank % 10)}${'aeiou'.charAt(Math.floor(rank / 10) % 5)}r${'stvwx'.charAt(Math.floor(rank / 50) % 5)}o${Math.floor(rank / 250) || ''}`;
}

/** Makes queries by their grammar: long, wide, nested, mixed. */
class Queries {
  readonly #random: Random;

  constructor(seed: number) {
    this.#random = new Random(seed);
  }

  #word(): string {
    return wordOf(this.#random.below(WORDS));
  }

  #term(): string {
    const words = Array.from({ length: this.#random.between(2, 40) }, () => this.#word()).join(' ');
    switch (this.#random.below(12)) {
      case 0:
        return `"${words.slice(0, 200)}"`;
      case 1:
        return `body : ${this.#word()}`;
      case 2:
        return `title : ${this.#word()}`;
      case 3:
        return `nothing : ${this.#word()}`;
      case 4:
        return `body regexp "${this.#word()}.*[aeiou]+${this.#word().slice(0, 2)}"`;
      case 5:
        return `"#${this.#word().slice(1)}"`;
      case 6:
        return this.#word().slice(0, this.#random.between(1, 2));
      case 7:
        return `title exact "${this.#word()}"`;
      case 8:
        return `update-time less-than ${this.#random.below(100)}`;
      default:
        return this.#word();
    }
  }

  /** @param nodes about as many terms */
  expression(nodes: number, depth = 0): string {
    if (nodes <= 1) return this.#random.below(3) === 0 ? `(not ${this.#term()})` : this.#term();
    const operator = ['and', 'or', 'except', 'and not', 'or not'][this.#random.below(5)] ?? 'or';
    const isChain = depth > 40 || this.#random.below(2) === 0;
    if (isChain)
      return Array.from({ length: Math.min(nodes, 160) }, () => this.expression(1)).join(` ${operator} `);
    const left = this.#random.between(1, nodes - 1);
    const text = `(${this.expression(left, depth + 1)}) ${operator} (${this.expression(nodes - left, depth + 1)})`;
    return this.#random.below(4) === 0 ? `not (${text})` : text;
  }
}

const many = (count: number, part: (i: number) => string, operator: string) =>
  Array.from({ length: count }, (_, i) => part(i)).join(` ${operator} `);

/** Kinds that were expensive once, or may be. */
const KINDS: Readonly<Record<string, string>> = {
  negations: many(160, (n) => `(not ${wordOf(n)})`, 'or'),
  'negated conjunction': many(160, (n) => `not ${wordOf(n)}`, 'and'),
  'negations of attributes': many(120, (n) => `(not body : ${wordOf(n)})`, 'or'),
  'frequent and rare words': many(250, (n) => wordOf(n % WORDS), 'or'),
  conjunction: many(250, (n) => wordOf(n % 7), 'and'),
  phrases: many(100, (n) => `"${wordOf(n % 7)} ${wordOf(n % 5)} ${wordOf(n % 3)}"`, 'or'),
  'a phrase of many words': `"${Array.from({ length: 40 }, (_, n) => wordOf(n % 3)).join(' ')}"`,
  'nested pairs': Array.from({ length: 28 }, (_, n) => n).reduce(
    (inner, n) => `(${wordOf(n)} or ${wordOf(n + 9)}) and not (${inner})`,
    `${wordOf(1)} or ${wordOf(2)}`,
  ),
  'nested negations': Array.from({ length: 28 }).reduce<string>((inner) => `not (not (${inner}))`, wordOf(3)),
  'single letters': many(20, (n) => 'abcdefghijklmnopqrstuvwxyz'.charAt(n), 'and'),
  'expressions beside negations': many(10, (n) => `(not body regexp "${wordOf(n)}[a-z ]*x")`, 'and'),
};

const FLAGS = [
  {},
  { matchWord: true },
  { ignoreCase: false },
  { wantLines: true },
  { errors: 2 },
  { ignoreAccents: true, matchWord: true, contentOnly: true },
  { ignoreAccents: true, matchWord: true, contentOnly: true, mostWords: true },
  { mostWords: true, wantLines: true },
] as const;

/** The flags that a page or a client can set, in any combination. */
function anyFlags(random: Random) {
  const some = () => random.below(2) === 0;
  return {
    ...{ matchWord: some(), ignoreCase: some(), wantLines: some(), ordered: some() },
    ...{
      ignoreAccents: some() || undefined,
      contentOnly: some() || undefined,
      mostWords: some() || undefined,
    },
    errors: random.below(3) === 0 ? random.between(1, 8) : 0,
    maxFiles: random.below(3) === 0 ? random.between(1, 60) : undefined,
  };
}

/** What a page asks of the words: completions while they are typed, corrections, forms. */
const WORD_REQUESTS = ['completions', 'neighbors', 'forms'] as const;

t.test(`a step of any query runs few statements of few words (seed ${SEED})`, async (t) => {
  await using fixture = await EmbeddedFixture.open();
  const random = new Random(SEED, 1);
  const rank = () => Math.floor(WORDS * random.fraction() ** 3);
  await fixture.put(
    ...Array.from({ length: OBJECTS }, () => ({
      Title: `${wordOf(rank())} ${wordOf(rank())}`,
      Body: Array.from({ length: 40 }, () => wordOf(rank())).join(random.below(9) === 0 ? '\n' : ' '),
      Description: `é${wordOf(rank())}`,
    })),
  );
  const meter = new Meter();
  const db = openIndexFile(fixture.file);
  const reader = await openObjectReader(fixture.storeDirectory);
  const { yield: look } = TimeSlice.prototype;
  TimeSlice.prototype.yield = function (this: TimeSlice) {
    meter.look();
    return look.call(this);
  };
  t.teardown(async () => {
    TimeSlice.prototype.yield = look;
    await reader.close();
    db.close();
  });
  const engine = new SearchEngine(metered(db, meter), reader, QUERY_LIMITS, LIMITS);
  const run = async (name: string, text: string, flags: Partial<SearchOptions>): Promise<boolean> => {
    meter.reset();
    const search = engine.search(expressionOf(text), { ...PLAIN_SEARCH, wantLines: false, ...flags });
    await search.begin();
    let hits = 0;
    try {
      for await (const _ of search.hits()) hits++;
    } finally {
      search.end();
      meter.look();
    }
    const { mostStatements, mostWords, looks } = meter;
    const terms = text.split(/ (?:and|or|except) /).length;
    const isBounded =
      mostStatements <= MOST_STATEMENTS && mostWords <= MOST_WORDS && looks >= terms * LOOKS_PER_NODE;
    if (!isBounded)
      t.comment(`${name} ${JSON.stringify(flags)}`, {
        mostStatements,
        mostWords,
        looks,
        hits,
        query: text.slice(0, 300),
      });
    return isBounded;
  };
  for (const [name, text] of Object.entries(KINDS)) {
    for (const flags of FLAGS) t.ok(await run(name, text, flags), `${name} ${JSON.stringify(flags)}`);
  }
  const queries = new Queries(SEED);
  let bounded = 0;
  for (let i = 0; i < QUERIES; i++)
    if (await run(`query ${i}`, queries.expression(random.between(1, 120)), anyFlags(random))) bounded++;
  t.equal(bounded, QUERIES, 'queries of the grammar');
  for (const kind of WORD_REQUESTS) {
    meter.reset();
    for (let i = 0; i < QUERIES; i++) {
      const text = wordOf(rank()).slice(0, random.between(1, 5));
      await engine.words({ kind, text, limit: 10, lifetimeMs: 60_000 });
      meter.look();
    }
    const { mostStatements, mostWords } = meter;
    t.ok(mostStatements <= MOST_STATEMENTS && mostWords <= MOST_WORDS, kind, { mostStatements, mostWords });
  }
});

t.test('BRK-2.27 words of most objects are merged in steps', async (t) => {
  const objects = 100_000;
  const stepObjects = 5_000;
  let looks = 0;
  const slice = new TimeSlice({ sliceMs: 1, lifetimeMs: 60_000 });
  slice.yield = () => {
    looks += 1;
    return undefined;
  };
  const oidsOf = (word: number) =>
    Uint32Array.from({ length: objects / (word + 1) }, (_, i) => i * (word + 1) + 1);
  const words = Array.from({ length: 6 }, (_, i) => `word${i}`);
  const plain = plainWordsOf(expressionOf(words.join(' and ')));
  if (plain === undefined) throw new Error('these are plain words');
  const most = await mostWords(plain, {
    options: { ...PLAIN_SEARCH, matchWord: true, ignoreCase: true, wantLines: false },
    queryLimits: QUERY_LIMITS,
    postings: { span: 2 * objects } as Postings,
    matching: {
      of: (match: string) => Promise.resolve(oidsOf(Number(/word(\d)/.exec(match)?.[1]))),
    } as unknown as MatchingObjects,
    finder: {} as CandidateFinder,
    spellings: { of: (text: string) => [text] } as unknown as Spellings,
    forms: { read: () => Promise.resolve({ forms: [], named: 0, isStopWord: false }) },
    maxRanked: objects,
    slice,
  });
  t.ok(most !== undefined && most.oids.length > 0, `${most?.oids.length} objects`);
  // Each list is merged with what was merged before, the whole is counted and divided.
  const merged = words.reduce((sum, _, i) => sum + oidsOf(i).length, 0) + (words.length - 1) * objects;
  t.ok(looks >= (merged + 2 * objects) / stepObjects, `${looks} looks at the clock for ${merged} objects`);
});
