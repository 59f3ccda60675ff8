// Published generations after every crash: CURRENT names a whole generation, the last one that was announced or
// a newer one, and the working store has at least what was published.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { GathererStore, Generations } from '../../storage/index.js';
import { examineCrashes } from '../disk/examine.js';
import { checkGeneration, checkReferences, checkStore, gatherStep } from '../disk/gatherer-steps.js';
import { lastMark } from '../disk/marks.js';
import type { CrashState } from '../disk/states.js';

function requireStep(what: string, step: number, atLeast: number): void {
  if (step < atLeast) throw new Error(`${what}: step ${atLeast} was announced, step ${step} is there`);
}

/** What readers see. */
async function checkPublished(directory: string, state: CrashState): Promise<number> {
  const summaries = await checkGeneration(join(directory, 'generations'));
  requireStep('the summaries', summaries, lastMark(state, 'published'));
  const references = await checkReferences(directory);
  requireStep('the references', references, lastMark(state, 'references'));
  return Math.max(summaries, references);
}

/** What the Gatherer finds, and that it can publish again. */
async function checkNext(directory: string, published: number, written: number): Promise<void> {
  const generations = join(directory, 'generations');
  const before = await new Generations(generations).current().catch(() => undefined);
  await using store = await GathererStore.open(join(directory, 'working'));
  const step = await checkStore(store, written);
  requireStep('the working store has what was published', step, published);
  await gatherStep(store, step + 1, false);
  const number = await store.publish(generations);
  if (before !== undefined && number <= before) throw new Error(`generation ${number} came after ${before}`);
  await store.publishReferences(directory);
  const announced = Math.min(await checkGeneration(generations), await checkReferences(directory));
  if (announced !== step + 1) throw new Error(`step ${step + 1} was published, step ${announced} is there`);
}

t.test('DESIGN 4: every crash leaves the former generation or the new one, and no mix', (t) =>
  examineCrashes(t, {
    program: 'publication',
    modes: ['kill', 'journal'],
    async check(directory, state) {
      const published = await checkPublished(directory, state);
      await checkNext(directory, published, state.recipe.mode === 'kill' ? lastMark(state, 'written') : 0);
    },
  }),
);

t.test('the same for readers if the file system reorders names', (t) =>
  examineCrashes(t, {
    program: 'publication',
    modes: ['hostile'],
    async check(directory, state) {
      await mkdir(join(directory, 'generations'), { recursive: true });
      await checkPublished(directory, state);
    },
  }),
);
