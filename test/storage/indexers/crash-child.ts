// A process that writes changes to an index until it is killed: change n puts object `n % 50 + 1` with the word
// `v<n>`. It prints the number of each flushed change.
import { encodeSoif } from '../../../protocols/soif/index.js';
import { BrokerStore } from '../../../storage/index.js';
import { openEmbeddedIndexer } from '../../../storage/indexers/index.js';
import { objectOf } from './embedded-fixture.js';

const [file = '', storeDirectory = ''] = process.argv.slice(2);
// An indexer requires a store; after the crash the test inspects only the index.
await BrokerStore.open(storeDirectory);
const indexer = await openEmbeddedIndexer({ file, storeDirectory, transactionBytes: 2_000 });
await indexer.beginUpdate();
for (let change = indexer.watermark + 1; ; change++) {
  await indexer.add((change % 50) + 1, encodeSoif(objectOf({ Title: `v${change}` })));
  if (change % 7 === 0) {
    await indexer.flush(change);
    process.stdout.write(`${change}\n`);
  }
}
