// Database files: one that a tool changes by transactions, and one that `mergedb` builds anew. The sources are
// outside of the record.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseFile, mergeDatabases } from '../../../storage/databases/index.js';
import { databaseStep, exportAfter } from '../database-steps.js';
import { programArguments } from './acknowledge.js';

const STEPS = 10;
const { root, control } = programArguments();
const sources = `${root}-sources`;
await mkdir(sources, { recursive: true });
const manual = join(sources, 'manual.soif');
await writeFile(manual, '');
for (let k = 1; k <= STEPS; k++) {
  {
    // A small cache: a large transaction is written to the file before it is committed.
    using database = DatabaseFile.open(join(root, 'annotations.gdbm'), { create: true, cacheKiB: 16 });
    await databaseStep(database, k);
  }
  control.mark(`stored ${k}`);
  if (k % 3 !== 0) continue;
  const automatic = join(sources, `automatic-${k}.soif`);
  await writeFile(automatic, exportAfter(k), 'latin1');
  await mergeDatabases(join(root, 'PRODUCTION.gdbm'), automatic, [manual], { force: true });
  control.mark(`merged ${k}`);
}
