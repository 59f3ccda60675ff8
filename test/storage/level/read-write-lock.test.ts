import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import t from 'tap';
import { ReadWriteLock } from '../../../storage/level/read-write-lock.js';
import { assertProperty } from '../../helpers/property.js';

t.test('callers that waited for the same holder do not run beside each other', async (t) => {
  const lock = new ReadWriteLock('the store');
  const running: string[] = [];
  const seen: string[] = [];
  const work = (name: string) => async (): Promise<void> => {
    running.push(name);
    seen.push(running.join(' '));
    await turn();
    running.splice(running.indexOf(name), 1);
  };
  await Promise.all([
    lock.exclusive(work('first')),
    lock.exclusive(work('second')),
    lock.shared(work('read')),
    lock.exclusive(work('third')),
  ]);
  t.same(seen.sort(), ['first', 'read', 'second', 'third']);
});

t.test('an exclusive holder is alone, in any order of calls', async (t) => {
  const call = fc.record({ exclusive: fc.boolean(), start: fc.nat(6), turns: fc.nat(4) });
  await assertProperty(
    fc.asyncProperty(fc.array(call, { maxLength: 20 }), async (calls) => {
      const lock = new ReadWriteLock('the store');
      let readers = 0;
      let writers = 0;
      let overlaps = 0;
      const steps = async (count: number): Promise<void> => {
        for (let i = 0; i < count; i++) await Promise.resolve();
      };
      await Promise.all(
        calls.map(async ({ exclusive, start, turns }) => {
          await steps(start);
          await (exclusive
            ? lock.exclusive(async () => {
                if (readers > 0 || writers++ > 0) overlaps++;
                await steps(turns);
                writers--;
              })
            : lock.shared(async () => {
                readers++;
                if (writers > 0) overlaps++;
                await steps(turns);
                readers--;
              }));
        }),
      );
      return overlaps === 0;
    }),
  );
  const lock = new ReadWriteLock('the store');
  await lock.close(async () => undefined);
  await t.rejects(
    lock.shared(async () => undefined),
    /the store is closed/,
  );
});
