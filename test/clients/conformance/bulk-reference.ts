// Our own Brokers with reference data for bulk transfers.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { encodeFixture } from '../../../protocols/fixture/index.js';
import {
  applyChanges,
  Clock,
  change,
  deletion,
  refresh,
  startPeer,
  update,
  urlOf,
} from '../../servers/broker/bulk/brokers.js';
import { document, NOW } from '../../servers/broker/helpers.js';

/** Our own Broker, with new objects, one refreshed and one deleted since the first collection. */
export async function bulkReference(t: Test): Promise<number> {
  const clock = new Clock();
  const made = await startPeer(t, clock);
  await applyChanges(made, update('old', NOW - 500), update('gone', NOW - 400));
  clock.advance(100);
  await applyChanges(made, refresh('old', NOW + 50), deletion('gone', NOW + 60));
  await applyChanges(
    made,
    change(
      'update',
      document(urlOf(1), { Title: 'river with harbor', Description: 'a port at a river' }, NOW + 70),
    ),
    update(2, NOW + 80, 'river and castles'),
    change(
      'update',
      document(urlOf(3), { Title: 'harbor towns', Description: 'towns at the sea' }, NOW + 90),
    ),
  );
  clock.advance();
  return made.server.address.port;
}

/** Our own Broker with the fixture, loaded as an administrator does it. */
export async function bulkFixtureReference(t: Test): Promise<number> {
  const { broker, directory, server } = await startPeer(t);
  await writeFile(join(directory, 'fixture.soif'), encodeFixture());
  await broker.maintenance.addFiles(['fixture.soif']);
  return server.address.port;
}
