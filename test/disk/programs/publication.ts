// A Gatherer that publishes generations of summaries and of references while it works.
import { join } from 'node:path';
import { GathererStore } from '../../../storage/index.js';
import { gatherStep } from '../gatherer-steps.js';
import { programArguments } from './acknowledge.js';

const STEPS = 12;
const { root, control } = programArguments();
const generations = join(root, 'generations');
for (const half of [0, 1]) {
  await using store = await GathererStore.open(join(root, 'working'), { writeBufferBytes: 64 * 1024 });
  for (let k = (half * STEPS) / 2 + 1; k <= ((half + 1) * STEPS) / 2; k++) {
    await gatherStep(store, k, false);
    control.mark(`written ${k}`);
    if (k % 3 === 0) {
      await store.publish(generations);
      control.mark(`published ${k}`);
    }
    if (k % 3 === 1) {
      await store.publishReferences(root);
      control.mark(`references ${k}`);
    }
  }
}
