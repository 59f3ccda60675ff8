// The contract of the stores' database, on LevelDB.
import { join } from 'node:path';
import t from 'tap';
import { Level } from '../../../storage/level/level.js';
import { testRows } from '../../../storage/rows/conformance.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

const directory = await temporaryDirectory(t);

testRows({
  test: (name, run) => t.test(name, run),
  name: 'LevelDB',
  open: (place) => Level.open(join(directory, place), { kind: 'broker' }),
});
