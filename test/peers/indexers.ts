// Debian's Glimpse and Swish-e compared with the embedded engine: the same objects and queries have the same results. Prints TAP. Needs Debian's glimpse and swish-e; `.ci/run` installs them.
import { spawnSync } from 'node:child_process';
import t from 'tap';
import { parseQuery } from '../../protocols/broker/index.js';
import { type Indexer, openIndexer, type SearchOptions } from '../../storage/indexers/index.js';
import { Base, PLAIN, soifOf, type TestObject } from '../storage/indexers/support.js';

t.setTimeout(600_000);
const installed = (program: string) => spawnSync(program, ['-V']).error === undefined;
const skip =
  installed('glimpseindex') && installed('swish-e') ? false : 'glimpse or swish-e is not installed';
const OBJECTS = 400;
const QUESTIONS = 100;

/** Pseudorandom numbers below a bound, equal in each run. */
function numbers(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % bound;
  };
}

const next = numbers(7);
const pick = <T>(list: readonly T[]): T => list[next(list.length)]!;
const SYLLABLES = ['ba', 'ker', 'lo', 'min', 'ta', 'ru', 'sen', 'vi', 'po', 'dra'];
const WORDS = Array.from({ length: 300 }, () =>
  SYLLABLES.slice(0, 2 + next(3))
    .map(() => pick(SYLLABLES))
    .join(''),
);
const NAMES = ['title', 'body', 'keywords'];

function line(): string {
  const cased = (word: string) => (next(6) === 0 ? word[0]!.toUpperCase() + word.slice(1) : word);
  return Array.from({ length: 2 + next(9) }, () => cased(pick(WORDS))).join(
    pick([' ', ' ', '-', ', ', '  ']),
  );
}

function object(i: number): TestObject {
  const attributes = NAMES.map((name) => [name, Array.from({ length: 1 + next(4) }, line).join('\n')]);
  return { url: `http://h/${i}`, ...Object.fromEntries(attributes), number: String(1000 + i) };
}

function term(whole: boolean): string {
  const word = pick(WORDS);
  if (!whole && next(4) === 0) return word.slice(1, 5);
  if (next(5) === 0) return `"${word} ${pick(WORDS)}"`;
  return next(5) === 0 ? `${pick(NAMES)} : ${word}` : word;
}

function query(whole: boolean): string {
  const operator = () => pick(['and', 'or', 'and not', 'except']);
  return next(3) === 0
    ? term(whole)
    : next(2) === 0
      ? `${term(whole)} ${operator()} ${term(whole)}`
      : `(${term(whole)} ${operator()} ${term(whole)}) ${operator()} ${term(whole)}`;
}

async function oids(indexer: Indexer, text: string, options: Partial<SearchOptions>): Promise<number[]> {
  const expression = parseQuery(text);
  if (expression.kind === 'all') throw new Error('not a question');
  const results = indexer.query(expression, { ...PLAIN, ...options, wantLines: false });
  const found: number[] = [];
  for await (const { oid } of results) found.push(oid);
  const { complete, warnings } = await results.outcome;
  if (!complete || warnings.length > 0) throw new Error(`${text}: ${warnings.join()}`);
  return found.sort((a, b) => a - b);
}

t.test('BRK-8.5 the engines agree', { skip }, async (t) => {
  await using base = await Base.open();
  const { directory: brokerDirectory, storeDirectory } = base;
  const embedded = base.indexer;
  await base.putSoif(Array.from({ length: OBJECTS }, (_, i) => soifOf(object(i + 1))));
  for (const type of ['glimpse', 'swish'] as const) {
    await using engine = await openIndexer({ type, brokerDirectory, storeDirectory });
    base.indexer = engine;
    await base.catchUp();
    const whole = !engine.capabilities.substrings;
    let found = 0;
    for (let i = 0; i < QUESTIONS; i++) {
      const matchWord = whole || next(2) === 0;
      const options = {
        ignoreCase: next(2) === 0,
        matchWord,
        errors: engine.capabilities.errors > 0 && next(5) === 0 ? 1 + next(2) : 0,
      };
      const text = query(whole);
      const expected = await oids(embedded, text, options);
      const actual = await oids(engine, text, options);
      if (actual.join() === expected.join()) found += actual.length;
      else t.same(actual, expected, `${type}: ${text} ${JSON.stringify(options)}`);
    }
    t.ok(found > QUESTIONS, `${type}: ${QUESTIONS} questions, ${found} objects found`);
  }
  base.indexer = embedded;
});
