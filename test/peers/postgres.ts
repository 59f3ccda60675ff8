// The contract of the stores' database, on a PostgreSQL server.
import t from 'tap';
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
