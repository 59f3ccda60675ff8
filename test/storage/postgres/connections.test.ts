// Calls that wait for a connection when the store closes.
import t from 'tap';
import { Connections } from '../../../storage/postgres/connections.js';
import { parseDatabaseUrl } from '../../../storage/postgres/database-address.js';
import { freePort } from '../../helpers/daemon.js';
import { nextTurn } from '../../helpers/manual-clock.js';

const closed = parseDatabaseUrl(`postgres://harvest@127.0.0.1:${await freePort()}/postgres`);
const CLOSED = { name: 'StateError', message: 'the store is closed' };
const FAILOVER = { failoverMs: 3_600_000, settings: {} };

t.test('a call that waits for another host', async (t) => {
  const connections = new Connections(closed, false, { max: 1, ...FAILOVER });
  const calls = [
    connections.take(),
    connections.read(() => Promise.resolve()),
    connections.use(() => Promise.resolve()),
  ];
  const ends = calls.map((call) => t.rejects(async () => void (await call), CLOSED));
  for (let turns = 0; turns < 20; turns++) await nextTurn();
  await connections.close();
  await Promise.all(ends);
  await t.rejects(connections.take(), CLOSED);
});

t.test('a read that waits before it is repeated', async (t) => {
  const connections = new Connections(closed, false, { max: 1, ...FAILOVER });
  // The connection is lost in the middle of the read.
  const lost = Object.assign(new Error('lost'), { code: 'ECONNRESET' });
  connections.take = () => Promise.reject(lost);
  const read = t.rejects(
    connections.read(() => Promise.resolve()),
    CLOSED,
  );
  await nextTurn();
  await connections.close();
  await read;
});
