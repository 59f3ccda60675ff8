// The checkpoints of a crawl after every crash: each one that has its name is whole, and the last one that was
// taken is there.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { listCheckpoints, restoreCheckpoint } from '../../servers/crawler/checkpoint.js';
import { GathererStore } from '../../storage/index.js';
import { examineCrashes } from '../disk/examine.js';
import { checkStore } from '../disk/gatherer-steps.js';
import { lastMark } from '../disk/marks.js';

t.test('CRAWL-17.3.2: after every crash the newest checkpoint can be restored', (t) =>
  examineCrashes(t, {
    program: 'checkpoints',
    modes: ['kill', 'journal', 'hostile'],
    async check(directory, state) {
      const checkpoints = join(directory, 'crawl', 'checkpoints');
      const newest = (await listCheckpoints(checkpoints)).at(-1);
      const taken = lastMark(state, 'taken');
      if (newest === undefined && taken === 0) return;
      if (newest === undefined) throw new Error(`the checkpoint of step ${taken} is lost`);
      const restored = join(directory, 'restored');
      await mkdir(restored);
      await restoreCheckpoint(restored, checkpoints, newest);
      await using store = await GathererStore.open(join(restored, 'working'), { create: false });
      await checkStore(store, taken);
    },
  }),
);
