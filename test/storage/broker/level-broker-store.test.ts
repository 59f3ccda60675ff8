// The suite of the Broker's store, on LevelDB.
import { join } from 'node:path';
import t from 'tap';
import { testBrokerStore } from '../../../storage/broker/conformance.js';
import { BrokerStore } from '../../../storage/index.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

const directory = await temporaryDirectory(t);

testBrokerStore({
  test: (name, run) => t.test(name, run),
  name: 'LevelDB',
  open: (place, options) => BrokerStore.open(join(directory, place), options),
  isShared: false,
});
