// The order of waiting requests: none starves, shares hold, what leaves is gone, and no turn is lost.
import fc from 'fast-check';
import t from 'tap';
import { FairQueue, RecentWork, type TurnRule, type Waiting } from '../../protocols/fair-queue.js';
import { assertProperty } from '../helpers/property.js';

const KEYS = ['a', 'b', 'c', 'd', 'e'] as const;
type Key = (typeof KEYS)[number];

/** Every such turn goes to the request that has waited longest. */
const PER_OLDEST = 4;
/** Turns that one key may hold at a time. */
const SHARE = 3;

const rules = fc.constantFrom<TurnRule>('level', 'last level', 'key', 'oldest');
const steps = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('add'),
        key: fc.constantFrom(...KEYS),
        level: fc.integer({ min: 0, max: 4 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('take'), rule: rules }) },
    fc.record({ kind: fc.constant('leave'), which: fc.nat() }),
    fc.record({ kind: fc.constant('release'), which: fc.nat() }),
  ),
  { minLength: 20, maxLength: 200 },
);

/** A queue, and what it should contain. */
class Model {
  readonly queue = new FairQueue<Key, number>();
  readonly waiting: Waiting<Key, number>[] = [];
  readonly held: Key[] = [];
  added = 0;

  readonly workOf = (key: Key): number => {
    const count = this.held.filter((held) => held === key).length;
    return count < SHARE ? count : Infinity;
  };

  add(key: Key, level: number): void {
    this.waiting.push(this.queue.add(key, this.added++, level));
  }

  take(rule: TurnRule): Waiting<Key, number> | undefined {
    const allowed = this.waiting.filter(({ key }) => this.workOf(key) < Infinity);
    const next = this.queue.next(rule, this.workOf);
    const taken = this.queue.take(rule, this.workOf);
    if (taken !== next) throw new Error('next() announces another request than take() takes');
    if ((taken === undefined) !== (allowed.length === 0)) throw new Error('a turn is lost');
    if (taken === undefined) return undefined;
    if (!allowed.includes(taken)) throw new Error(`${taken.key} holds its share or did not wait`);
    this.#checkRule(rule, taken, allowed);
    this.waiting.splice(this.waiting.indexOf(taken), 1);
    this.held.push(taken.key);
    return taken;
  }

  #checkRule(rule: TurnRule, taken: Waiting<Key, number>, allowed: readonly Waiting<Key, number>[]): void {
    const levels = allowed.map(({ level }) => level);
    const level = rule === 'level' ? Math.min(...levels) : Math.max(...levels);
    const rivals = rule === 'key' ? allowed : allowed.filter((waiting) => waiting.level === level);
    if (rule === 'oldest') {
      if (taken !== allowed[0]) throw new Error('another one waits longer');
      return;
    }
    if (rule !== 'key' && taken.level !== level) throw new Error(`level ${taken.level} instead of ${level}`);
    if (rivals.some(({ key }) => this.workOf(key) < this.workOf(taken.key)))
      throw new Error('another key has less');
    if (rivals.find(({ key }) => key === taken.key) !== taken)
      throw new Error('another one of its key came before');
  }
}

t.test('turns, shares and removals, as in a model', async (t) => {
  const done = { taken: 0, left: 0 };
  await assertProperty(
    fc.property(steps, (all) => {
      const model = new Model();
      const { queue, waiting, held } = model;
      for (const step of all) {
        if ('key' in step) model.add(step.key, step.level);
        else if ('rule' in step) done.taken += model.take(step.rule) === undefined ? 0 : 1;
        else if (step.kind === 'release') held.splice(step.which % Math.max(1, held.length), 1);
        else {
          const [gone] = waiting.splice(step.which % Math.max(1, waiting.length), 1);
          if (gone === undefined) continue;
          done.left += 1;
          if (!queue.remove(gone) || queue.remove(gone)) throw new Error('it is removed once');
        }
        if (queue.size !== waiting.length) throw new Error(`${queue.size} wait, not ${waiting.length}`);
        const keys = [...new Set(waiting.map(({ key }) => key))].sort();
        if ([...new Set(queue.keys())].sort().join() !== keys.join()) throw new Error('a key is left over');
      }
    }),
    { numRuns: 300 },
  );
  t.ok(done.taken > 100 && done.left > 50, `${done.taken} taken, ${done.left} removed`);
});

t.test('no request starves, whatever comes after it', async () => {
  await assertProperty(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 20 }),
      fc.integer({ min: 0, max: 4 }),
      (before, level) => {
        const queue = new FairQueue<string, string>();
        for (const [i, other] of before.entries()) queue.add(`before ${i % 3}`, 'other', other);
        const waiting = queue.add('late', 'it', level);
        for (let turn = 1; turn <= PER_OLDEST * (before.length + 1); turn++) {
          // New keys of the first level, which have worked nothing.
          queue.add(`new ${turn}`, 'other');
          const taken = queue.take(turn % PER_OLDEST === 0 ? 'oldest' : 'level', (key) =>
            key === 'late' ? 1000 : 0,
          );
          if (taken === waiting) return;
        }
        throw new Error('it starves');
      },
    ),
  );
});

t.test('keys with equal work take turns, whatever the number of their requests', async (t) => {
  const queue = new FairQueue<string, number>();
  for (let i = 0; i < 20; i++) queue.add('many', i);
  for (let i = 0; i < 3; i++) queue.add('few', i);
  const taken = Array.from({ length: 7 }, () => queue.take()).map(
    (waiting) => waiting && waiting.key + waiting.item,
  );
  t.same(taken, ['many0', 'few0', 'many1', 'few1', 'many2', 'few2', 'many3']);
  t.equal(queue.size, 16);
});

t.test('the order of a key counts where its turn does not depend on the level', async (t) => {
  const queue = new FairQueue<string, string>();
  queue.add('a', 'second', 0, 2);
  queue.add('a', 'first', 3, 1);
  queue.add('b', 'other', 0, 0);
  const workOf = (key: string) => (key === 'a' ? 1 : 2);
  t.equal(queue.take('level', workOf)?.item, 'second');
  t.equal(queue.take('key', workOf)?.item, 'first');
  t.equal(queue.take('key', workOf)?.item, 'other');
  t.equal(queue.take('key', workOf), undefined);
});

t.test('recent work', async (t) => {
  const work = new RecentWork(1000);
  t.equal(work.at(5000), 0);
  work.add(8, 5000);
  work.add(4, 6000);
  t.equal(work.at(6000), 8);
  t.equal(work.at(8000), 2);
  work.set(1, 8000);
  t.equal(work.at(9000), 0.5);
});
