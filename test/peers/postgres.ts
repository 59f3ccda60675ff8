// The contract of the stores' database, on a PostgreSQL server.
import t from 'tap';
import { frontierConformance } from '../../servers/crawler/frontier/conformance/index.js';
import { Frontier } from '../../servers/crawler/frontier/frontier.js';
import { testBrokerStore } from '../../storage/broker/conformance.js';
import { testGathererStore } from '../../storage/gatherer/conformance.js';
import { BrokerStore, GathererStore } from '../../storage/index.js';
import { testLeases } from '../../storage/leases/conformance.js';
import { PostgresRows } from '../../storage/postgres/postgres-rows.js';
import { testRows } from '../../storage/rows/conformance.js';
import { TestPostgres } from '../helpers/postgres/cluster.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { testHistories } from '../storage/leases/histories.js';

const directory = await temporaryDirectory(t);
const server = await TestPostgres.start(directory, { fsync: 'off' });
t.teardown(() => server[Symbol.asyncDispose]());

testRows({
  test: (name, run) => t.test(name, run),
  name: 'PostgreSQL',
  open: (place) => PostgresRows.open(server.url(`schema=place${place}`), { kind: 'broker' }),
});

testLeases({
  test: (name, run) => t.test(name, run),
  name: 'PostgreSQL',
  open: (place) => PostgresRows.open(server.url(`schema=leases${place}`), { kind: 'broker' }),
});

testHistories(t, {
  name: 'PostgreSQL',
  open: (place) => PostgresRows.open(server.url(`schema=histories${place}`), { kind: 'broker' }),
  runs: 10,
});

testBrokerStore({
  test: (name, run) => t.test(name, run),
  name: 'PostgreSQL',
  open: (place, options) => BrokerStore.open(server.url(`schema=broker${place}`), options),
  isShared: true,
});

const gathererUrl = (place: string): string => server.url(`schema=gatherer${place}`);

testGathererStore({
  test: (name, run) => t.test(name, run),
  name: 'PostgreSQL',
  open: (place) => GathererStore.open(gathererUrl(place)),
  restore: (source, place) => GathererStore.restore(source, gathererUrl(place)),
});

t.test('the frontier passes its suite on a store in PostgreSQL', async (t) => {
  const schemas = new Map<string, string>();
  frontierConformance({
    test: (name, run) => t.test(name, run),
    histories: 1,
    manifest: { crashCopies: false },
    async open(place, { smallMemory, ...setup }) {
      const schema = schemas.get(place) ?? `frontier${schemas.size}`;
      schemas.set(place, schema);
      const store = await GathererStore.open(server.url(`schema=${schema}`));
      const seen = await store.openSeenFilter();
      const memory = smallMemory ? { restingQueues: 2, windowEntries: 8 } : {};
      const frontier = await Frontier.open({ store, seen, ...setup, ...memory });
      return {
        frontier,
        batch: () => store.batch(),
        async [Symbol.asyncDispose]() {
          frontier.close();
          await frontier.settled();
          await seen.close();
          await store.close();
        },
      };
    },
  });
});
