// Stores on a disk that is full from the nth change on, for every n: the error is a sentence, nothing that was
// acknowledged is lost, and the same process goes on when there is space.
import { join } from 'node:path';
import t from 'tap';
import { buildShim, fastDirectory, runWithShim } from '../disk/shim.js';
import { byTier, SEED } from '../helpers/seed.js';

/** Changes that fail, for each kind of store. */
const CHANGES = process.env.CRASH_STATES ?? byTier('10', '50');

t.test(`a full disk is an error, loses nothing, and the work goes on (seed ${SEED})`, async (t) => {
  const place = await fastDirectory(t);
  const shim = await buildShim(place);
  if (shim === undefined) {
    t.comment('gcc is missing: full disks are not examined');
    return;
  }
  const places = { shim, root: join(place, 'root'), control: join(place, 'control') };
  const lines = (await runWithShim('full-disk', places, [CHANGES])).trim().split('\n');
  for (const line of lines) {
    const { name, changes, lives, sentences } = JSON.parse(line) as {
      readonly name: string;
      readonly changes: number;
      readonly lives: number;
      readonly sentences: readonly string[];
    };
    t.comment(`${name}: ${lives} of ${changes} changes failed`);
    t.ok(lives > 0 && sentences.length > 0, `${name}: the disk was full`);
    for (const sentence of sentences) t.match(sentence, /ENOSPC|[Nn]o space|disk is full/, sentence);
  }
  t.equal(lines.length, 5, 'every kind of store was examined');
});
