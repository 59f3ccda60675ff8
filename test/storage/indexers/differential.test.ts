// The embedded engine finds the same objects and lines as a scan of all objects.
import t from 'tap';
import type { EmbeddedIndexerOptions } from '../../../storage/indexers/index.js';
import { byTier, SEED } from '../../helpers/seed.js';
import { agrees, changeSome, objectsOf } from './differential.js';
import { EmbeddedFixture } from './embedded-fixture.js';

const SETTINGS: readonly [string, Partial<EmbeddedIndexerOptions>][] = [
  ['as shipped', {}],
  ['with a vocabulary read from the file', { vocabularyBytes: 100, readObjects: 7, sliceMs: 1 }],
  [
    'with limits that most parts of words exceed',
    { maxTermsPerPart: 4, maxRanked: 50, transactionBytes: 1000 },
  ],
  // Two queries at a time: each pauses wherever it can, and the other one works in between.
  ['with a pause at every point where one is possible', { sliceMs: 0, maxRanked: 60, readObjects: 9 }],
];

for (const [name, settings] of SETTINGS) {
  t.test(`BRK-2.17 to 2.23 the index finds what a scan of all objects finds, ${name}`, async (t) => {
    await using fixture = await EmbeddedFixture.open(settings);
    const objects = objectsOf(7, 110, 1);
    const known = new Map(objects.map((object, i) => [i + 1, object]));
    await fixture.putSoif(objects);
    const isPaused = settings.sliceMs === 0;
    const both = (seed: number, runs: number) =>
      Promise.all([
        agrees(fixture, known, seed, runs),
        isPaused ? agrees(fixture, known, seed + 10, runs) : undefined,
      ]);
    await t.resolves(both(SEED, byTier(50, 120)), 'after the first run');

    // While the former vocabulary is still cached.
    await changeSome(fixture, known);
    await t.resolves(both(SEED + 1, byTier(25, 60)), 'after changes');
  });
}
