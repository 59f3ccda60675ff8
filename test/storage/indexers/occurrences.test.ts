// How often a word or phrase occurs in each part of an object, as it is solved from FTS5's scores.
import fc from 'fast-check';
import t from 'tap';
import { COLUMN_WEIGHTS } from '../../../storage/indexers/columns/columns.js';
import { openIndexFile } from '../../../storage/indexers/embedded/index/index-file.js';
import {
  PARTS,
  RANKED_COLUMNS,
  RelevanceStatements,
} from '../../../storage/indexers/embedded/ranking/relevance-statements.js';
import { TimeSlice } from '../../../storage/indexers/scheduling/time-slice.js';
import { assertProperty } from '../../helpers/property.js';
import { type Teardown, temporaryDirectory } from '../../helpers/temporary-directory.js';

const NAMES = COLUMN_WEIGHTS.map(({ name }) => name);
const ALL = `{${NAMES.join(' ')}}`;
const WORDS = ['a', 'b', 'c'];

type Columns = Readonly<Record<string, string>>;

async function indexOf(t: Teardown, objects: readonly Columns[]) {
  const db = openIndexFile(`${await temporaryDirectory(t)}/index`);
  t.teardown(async () => {
    db.close();
  });
  const put = db.prepare(
    `INSERT INTO words(rowid, ${NAMES.join(', ')}) VALUES(?${', ?'.repeat(NAMES.length)})`,
  );
  objects.forEach((columns, i) => {
    put.run(i + 1, ...NAMES.map((name) => columns[name] ?? ''));
  });
  const statements = new RelevanceStatements(db);
  const slice = new TimeSlice({
    sliceMs: 1000,
    lifetimeMs: Number.POSITIVE_INFINITY,
  });
  return { put, statements, slice };
}

/** How often a phrase occurs in the columns of each part, by reading them. */
function naive(columns: Columns, phrase: readonly string[], counted: readonly string[]): number[] {
  const counts = PARTS.map(() => 0);
  for (const name of counted) {
    const words = (columns[name] ?? '').split(' ');
    const count = words.filter((_, i) => phrase.every((word, j) => words[i + j] === word)).length;
    const part = (PARTS as readonly string[]).indexOf(name);
    counts[part < 0 ? PARTS.indexOf('other') : part]! += count;
  }
  return counts;
}

t.test('the counts of every part are those of a reader', async (t) => {
  const text = (maxLength: number) =>
    fc.array(fc.constantFrom(...WORDS), { maxLength }).map((words) => words.join(' '));
  const columns = fc.record(
    Object.fromEntries(NAMES.map((name) => [name, text(name === 'body' ? 2000 : 100)])),
  );
  // A word in most of the objects has the least inverse document frequency.
  const objects = fc.array(columns, { minLength: 1, maxLength: 12 });
  await assertProperty(
    fc.asyncProperty(
      objects,
      fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 2 }),
      async (objects, phrase) => {
        const { statements, slice } = await indexOf(t, objects);
        for (const filter of [ALL, RANKED_COLUMNS, 'keywords']) {
          const counted = filter.replace(/[{}]/g, '').split(' ');
          const found = await statements.occurrences(phrase.join(' '), filter, slice);
          const expected = objects
            .map((columns, i) => ({ oid: i + 1, counts: naive(columns, phrase, counted) }))
            .filter(({ counts }) => counts.some((count) => count > 0));
          t.same(
            found.map(({ oid, counts }) => ({
              oid,
              counts: counts.map((count) => Math.round(count * 1e3) / 1e3),
            })),
            expected,
          );
        }
      },
    ),
    { numRuns: 40 },
  );
});

t.test('an index that changes between two statements gives counts again, or counts of titles', async (t) => {
  const object = { title: 'a b', description: 'a', body: 'a a a' };
  const { statements, slice, put } = await indexOf(t, [object, { title: 'c' }, { title: 'd e f' }]);
  const totals = statements.totals.bind(statements);
  let stale = 1;
  // Another thread adds an object after the totals were read.
  statements.totals = () => {
    const before = totals();
    if (stale-- > 0) put.run(9, ...NAMES.map((name) => (name === 'body' ? 'x '.repeat(50) : '')));
    return before;
  };
  const counts = async () =>
    (await statements.occurrences('a', ALL, slice)).map(({ counts }) => counts.map(Math.round));
  t.same(await counts(), [[1, 0, 1, 0, 0, 3]]);
  stale = 0;
  statements.totals = () => ({ ...totals(), added: 1000 });
  t.same((await counts())[0]?.slice(1, 5), [0, 0, 0, 0], 'what cannot be told apart does not count');
});
