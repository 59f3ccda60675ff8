// A Gatherer's store under work, with buffers so small that tables are written and merged; every third batch is
// flushed.
import { join } from 'node:path';
import { GathererStore } from '../../../storage/index.js';
import { gatherStep } from '../gatherer-steps.js';
import { programArguments } from './acknowledge.js';

const { root, control, options } = programArguments();
const [steps = 36, padding = 4000] = options.map(Number);
for (const half of [0, 1]) {
  await using store = await GathererStore.open(join(root, 'working'), { writeBufferBytes: 64 * 1024 });
  for (let k = (half * steps) / 2 + 1; k <= ((half + 1) * steps) / 2; k++) {
    const sync = k % 3 === 0;
    await gatherStep(store, k, sync, padding);
    control.mark(`${sync ? 'flushed' : 'written'} ${k}`);
  }
}
