// The keeper of leases: when it renews, and when it gives a lease up.
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { LeaseKeeper, Leases, type Rows, StaleLeaseError } from '../../../storage/index.js';
import { rowsWithTime } from '../../../storage/leases/rows-with-time.js';
import { Level } from '../../../storage/level/level.js';
import { ManualClock, nextTurn, until } from '../../helpers/manual-clock.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

const LEASE_MS = 1200;
const directory = await temporaryDirectory(t);
let places = 0;

async function scene(t: Test) {
  const level = await Level.open(join(directory, String(++places)), { kind: 'broker' });
  t.teardown(() => level.close());
  const clock = new ManualClock();
  const rows: Rows = rowsWithTime(level, () => clock.now());
  const one = new Leases(rows, { owner: 'one', leaseMs: LEASE_MS });
  const other = new Leases(rows, { owner: 'other', leaseMs: LEASE_MS });
  const errors: unknown[] = [];
  const keeper = new LeaseKeeper(one, { clock, onError: (error) => errors.push(error) });
  let renewals = 0;
  const { renew } = one;
  let answer: () => Promise<void> = () => Promise.resolve();
  one.renew = async (leases) => {
    await answer();
    const renewed = await renew.call(one, leases);
    renewals++;
    return renewed;
  };
  const setAnswer = (next: () => Promise<void>): void => {
    answer = next;
  };
  return { clock, one, other, keeper, errors, setAnswer, renewals: () => renewals };
}

t.test('renews at a third of the length, for as long as it has leases', async (t) => {
  const { clock, keeper, other, renewals } = await scene(t);
  t.same(clock.waiting, []);
  const [lease] = await keeper.acquire(['a', 'b'], 1);
  t.match(lease, { name: 'a', epoch: 1 });
  for (let i = 1; i <= 10; i++) {
    clock.advance(LEASE_MS / 3);
    await until(() => renewals() === i);
  }
  t.equal(lease?.signal.aborted, false);
  t.same(await other.acquire(['a']), []);
  await keeper.close();
  t.equal(lease?.signal.aborted, true);
  t.match(lease?.signal.reason, { name: 'AbortError' });
  t.same(clock.waiting, [], 'nothing waits');
  t.same(await other.acquire(['a']), [{ name: 'a', epoch: 2 }]);
  t.same(await keeper.acquire(['b']), [], 'a closed one acquires nothing');
});

t.test('gives a lease up before its end if the database cannot be reached', async (t) => {
  const { clock, keeper, other, errors, setAnswer } = await scene(t);
  const [lease] = await keeper.acquire(['a']);
  setAnswer(() => Promise.reject(new Error('cut off')));
  while (lease?.signal.aborted === false) {
    t.same(await other.acquire(['a']), []);
    clock.advance(50);
    await nextTurn();
  }
  t.ok(lease?.signal.reason instanceof StaleLeaseError);
  t.same(keeper.held, []);
  t.ok(errors.length > 3, 'it tried again');
  t.same(await other.acquire(['a']), [], 'the others have to wait a moment');
  clock.advance(LEASE_MS);
  t.same(await other.acquire(['a']), [{ name: 'a', epoch: 2 }]);
  t.same(clock.waiting, []);
});

t.test('a renewal that gets no answer is repeated, and its late answer is ignored', async (t) => {
  const { clock, keeper, errors, setAnswer, renewals } = await scene(t);
  const [lease] = await keeper.acquire(['a']);
  const never: (() => void)[] = [];
  setAnswer(() => new Promise((resolve) => never.push(resolve)));
  clock.advance(LEASE_MS / 3);
  await until(() => never.length === 1);
  setAnswer(() => Promise.resolve());
  clock.advance(LEASE_MS / 3);
  await until(() => errors.length === 1);
  t.match(errors[0], { message: 'the leases of one were not renewed in time' });
  clock.advance(LEASE_MS / 12);
  await until(() => renewals() === 1);
  never[0]?.();
  await nextTurn();
  t.equal(lease?.signal.aborted, false);
  t.ok(keeper.holds(lease!));
});

t.test('a lease that another owner has is lost at the next renewal', async (t) => {
  const { clock, keeper, one, other } = await scene(t);
  const [first, second] = await keeper.acquire(['a', 'b']);
  await one.release([first!]);
  await other.acquire(['a']);
  clock.advance(LEASE_MS / 3);
  await until(() => first?.signal.aborted === true);
  t.ok(first?.signal.reason instanceof StaleLeaseError);
  t.equal(second?.signal.aborted, false);
  t.same(
    keeper.held.map(({ name }) => name),
    ['b'],
  );
});

t.test('a lease is over at its time, whether or not the timer has said so', async (t) => {
  const { keeper, one, clock } = await scene(t);
  const [lease] = await keeper.acquire(['a']);
  t.ok(keeper.holds(lease!));
  const late = new LeaseKeeper(one, {
    clock: { now: () => Number.MAX_SAFE_INTEGER, setTimer: () => () => undefined },
  });
  t.same(late.held, []);
  clock.advance(LEASE_MS);
  t.notOk(keeper.holds(lease!));
  t.ok(lease?.signal.aborted);
});

t.test('leases have a length, and owners a name', async (t) => {
  const { one } = await scene(t);
  t.ok(one.leaseMs === LEASE_MS);
  const rows = {} as Rows;
  t.throws(() => new Leases(rows, { owner: 'x', leaseMs: 0 }), RangeError);
  t.throws(() => new Leases(rows, { owner: '', leaseMs: 1 }), RangeError);
});
