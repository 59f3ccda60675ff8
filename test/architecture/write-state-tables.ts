// `npm run states`: writes the tables of states into the specifications.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT, textOf } from './sources.js';
import { documentsWithTables, withTables } from './state-tables.js';

for (const document of documentsWithTables())
  await writeFile(join(ROOT, document), withTables(document, textOf(document)));
