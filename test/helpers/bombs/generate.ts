// Writes some bombs of one kind, in the order of a seed, into a directory:
// `generate.js KIND SEED COUNT DIRECTORY`. A process of its own, because making a bomb takes the memory that
// reading it must not take.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Random } from '../random.js';
import { archiveBombs } from './archive-bombs.js';
import type { Bomb } from './bomb.js';
import { officeBombs } from './office-bombs.js';
import { packedBombs } from './packed-bombs.js';
import { pdfBombs } from './pdf-bombs.js';
import { referenceBombs } from './reference-bombs.js';
import { textBombs } from './text-bombs.js';

const KINDS: Readonly<Record<string, (random: Random) => Bomb[]>> = {
  archives: archiveBombs,
  office: officeBombs,
  packed: packedBombs,
  pdf: pdfBombs,
  references: referenceBombs,
  text: textBombs,
};

const [kind = '', seed = '1', count = '', directory = ''] = process.argv.slice(2);
const make = KINDS[kind];
if (make === undefined || directory === '') throw new Error(`generate: no bombs of the kind ${kind}`);
const random = new Random(Number(seed));
const bombs = random.shuffle(make(random)).slice(0, Number(count));
const names: { name: string; what: string }[] = [];
for (const [index, { name, what, body }] of bombs.entries()) {
  await writeFile(join(directory, `${index}.bomb`), typeof body === 'function' ? body() : body);
  names.push({ name, what });
}
await writeFile(join(directory, 'names.json'), JSON.stringify(names));
