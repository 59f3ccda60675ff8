// Published ranks after every crash: readers find the generation before or the one with all ranks, and the
// ranks can be computed again.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { publishRanks, ReferencesReader } from '../../storage/references/index.js';
import { examineCrashes } from '../disk/examine.js';
import { checkReferences } from '../disk/gatherer-steps.js';
import { lastMark } from '../disk/marks.js';

/** The sum of the ranks of a ranked generation is 1. */
async function checkRanks(data: string): Promise<boolean> {
  await using reader = await ReferencesReader.openCurrent(data);
  if (!reader.ranked) return false;
  const ranks = reader.highestRanks(reader.counts.documents * 2);
  const sum = ranks.reduce((total, { rank }) => total + rank, 0);
  if (Math.abs(sum - 1) > 0.001) throw new Error(`${ranks.length} ranks have the sum ${sum}`);
  return true;
}

t.test('R-2, R-28: every crash of a ranking leaves whole generations', (t) =>
  examineCrashes(t, {
    program: 'page-ranks',
    modes: ['kill', 'journal', 'hostile'],
    async check(directory, state) {
      await mkdir(join(directory, 'references'), { recursive: true });
      const step = await checkReferences(directory);
      const announced = lastMark(state, 'references');
      if (step < announced) throw new Error(`references ${announced} were announced, ${step} are there`);
      if (step === 0) return;
      const ranked = await checkRanks(directory);
      const wanted = lastMark(state, 'ranks');
      if (!ranked && wanted === step) throw new Error(`the ranks ${wanted} were announced, and are lost`);
      await publishRanks(directory);
      if (!(await checkRanks(directory))) throw new Error('the ranks cannot be published again');
      if ((await checkReferences(directory)) !== step) throw new Error('the ranks changed the references');
    },
  }),
);
