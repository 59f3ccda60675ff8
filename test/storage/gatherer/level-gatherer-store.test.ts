// The suite of the Gatherer's store, on LevelDB.
import { join } from 'node:path';
import t from 'tap';
import { testGathererStore } from '../../../storage/gatherer/conformance.js';
import { GathererStore } from '../../../storage/index.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

const directory = await temporaryDirectory(t);

testGathererStore({
  test: (name, run) => t.test(name, run),
  name: 'LevelDB',
  open: (place) => GathererStore.open(join(directory, place)),
});
