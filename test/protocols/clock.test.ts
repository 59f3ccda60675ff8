// The clock of a process: what its timers are given.
import t from 'tap';
import { steadyClock } from '../../protocols/clock.js';

t.test('a timer waits at least a millisecond and at most 24 days, and may be canceled', async (t) => {
  const started: number[] = [];
  const canceled: number[] = [];
  let unreferenced = 0;
  const clock = steadyClock({
    now: () => 5,
    start: (_callback, milliseconds) => ({ id: started.push(milliseconds), unref: () => unreferenced++ }),
    cancel: ({ id }) => canceled.push(id),
  });
  t.equal(clock.now(), 5);
  const ignore = () => {};
  clock.setTimer(ignore, -3);
  clock.setTimer(ignore, 20, true);
  clock.setTimer(ignore, 3e9)();
  t.same(started, [1, 20, 2 ** 31 - 1], 'setTimeout calls back at once after a longer one');
  t.same(canceled, [3]);
  t.equal(unreferenced, 1, 'a process may end before a timer of the background');
});
