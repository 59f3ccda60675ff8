// Compares an engine with a scan of all objects: it finds the same objects and lines, for random objects, queries and
// options.
import fc from 'fast-check';
import type { Expression } from '../../../protocols/broker/index.js';
import { decodeSoif, encodeSoif, SoifObject } from '../../../protocols/soif/index.js';
import type { IndexerFixture } from '../../../storage/indexers/conformance-fixture.js';
import type { Indexer } from '../../../storage/indexers/index.js';
import { assertProperty } from '../../helpers/property.js';
import { objectOf, PLAIN_SEARCH } from './embedded-fixture.js';
import { type NaiveOptions, naiveMatch } from './naive.js';

const WORDS = `
  ab abc b Ba cabb Straße straSSe ςας ΣΑ naïve NAÏ x_y ab_Abc bABc 10 9 😀 कि C++ ſab \u212aa µm μM é e\u0301 ꙋ ᲈ ١٢ " 日本 本語
`
  .trim()
  .split(/\s+/);
const SEPARATORS = [
  ' ',
  '  ',
  '\n',
  '-',
  '\u2010',
  ' -',
  '\u200b',
  '',
  '\t',
  '\u00a0',
  '.',
  '/',
  '\r\n',
  '😀',
  '—',
];
const ATTRIBUTE_NAMES = ['Title', 'TITLE', 'Keywords', 'Body', 'Full-Text', 'Odd', 'URL', 'Year'];

const text = fc
  .array(fc.tuple(fc.constantFrom(...WORDS), fc.constantFrom(...SEPARATORS)), { minLength: 1, maxLength: 6 })
  .map((parts) => parts.flat().join(''));
const object = fc.record({
  url: fc.constantFrom('http://ab/c', 'http://b/ab_c', 'http://STRA/10'),
  attributes: fc.array(fc.tuple(fc.constantFrom(...ATTRIBUTE_NAMES), text), { minLength: 1, maxLength: 4 }),
});
/** A search word: a part of a text on one line, without pattern characters. */
const plainTerm = fc
  .tuple(text, fc.nat(8), fc.integer({ min: 1, max: 7 }))
  .map(([whole, from, length]) =>
    Array.from(
      whole
        .replace(/[\r\n]+/g, ' ')
        .replaceAll('.', '-')
        .replaceAll('"', ''),
    )
      .slice(from, from + length)
      .join('')
      .trim(),
  )
  .filter((term) => term.replaceAll('\u200b', '').trim() !== '');
const pattern = fc
  .array(fc.constantFrom('ab', 'b', '.', '#', '[ab]', 'b*', 'a', 'Σ', 'ß'), { minLength: 2, maxLength: 4 })
  .map((parts) => parts.join(''))
  .filter((source) => /[.#*[]/.test(source));
const term = fc.oneof({ weight: 4, arbitrary: plainTerm }, { weight: 1, arbitrary: pattern });
const leaf: fc.Arbitrary<Expression> = fc.oneof(
  { weight: 4, arbitrary: term.map((t) => ({ kind: 'term', text: t, quoted: true, offset: 0 }) as const) },
  {
    weight: 3,
    arbitrary: fc
      .oneof(
        fc.tuple(fc.constant('contains' as const), term),
        fc.tuple(fc.constant('exact' as const), plainTerm),
        fc.tuple(
          fc.constant('regexp' as const),
          fc.constantFrom('a+b', '^ab', '[^a]b$', 'ab|ba', '(a|b)c?b', 's{2}', '\\d+', 'k', '(Σ|x)_?', 'ab?'),
        ),
        fc.tuple(
          fc.constantFrom('less-than' as const, 'greater-than' as const),
          fc.constantFrom('9.5', 'b', '10'),
        ),
      )
      .chain(([operator, value]) =>
        fc
          .constantFrom(...ATTRIBUTE_NAMES, 'none')
          .map((attribute) => ({ kind: 'select', attribute, operator, value, offset: 0 }) as const),
      ),
  },
);
const expression: fc.Arbitrary<Expression> = fc.letrec<{ node: Expression }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    { weight: 3, arbitrary: leaf },
    { weight: 1, arbitrary: tie('node').map((operand) => ({ kind: 'not', operand }) as const) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.constantFrom('and' as const, 'or' as const, 'except' as const), tie('node'), tie('node'))
        .map(([kind, left, right]) => ({ kind, left, right })),
    },
  ),
})).node;
const set = fc.constantFrom(true as const, undefined);
const options: fc.Arbitrary<NaiveOptions> = fc.record({
  ignoreAccents: set,
  contentOnly: set,
  ignoreCase: fc.boolean(),
  matchWord: fc.boolean(),
  errors: fc.oneof(
    { weight: 3, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.constantFrom(1, 2, 8) },
  ),
});

