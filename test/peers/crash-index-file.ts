// The embedded index after every crash: it opens, and has every change up to its watermark. A killed process
// loses no flushed change; a power failure may set the watermark back, because the Broker catches up from its
// store.
import { join } from 'node:path';
import t from 'tap';
import { openIndexFile, readWatermark, scalar } from '../../storage/indexers/embedded/index/index-file.js';
import { examineCrashes } from '../disk/examine.js';
import { lastMark } from '../disk/marks.js';

t.test('BRK-8.3: every crash leaves an index with all changes up to its watermark', (t) =>
  examineCrashes(t, {
    program: 'index-file',
    modes: ['kill', 'journal'],
    async check(directory, state) {
      const database = openIndexFile(join(directory, 'index.sqlite'));
      try {
        const watermark = readWatermark(database);
        const flushed = state.recipe.mode === 'kill' ? lastMark(state, 'flushed') : 0;
        if (watermark < flushed)
          throw new Error(`change ${flushed} was flushed, the watermark is ${watermark}`);
        const integrity = scalar(database, 'PRAGMA integrity_check');
        if (integrity !== 'ok') throw new Error(String(integrity));
        for (let change = Math.max(1, watermark - 49); change <= watermark; change++) {
          // A later change that was not flushed may have replaced it; it is applied again.
          const found = [change, change + 50].map((n) =>
            scalar(database, 'SELECT rowid FROM words WHERE words MATCH ?', `v${n}`),
          );
          if (!found.includes((change % 50) + 1))
            throw new Error(`change ${change} of ${watermark} is missing`);
        }
      } finally {
        database.close();
      }
    },
  }),
);
