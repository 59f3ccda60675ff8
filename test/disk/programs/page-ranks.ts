// References that are published, then ranked, then published again.
import { join } from 'node:path';
import { GathererStore } from '../../../storage/index.js';
import { publishRanks } from '../../../storage/references/index.js';
import { gatherStep } from '../gatherer-steps.js';
import { programArguments } from './acknowledge.js';

const { root, control } = programArguments();
await using store = await GathererStore.open(join(root, 'working'), { writeBufferBytes: 64 * 1024 });
for (let k = 1; k <= 4; k++) {
  await gatherStep(store, k, false);
  await store.publishReferences(root);
  control.mark(`references ${k}`);
  await publishRanks(root);
  control.mark(`ranks ${k}`);
}
