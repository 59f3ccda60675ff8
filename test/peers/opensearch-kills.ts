// A node of three is killed in the middle of a load and of queries: nothing that was acknowledged is lost, and the answers
// are those of the embedded engine.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { IndexerFixture, type OpenIndexerAt } from '../../storage/indexers/conformance-fixture.js';
import { type Indexer, openIndexer, openOpenSearchIndexer } from '../../storage/indexers/index.js';
import { LIBRARIES, TestCluster } from '../helpers/opensearch/cluster.js';
import { Random } from '../helpers/random.js';
import { SEED } from '../helpers/seed.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { agree, objectsOf } from '../storage/indexers/differential.js';
import { expressionOf, PLAIN_SEARCH } from '../storage/indexers/embedded-fixture.js';

const skip = !existsSync(LIBRARIES) && 'the libraries of OpenSearch are not installed';
const OBJECTS = 400;
const INDEX = 'kills';

t.test('a node is killed', { skip }, async (t) => {
  const random = new Random(SEED);
  const directory = await temporaryDirectory(t);
  await using cluster = await TestCluster.start(directory, 3);
  const open: OpenIndexerAt = ({ directory, storeDirectory }) =>
    openOpenSearchIndexer({
      directory: join(directory, 'opensearch'),
      storeDirectory,
      nodes: cluster.urls,
      index: INDEX,
      pageObjects: 10,
      maxRanked: 50,
      requestBytes: 3000,
    });
  await using fixture = await IndexerFixture.openWith(open);
  const { directory: brokerDirectory, storeDirectory } = fixture;
  await using embedded = await openIndexer({ type: 'embedded', brokerDirectory, storeDirectory });

  /** Resolves when each shard has its copy again. */
  const recover = async (): Promise<void> => {
    const path = '/_cluster/health?wait_for_status=green&wait_for_nodes=3&timeout=120s';
    const health = (await (await fetch(`${cluster.urls[0]}${path}`)).json()) as { timed_out: boolean };
    t.equal(health.timed_out, false, 'the cluster is whole again');
  };
  /** The node with the part of the index that changes go to first. */
  const primary = async (): Promise<number> => {
    const path = `/_cat/shards/${INDEX}?format=json`;
    const shards = (await (await fetch(`${cluster.urls[0]}${path}`)).json()) as {
      prirep: string;
      node: string;
    }[];
    const name = shards.find(({ prirep }) => prirep === 'p')?.node ?? '';
    return Number(name.replace('node', '')) - 1;
  };
  const nodeAt = (i: number) => cluster.nodes[i] ?? cluster.nodes[0]!;
  const follow = async (indexer: Indexer): Promise<void> => {
    const { indexer: former } = fixture;
    fixture.indexer = indexer;
    await fixture.catchUp();
    fixture.indexer = former;
  };

  await fixture.putSoif(objectsOf(1, 50, 1));
  await recover();

  await t.test('in the middle of a load', async (t) => {
    const objects = objectsOf(2, OBJECTS, 2);
    const { indexer } = fixture;
    fixture.indexer = embedded;
    await fixture.putSoif(objects);
    fixture.indexer = indexer;
    const victim = nodeAt(await primary());
    const killAt = random.below(OBJECTS);
    let killed: Promise<void> | undefined;
    const changes = await fixture.store.changesAfter(indexer.watermark, 10_000);
    const bytes = await fixture.store.objects(changes.map(({ oid }) => oid));
    await indexer.beginUpdate();
    for (const [i, { oid }] of changes.entries()) {
      if (i === killAt % changes.length) killed = victim.kill();
      if (bytes[i] === undefined) await indexer.remove(oid);
      else await indexer.add(oid, bytes[i]);
    }
    await killed;
    await indexer.flush(changes.at(-1)?.sequence ?? 0);
    t.equal(indexer.watermark, fixture.store.lastSequence);
    t.equal(indexer.objects, embedded.objects, 'every object is there');
    await t.resolves(agree([embedded, indexer], { seed: SEED, numRuns: 20 }), 'with two nodes');
    await victim.start();
    await recover();
    await t.resolves(agree([embedded, indexer], { seed: SEED + 1, numRuns: 20 }), 'with three nodes');
  });

  await t.test('in the middle of a query', async (t) => {
    for (const text of ['not nowhere', 'b or ab']) {
      const ask = async (indexer: Indexer, onFirst: () => Promise<void>): Promise<string> => {
        const results = indexer.query(expressionOf(text), PLAIN_SEARCH);
        const oids: number[] = [];
        for await (const { oid } of results) {
          if (oids.push(oid) === 1) await onFirst();
        }
        t.match(await results.outcome, { complete: true });
        return oids.sort((a, b) => a - b).join();
      };
      const victim = nodeAt(await primary());
      const expected = await ask(embedded, async () => undefined);
      t.equal(await ask(fixture.indexer, () => victim.kill()), expected, text);
      await victim.start();
      await recover();
    }
  });

  await t.test('the process that writes is killed: what it sent is written again', async (t) => {
    await fixture.store.remove([3, 4]);
    const { indexer } = fixture;
    await follow(embedded);
    const { watermark } = indexer;
    await indexer.beginUpdate();
    await indexer.remove(3);
    await fixture.reopenWith(open);
    t.equal(fixture.indexer.watermark, watermark);
    await fixture.catchUp();
    await t.resolves(agree([embedded, fixture.indexer], { seed: SEED + 2, numRuns: 20 }));
  });
});
