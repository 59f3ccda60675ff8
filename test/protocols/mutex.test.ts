// Tests Mutex: exclusive work in order, and failures.
import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { Mutex } from '../../protocols/mutex.js';

t.test('work runs one piece at a time, in the order of the calls', async (t) => {
  const mutex = new Mutex();
  const log: string[] = [];
  let running = 0;
  const work = (name: string, rounds: number) => async () => {
    t.equal(++running, 1, `no other work runs during ${name}`);
    log.push(`${name} begins`);
    for (let i = 0; i < rounds; i++) await setImmediate();
    log.push(`${name} ends`);
    running--;
    return name;
  };
  const results = [mutex.runExclusive(work('a', 3)), mutex.runExclusive(work('b', 0))];
  results.push(mutex.runExclusive(work('c', 1)));
  t.same(await Promise.all(results), ['a', 'b', 'c']);
  t.same(log, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});

t.test('a failure reaches its own caller and does not stop the next work', async (t) => {
  const mutex = new Mutex();
  const rejected = mutex.runExclusive(() => Promise.reject(new Error('first')));
  const thrown = mutex.runExclusive(() => {
    throw new Error('second');
  });
  const next = mutex.runExclusive(() => 3);
  await t.rejects(rejected, { message: 'first' });
  await t.rejects(thrown, { message: 'second' });
  t.equal(await next, 3);
});

t.test('synchronous work runs after the call has returned', async (t) => {
  const mutex = new Mutex();
  let ran = false;
  const done = mutex.runExclusive(() => {
    ran = true;
  });
  t.notOk(ran);
  await done;
  t.ok(ran);
});

t.test('an idle mutex accepts new work', async (t) => {
  const mutex = new Mutex();
  t.equal(await mutex.runExclusive(() => 1), 1);
  await setImmediate();
  t.equal(await mutex.runExclusive(() => 2), 2);
});
