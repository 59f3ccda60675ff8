import fc from 'fast-check';
import t from 'tap';
import { firstIndex, sortedIndexOf } from '../../protocols/binary-search.js';
import { assertProperty } from '../helpers/property.js';

t.test('the first index at which a condition holds, as a walk from the left finds it', async () => {
  const numbers = fc.array(fc.integer({ min: 0, max: 20 })).map((list) => list.sort((a, b) => a - b));
  await assertProperty(
    fc.property(numbers, fc.integer({ min: -1, max: 21 }), fc.nat(5), (sorted, value, skipped) => {
      const from = Math.min(skipped, sorted.length);
      const walked = sorted.findIndex((each, i) => i >= from && each >= value);
      return (
        firstIndex(from, sorted.length, (i) => (sorted[i] ?? 0) >= value) ===
          (walked < 0 ? sorted.length : walked) && sortedIndexOf(sorted, value) === sorted.indexOf(value)
      );
    }),
  );
});
