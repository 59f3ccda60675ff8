// A Broker's store that applies collections: first without flushes, then with one for each batch.
import { join } from 'node:path';
import { BrokerStore } from '../../../storage/index.js';
import { collectStep } from '../broker-steps.js';
import { programArguments } from './acknowledge.js';

const STEPS = 40;
const { root, control } = programArguments();
for (const half of [0, 1]) {
  const sync = half === 1;
  await using store = await BrokerStore.open(join(root, 'broker'), { sync, writeBufferBytes: 64 * 1024 });
  for (let k = (half * STEPS) / 2 + 1; k <= ((half + 1) * STEPS) / 2; k++) {
    await collectStep(store, k);
    control.mark(`${sync ? 'flushed' : 'written'} ${k}`);
  }
  if (half === 0) await store.compress();
}
