// Two exports of a Broker's store into one directory of an original Broker. The store itself is outside of the
// record.
import { join } from 'node:path';
import { BrokerStore } from '../../../storage/index.js';
import { exportRegistry } from '../../../storage/original-registry/index.js';
import { collectStep } from '../broker-steps.js';
import { programArguments } from './acknowledge.js';

const { root, control } = programArguments();
const directory = `${root}-store`;
await using store = await BrokerStore.open(directory);
for (let k = 1; k <= 24; k++) {
  await collectStep(store, k);
  if (k % 12 !== 0) continue;
  await exportRegistry(store, directory, join(root, 'broker', 'original'), { force: true });
  control.mark(`exported ${store.count}`);
}
