// The OpenSearch engine on a real cluster: the contract of engines, and what a scan of all objects finds.
import t from 'tap';
import { indexerConformance } from '../../storage/indexers/conformance.js';
import { IndexerFixture, type OpenIndexerAt } from '../../storage/indexers/conformance-fixture.js';
import { type OpenSearchIndexerOptions, openOpenSearchIndexer } from '../../storage/indexers/index.js';
import { agrees, objectsOf, renamed } from '../storage/indexers/differential.js';
import { ALL_CAPABILITIES } from '../storage/indexers/embedded-fixture.js';

const nodes = (process.env.HARVEST_TEST_OPENSEARCH ?? '').split(' ').filter((url) => url !== '');
const skip = nodes.length === 0 && 'no OpenSearch';

/** Opens the engine on an index of its own for each directory. */
function openWith(options: Partial<OpenSearchIndexerOptions> = {}): OpenIndexerAt {
  return ({ directory, storeDirectory }) =>
    openOpenSearchIndexer({
      directory: `${directory}/opensearch`,
      storeDirectory,
      nodes,
      index: directory.replace(/.*\//, ''),
      ...options,
    });
}

t.test('BRK-8.1 the contract of engines', { skip }, async (t) => {
  indexerConformance({
    test: (name, run) => t.test(name, run),
    name: 'opensearch',
    open: openWith(),
    manifest: { capabilities: ALL_CAPABILITIES },
  });
});

t.test('BRK-2.17 to 2.23 it finds what a scan of all objects finds', { skip }, async (t) => {
  await using fixture = await IndexerFixture.openWith(
    openWith({ pageObjects: 7, maxRanked: 20, requestBytes: 2000 }),
  );
  const objects = objectsOf(7, 110, 1);
  const known = new Map(objects.map((object, i) => [i + 1, object]));
  await fixture.putSoif(objects);
  await t.resolves(agrees(fixture, known, 1, 300), 'after the first run');
  const changed = objectsOf(8, 40, 2).map((object, i) => renamed(object, known.get(i + 1)));
  await fixture.putSoif(changed);
  for (const [i, object] of changed.entries()) known.set(i + 1, object);
  await fixture.indexer.beginUpdate();
  for (const oid of [50, 60, 61]) {
    await fixture.indexer.remove(oid);
    known.delete(oid);
  }
  await fixture.indexer.flush(fixture.indexer.watermark);
  await t.resolves(agrees(fixture, known, 2, 200), 'after changes');
});
