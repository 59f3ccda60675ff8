// The order of hits depends neither on how many are requested nor on how many objects match.
import t from 'tap';
import { EmbeddedFixture, type ObjectAttributes } from './embedded-fixture.js';

const PAGE = { ignoreCase: true, matchWord: true, wantLines: false } as const;
const COMPARED = 300;
const LIMITS = [10, 50, 100, 101, 300, 301, 1000, 1001];
const FILLER = 'nothing of interest is said in this sentence and the next one of them '.split(' ');

/** Numbers from 0 to below 1, equal for equal seeds. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Objects that all have `replication`, each in other parts, forms and lengths. */
function randomObjects(count: number, seed: number): ObjectAttributes[] {
  const random = randomOf(seed);
  const words = ['replication', 'replicated', 'standby', 'slot', 'replications'];
  const text = (length: number, share: number) =>
    Array.from({ length }, () => {
      const from = random() < share ? words : FILLER;
      return from[Math.floor(random() * from.length)];
    }).join(' ');
  return Array.from({ length: count }, () => ({
    Title: text(1 + Math.floor(random() * 6), 0.2),
    Headings: text(Math.floor(random() * 8), 0.1),
    Body: `${text(Math.floor(random() * 200), 0.05)} replication ${text(Math.floor(random() * 300), 0.05)}`,
  }));
}

t.test('the first hits are the same, however many are requested', async (t) => {
  for (const count of [5, 99, 100, 101, 300, 500]) {
    await using fixture = await EmbeddedFixture.open();
    await fixture.put(...randomObjects(count, count));
    for (const query of [
      'replication',
      'replication and standby',
      'replication or standby',
      '"replication slot" or slot',
      'replication and not standby',
      'body : replication',
      'replication : replication or replication',
    ]) {
      const first = async (options: object) =>
        (await fixture.search(query, { ...PAGE, ...options })).map(({ oid }) => oid).slice(0, COMPARED);
      const some: (readonly number[])[] = [];
      for (const maxFiles of LIMITS) some.push(await first({ maxFiles }));
      const all = await first({});
      for (const [i, maxFiles] of LIMITS.entries())
        t.same(some[i], all.slice(0, maxFiles), `${count} objects, ${query}, ${maxFiles} hits`);
    }
  }
});

t.test('the same with parts of words, errors and patterns', async (t) => {
  await using fixture = await EmbeddedFixture.open();
  await fixture.put(...randomObjects(300, 7));
  for (const [query, options] of [
    ['replic', { matchWord: false }],
    ['tion', { matchWord: false }],
    ['"tion slo"', { matchWord: false }],
    ['replicatoin', { errors: 2 }],
    ['standbye', { errors: 1, matchWord: false }],
    ['repl.cat#', {}],
    ['replic and not stand', { matchWord: false }],
  ] as const) {
    const first = async (maxFiles?: number) => {
      const hits = await fixture.search(query, { ...PAGE, ...options, ...(maxFiles && { maxFiles }) });
      return hits.map(({ oid }) => oid).slice(0, COMPARED);
    };
    const all = await first();
    t.not(all.length, 0, query);
    for (const maxFiles of LIMITS)
      t.same(await first(maxFiles), all.slice(0, maxFiles), `${query}, ${maxFiles}`);
  }
});

t.test('the best object is first, however many others match', async (t) => {
  const other = `the and of ${FILLER.join(' ')} replication and replication`;
  const best = { Title: 'Replicated', Body: `the and of replication ${FILLER.join(' ').repeat(20)}` };
  for (const others of [4, 99, 100, 300, 2500]) {
    await using fixture = await EmbeddedFixture.open();
    await fixture.put(...Array.from({ length: others }, () => ({ Title: 'Other', Body: other })), best);
    for (const maxFiles of [10, 100, 101]) {
      const [first] = await fixture.search('replication', { ...PAGE, maxFiles });
      t.equal(first?.oid, others + 1, `${others} others, ${maxFiles} hits`);
    }
  }
});

t.test('pages of a result have each object once, whatever was asked before', async (t) => {
  await using fixture = await EmbeddedFixture.open();
  await fixture.put(...randomObjects(450, 3));
  const ask = async (maxFiles: number) =>
    (await fixture.search('replication', { ...PAGE, maxFiles })).map(({ oid }) => oid);
  const once = await ask(20);
  t.same(await ask(20), once, 'asked again');
  const all = await ask(450);
  t.equal(new Set(all).size, 450);
  for (let end = 20; end <= 440; end += 60) t.same(await ask(end), all.slice(0, end), `${end}`);
});
