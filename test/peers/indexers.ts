// Compares Debian's Glimpse and Swish-e with the embedded engine: the same objects and queries have the same
// results. Prints TAP. Needs glimpse and swish-e; the runner installs them.
import { spawnSync } from 'node:child_process';
import t from 'tap';
import { parseQuery } from '../../protocols/broker/index.js';
import { type Indexer, openIndexer, type SearchOptions } from '../../storage/indexers/index.js';
import {
  EmbeddedFixture,
  type ObjectAttributes,
  objectOf,
  PLAIN_SEARCH,
} from '../storage/indexers/embedded-fixture.js';

const isInstalled = (program: string) => spawnSync(program, ['-V']).error === undefined;
const skip =
  isInstalled('glimpseindex') && isInstalled('swish-e') ? false : 'glimpse or swish-e is not installed';
const OBJECTS = 400;
const QUERIES = 100;

/** Creates a generator of pseudorandom numbers below a bound, equal for equal seeds. */
function createRandom(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % bound;
  };
}

const random = createRandom(7);
const pick = <T>(list: readonly T[]): T => list[random(list.length)]!;
const SYLLABLES = ['ba', 'ker', 'lo', 'min', 'ta', 'ru', 'sen', 'vi', 'po', 'dra'];
const WORDS = Array.from({ length: 300 }, () =>
  SYLLABLES.slice(0, 2 + random(3))
    .map(() => pick(SYLLABLES))
    .join(''),
);
const NAMES = ['title', 'body', 'keywords'];

function randomLine(): string {
  const cased = (word: string) => (random(6) === 0 ? word[0]!.toUpperCase() + word.slice(1) : word);
  return Array.from({ length: 2 + random(9) }, () => cased(pick(WORDS))).join(
    pick([' ', ' ', '-', ', ', '  ']),
  );
}

function createObject(i: number): ObjectAttributes {
  const attributes = NAMES.map((name) => [
    name,
    Array.from({ length: 1 + random(4) }, randomLine).join('\n'),
  ]);
  return { url: `http://h/${i}`, ...Object.fromEntries(attributes), number: String(1000 + i) };
}

/** @param wholeWords whether all words are whole, because the engine finds no parts of words */
function randomTerm(wholeWords: boolean): string {
  const word = pick(WORDS);
  if (!wholeWords && random(4) === 0) return word.slice(1, 5);
  if (random(5) === 0) return `"${word} ${pick(WORDS)}"`;
  return random(5) === 0 ? `${pick(NAMES)} : ${word}` : word;
}

function randomQuery(wholeWords: boolean): string {
  const operator = () => pick(['and', 'or', 'and not', 'except']);
  return random(3) === 0
    ? randomTerm(wholeWords)
    : random(2) === 0
      ? `${randomTerm(wholeWords)} ${operator()} ${randomTerm(wholeWords)}`
      : `(${randomTerm(wholeWords)} ${operator()} ${randomTerm(wholeWords)}) ${operator()} ${randomTerm(wholeWords)}`;
}

async function findOids(indexer: Indexer, text: string, options: Partial<SearchOptions>): Promise<number[]> {
  const expression = parseQuery(text);
  if (expression.kind === 'all') throw new Error('#allb is not for indexers');
  const results = indexer.query(expression, { ...PLAIN_SEARCH, ...options, wantLines: false });
  const found: number[] = [];
  for await (const { oid } of results) found.push(oid);
  const { complete, warnings } = await results.outcome;
  if (!complete || warnings.length > 0) throw new Error(`${text}: ${warnings.join()}`);
  return found.sort((a, b) => a - b);
}

t.test('BRK-8.5 the engines agree', { skip }, async (t) => {
  await using base = await EmbeddedFixture.open();
  const { directory: brokerDirectory, storeDirectory } = base;
  const embedded = base.indexer;
  await base.putSoif(Array.from({ length: OBJECTS }, (_, i) => objectOf(createObject(i + 1))));
  for (const type of ['glimpse', 'swish'] as const) {
    await using engine = await openIndexer({ type, brokerDirectory, storeDirectory });
    base.indexer = engine;
    await base.catchUp();
    const wholeWords = !engine.capabilities.substrings;
    let found = 0;
    for (let i = 0; i < QUERIES; i++) {
      const matchWord = wholeWords || random(2) === 0;
      const options = {
        ignoreCase: random(2) === 0,
        matchWord,
        errors: engine.capabilities.errors > 0 && random(5) === 0 ? 1 + random(2) : 0,
      };
      const text = randomQuery(wholeWords);
      const expected = await findOids(embedded, text, options);
      const actual = await findOids(engine, text, options);
      if (actual.join() === expected.join()) found += actual.length;
      else t.same(actual, expected, `${type}: ${text} ${JSON.stringify(options)}`);
    }
    t.ok(found > QUERIES, `${type}: ${QUERIES} queries find ${found} objects`);
  }
  base.indexer = embedded;
});
