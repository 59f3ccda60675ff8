// When a run publishes what it has gathered so far.
import t from 'tap';
import { PublishSoFar } from '../../../servers/all-in-one/publish-so-far.js';
import { type Gate, gate } from '../../helpers/gate.js';
import { ManualClock, until } from '../../helpers/manual-clock.js';

/** A schedule whose publications the test ends. */
function schedule() {
  const clock = new ManualClock();
  const publications: Gate[] = [];
  const failures: unknown[] = [];
  const soFar = new PublishSoFar({
    clock,
    publish: async () => {
      const publication = gate();
      publications.push(publication);
      await publication.opened;
    },
    onFailure: (error) => failures.push(error),
  });
  const add = (count: number): void => {
    for (let i = 0; i < count; i++) soFar.add();
  };
  /** Ends the newest publication after this many milliseconds. */
  const end = async (milliseconds: number): Promise<void> => {
    clock.advance(milliseconds);
    publications.at(-1)?.open();
    await until(() => true);
    await new Promise(setImmediate);
  };
  return { clock, publications, failures, soFar, add, end };
}

t.test('it publishes after 50 documents, or after 10 seconds if there are fewer', async (t) => {
  const { clock, publications, add, end } = schedule();
  add(49);
  t.equal(publications.length, 0);
  add(1);
  t.equal(publications.length, 1, 'the 50th');
  await end(0);
  clock.advance(60_000);
  t.equal(publications.length, 1, 'nothing is new');
  add(1);
  t.equal(publications.length, 2, 'the last publication is more than 10 seconds ago');
  await end(0);
  add(3);
  clock.advance(9_999);
  t.equal(publications.length, 2);
  clock.advance(1);
  t.equal(publications.length, 3);
});

t.test('one publication at a time, and the longer it takes the fewer there are', async (t) => {
  const { clock, publications, add, end } = schedule();
  add(500);
  t.equal(publications.length, 1);
  await end(4_000);
  add(500);
  t.equal(publications.length, 1);
  clock.advance(19_999);
  add(500);
  t.equal(publications.length, 1);
  clock.advance(1);
  t.equal(publications.length, 2, 'after five times as long as the last one took');
});

t.test('the end waits for a publication, and none begins later', async (t) => {
  const { clock, publications, soFar, add } = schedule();
  add(100);
  let ended = false;
  const end = soFar[Symbol.asyncDispose]().then(() => {
    ended = true;
  });
  await new Promise(setImmediate);
  t.notOk(ended);
  publications[0]?.open();
  await end;
  add(100);
  clock.advance(100_000);
  t.equal(publications.length, 1);
  t.same(clock.waiting, [], 'no timer is left');
});

t.test('a publication that fails is reported, and the next one is tried', async (t) => {
  const clock = new ManualClock();
  const failures: unknown[] = [];
  let tries = 0;
  const soFar = new PublishSoFar({
    clock,
    publish: () => {
      tries++;
      return Promise.reject(new Error('the disk is full'));
    },
    onFailure: (error) => failures.push(error),
  });
  for (let i = 0; i < 50; i++) soFar.add();
  await until(() => failures.length === 1);
  await new Promise(setImmediate);
  soFar.add();
  clock.advance(10_000);
  await until(() => failures.length === 2);
  t.equal(tries, 2);
});
