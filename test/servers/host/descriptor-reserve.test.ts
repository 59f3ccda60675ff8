// The descriptors that files cannot take, over a table of the test.
import t from 'tap';
import { DescriptorReserve } from '../../../servers/host/descriptor-reserve.js';
import { ManualClock } from '../../helpers/manual-clock.js';

const LIMIT = 100;

/** A process with a table of descriptors, which gives out the lowest free number. */
function openTable() {
  const table = new Set<number>([0, 1, 2]);
  const open = (): number => {
    for (let number = 0; number < LIMIT; number++) {
      if (table.has(number)) continue;
      table.add(number);
      return number;
    }
    throw new Error('EMFILE');
  };
  const clock = new ManualClock();
  const close = (number: number): void => void table.delete(number);
  const reserve = new DescriptorReserve({ open, close, limit: () => LIMIT, clock });
  return { table, open, close, clock, reserve };
}

t.test(
  'the reserve is free when files have all others, and is taken again when there are enough',
  async (t) => {
    const { table, open, close, clock, reserve } = openTable();
    let released = 0;
    const leave = reserve.join(() => (released += 1));
    const held = table.size - 3;
    t.ok(held > 0, 'some are held');
    const files: number[] = [];
    t.throws(() => {
      for (;;) files.push(open());
    }, 'files meet the limit first');
    t.equal(files.length, LIMIT - 3 - held);
    clock.advance(1000);
    t.equal(released, 1, 'it is told');
    t.ok(reserve.isReleased);
    t.equal(table.size, LIMIT - held, 'clients can be accepted');
    clock.advance(20);
    t.ok(reserve.isReleased, 'while files have the others');
    for (const file of files.splice(0, held)) close(file);
    clock.advance(20);
    t.notOk(reserve.isReleased);
    t.equal(table.size, LIMIT - held, 'held again, the rest is for files');
    t.equal(released, 1);
    leave();
    t.equal(table.size, LIMIT - 2 * held, 'a process without servers holds none');
    t.same(clock.waiting, [], 'and looks no more');
  },
);

t.test('the servers of a process share it, and a system without a known limit has none', async (t) => {
  const { table, reserve } = openTable();
  const [leaveFirst, leaveSecond] = [reserve.join(() => undefined), reserve.join(() => undefined)];
  const held = table.size;
  leaveFirst();
  leaveFirst();
  t.equal(table.size, held);
  leaveSecond();
  t.equal(table.size, 3);
  const unlimited = new DescriptorReserve({
    open: () => t.fail('opens nothing') as never,
    limit: () => undefined,
    clock: new ManualClock(),
  });
  unlimited.join(() => undefined)();
  t.notOk(unlimited.isReleased);
});
