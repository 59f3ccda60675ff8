// The Broker's store after every crash: objects, Registry entries, indexes, collection mark and change log have
// the state of one whole batch. A killed process loses nothing; with `sync`, neither does a power failure.
import { join } from 'node:path';
import t from 'tap';
import { BrokerStore } from '../../storage/index.js';
import { checkBrokerStore, collectStep } from '../disk/broker-steps.js';
import { examineCrashes } from '../disk/examine.js';
import { acknowledgedStep } from '../disk/marks.js';

t.test('DESIGN 4: every crash of a Broker leaves a whole store with what was acknowledged', (t) =>
  examineCrashes(t, {
    program: 'broker-store',
    modes: ['kill', 'journal'],
    async check(directory, state) {
      const place = join(directory, 'broker');
      let step: number;
      {
        await using store = await BrokerStore.open(place);
        step = await checkBrokerStore(store, acknowledgedStep(state));
        await collectStep(store, step + 1);
      }
      await using store = await BrokerStore.open(place, { create: false });
      await checkBrokerStore(store, step + 1);
    },
  }),
);
