// Leases, on LevelDB.
import { join } from 'node:path';
import t from 'tap';
import { testLeases } from '../../../storage/leases/conformance.js';
import { Level } from '../../../storage/level/level.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { testHistories } from './histories.js';

const directory = await temporaryDirectory(t);

testLeases({
  test: (name, run) => t.test(name, run),
  name: 'LevelDB',
  open: (place) => Level.open(join(directory, place), { kind: 'broker' }),
});

testHistories(t, {
  name: 'LevelDB',
  open: (place) => Level.open(join(directory, `histories${place}`), { kind: 'broker' }),
  runs: 100,
});
