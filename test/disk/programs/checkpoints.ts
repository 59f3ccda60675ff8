// A crawl's store of which checkpoints are taken.
import { join } from 'node:path';
import { Checkpoints } from '../../../servers/crawler/checkpoint.js';
import { GathererStore } from '../../../storage/index.js';
import { gatherStep } from '../gatherer-steps.js';
import { programArguments } from './acknowledge.js';

const { root, control } = programArguments();
await using store = await GathererStore.open(join(root, 'working'), { writeBufferBytes: 64 * 1024 });
const checkpoints = await Checkpoints.open(join(root, 'crawl', 'checkpoints'), {
  store,
  kept: 2,
  atRest: (work) => work(),
  components: () => ({ frontier: { queued: 0, succeeded: 0, bytes: 0 } }),
  rotate: async () => undefined,
});
for (let k = 1; k <= 6; k++) {
  await gatherStep(store, k, false);
  if (k % 2 !== 0) continue;
  await checkpoints.take();
  control.mark(`taken ${k}`);
}
