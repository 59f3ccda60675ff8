// Database files after every crash: a transaction is there as a whole or not at all, and not lost once it was
// committed; a rebuilt file is the old one or the new one.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { DatabaseFile } from '../../storage/databases/index.js';
import { checkDatabase, databaseStep } from '../disk/database-steps.js';
import { examineCrashes } from '../disk/examine.js';
import { lastMark } from '../disk/marks.js';

t.test('G-116: every crash leaves database files of one whole step', (t) =>
  examineCrashes(t, {
    program: 'database-files',
    modes: ['kill', 'journal', 'hostile'],
    async check(directory, state) {
      const annotations = join(directory, 'annotations.gdbm');
      let step: number;
      {
        using database = DatabaseFile.open(annotations, { create: true });
        step = checkDatabase(database, lastMark(state, 'stored'));
        await databaseStep(database, step + 1);
      }
      using database = DatabaseFile.open(annotations);
      checkDatabase(database, step + 1);
      const production = join(directory, 'PRODUCTION.gdbm');
      const merged = lastMark(state, 'merged');
      if (merged === 0 && !existsSync(production)) return;
      using product = DatabaseFile.open(production, { readOnly: true });
      checkDatabase(product, merged);
    },
  }),
);
