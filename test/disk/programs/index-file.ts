// The embedded index under work: change n puts object n % 50 + 1 with the word `v<n>`. Its store is outside of
// the record.
import { join } from 'node:path';
import { encodeSoif } from '../../../protocols/soif/index.js';
import { BrokerStore } from '../../../storage/index.js';
import { openEmbeddedIndexer } from '../../../storage/indexers/index.js';
import { objectOf } from '../../storage/indexers/embedded-fixture.js';
import { programArguments } from './acknowledge.js';

const CHANGES = 84;
const { root, control } = programArguments();
const storeDirectory = `${root}-store`;
await using _store = await BrokerStore.open(storeDirectory);
for (const half of [0, 1]) {
  await using indexer = await openEmbeddedIndexer({
    file: join(root, 'index.sqlite'),
    storeDirectory,
    transactionBytes: 1000,
  });
  await indexer.beginUpdate();
  for (let change = (half * CHANGES) / 2 + 1; change <= ((half + 1) * CHANGES) / 2; change++) {
    await indexer.add((change % 50) + 1, encodeSoif(objectOf({ Title: `v${change}` })));
    if (change % 6 !== 0) continue;
    await indexer.flush(change);
    control.mark(`flushed ${change}`);
  }
}
