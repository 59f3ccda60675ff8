// The contract of the stores' database, on a PostgreSQL server.
import t from 'tap';
import { testBrokerStore } from '../../storage/broker/conformance.js';
import { BrokerStore } from '../../storage/index.js';
import { PostgresRows } from '../../storage/postgres/postgres-rows.js';
import { testRows } from '../../storage/rows/conformance.js';
import { TestPostgres } from '../helpers/postgres/cluster.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';

const directory = await temporaryDirectory(t);
const server = await TestPostgres.start(directory, { fsync: 'off' });
t.teardown(() => server[Symbol.asyncDispose]());

testRows({
  test: (name, run) => t.test(name, run),
  name: 'PostgreSQL',
  open: (place) => PostgresRows.open(server.url(`schema=place${place}`), { kind: 'broker' }),
});

testBrokerStore({
  test: (name, run) => t.test(name, run),
  name: 'PostgreSQL',
  open: (place, options) => BrokerStore.open(server.url(`schema=broker${place}`), options),
  isShared: true,
});
