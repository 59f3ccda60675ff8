// The Gatherer's store after every crash: all tables have the state of one whole batch, and no acknowledged
// batch is lost. A killed process loses nothing; after a power failure everything up to the last flushed batch
// is there.
import { join } from 'node:path';
import t from 'tap';
import { GathererStore } from '../../storage/index.js';
import { examineCrashes } from '../disk/examine.js';
import { checkStore, gatherStep } from '../disk/gatherer-steps.js';
import { acknowledgedStep } from '../disk/marks.js';
import type { CrashState } from '../disk/states.js';

async function check(directory: string, state: CrashState): Promise<void> {
  const place = join(directory, 'working');
  let step: number;
  {
    await using store = await GathererStore.open(place);
    step = await checkStore(store, acknowledgedStep(state));
    await gatherStep(store, step + 1, true);
  }
  // It goes on from there, and the repair by the first opening is lasting.
  await using store = await GathererStore.open(place, { create: false });
  await checkStore(store, step + 1);
}

t.test('DESIGN 4: every crash of a Gatherer leaves a whole store with what was acknowledged', (t) =>
  examineCrashes(t, { program: 'gatherer-store', modes: ['kill', 'journal'], check }),
);

t.test('the same with batches that arrive while LevelDB writes a table', (t) =>
  examineCrashes(t, {
    program: 'gatherer-store',
    options: ['18', '30000'],
    modes: ['kill', 'journal'],
    check,
  }),
);