/** Returns random objects; the same seed gives the same objects. */
export function objectsOf(seed: number, count: number, updateTime: number): SoifObject[] {
  return fc.sample(object, { seed, numRuns: count }).map(({ url, attributes }, i) => {
    // objectOf takes a record: names that differ only in case become two attributes.
    const built = objectOf({ url: `${url}/${i}`, ...Object.fromEntries(attributes) }, updateTime);
    return decodeSoif(encodeSoif(built));
  });
}

/** Asserts, for random queries, that two engines find the same objects. */
export async function agree(
  indexers: readonly [Indexer, Indexer],
  parameters: { readonly seed: number; readonly numRuns: number },
): Promise<void> {
  await assertProperty(
    fc.asyncProperty(expression, options, fc.boolean(), async (query, matching, ordered) => {
      const [one, other] = await Promise.all(
        indexers.map(async (indexer) => {
          const results = indexer.query(query, { ...PLAIN_SEARCH, ...matching, ordered, wantLines: false });
          const oids: number[] = [];
          for await (const { oid } of results) oids.push(oid);
          if (!(await results.outcome).complete)
            throw new Error(`${indexer.name}: the query is not complete`);
          return oids.sort((a, b) => a - b).join();
        }),
      );
      if (one !== other) throw new Error(`${indexers[0].name} finds ${one}, ${indexers[1].name} ${other}`);
    }),
    parameters,
  );
}

/** Asserts, for random queries, that the engine finds what the scan finds. */
export async function agrees(
  fixture: IndexerFixture,
  objects: ReadonlyMap<number, SoifObject>,
  seed: number,
  runs: number,
) {
  await assertProperty(
    fc.asyncProperty(expression, options, fc.boolean(), async (query, matching, wantLines) => {
      const results = fixture.indexer.query(query, { ...PLAIN_SEARCH, ...matching, wantLines });
      const found = new Map<number, readonly { attribute: string; text: string; first: boolean }[]>();
      for await (const { oid, lines } of results) found.set(oid, lines);
      for (const [oid, object] of objects) {
        const expected = naiveMatch(object, query, matching);
        const lines = found.get(oid);
        if ((expected === undefined) !== (lines === undefined)) {
          throw new Error(
            `${expected === undefined ? 'wrongly' : 'not'} found: ${Buffer.from(encodeSoif(object))}`,
          );
        }
        if (!wantLines || expected === undefined || lines === undefined) continue;
        const got = lines.map(({ attribute, text, first }) => ({
          attribute,
          line: first ? text.replace(/^(?:@FILE \{ |[^\t]*\}:\t)/, '') : text,
        }));
        if (JSON.stringify(got) !== JSON.stringify(expected)) {
          throw new Error(`lines ${JSON.stringify(got)}, expected ${JSON.stringify(expected)}`);
        }
      }
      if (![...found.keys()].every((oid) => objects.has(oid))) throw new Error('a hit has an unknown OID');
      if (!(await results.outcome).complete) throw new Error('the query is not complete');
    }),
    { seed, numRuns: runs },
  );
}

/** Replaces the first objects of an index and removes others, in it and in the objects that are known. */
export async function changeSome(fixture: IndexerFixture, known: Map<number, SoifObject>): Promise<void> {
  const changed = objectsOf(8, 40, 2).map((object, i) => renamed(object, known.get(i + 1)));
  await fixture.putSoif(changed);
  for (const [i, object] of changed.entries()) known.set(i + 1, object);
  await fixture.indexer.beginUpdate();
  for (const oid of [50, 60, 61]) {
    await fixture.indexer.remove(oid);
    known.delete(oid);
  }
  await fixture.indexer.flush(fixture.indexer.watermark);
}

/** Returns an object with the URL of the object that it replaces. */
function renamed(object: SoifObject, replaced: SoifObject | undefined): SoifObject {
  const attributes = Array.from(object, ({ name, value }) => [name, value] as const);
  return decodeSoif(encodeSoif(SoifObject.of('FILE', replaced?.url ?? object.url, attributes)));
}
