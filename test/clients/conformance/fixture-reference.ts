// Our own servers with the conformance fixture loaded.
import { join } from 'node:path';
import type { Test } from 'tap';
import { encodeFixtureObject, FIXTURE } from '../../../protocols/fixture/index.js';
import { decodeSoif } from '../../../protocols/soif/index.js';
import { GatherdServer } from '../../../servers/gatherd/index.js';
import { createLoggerOn } from '../../../servers/host/index.js';
import { GathererStore } from '../../../storage/index.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { openBroker, serveBroker } from '../../servers/broker/helpers.js';

/** Starts our own gatherd with the fixture. */
export async function fixtureGatherd(t: Test): Promise<number> {
  const directory = await temporaryDirectory(t);
  const generationsDirectory = join(directory, 'generations');
  await using store = await GathererStore.open(join(directory, 'working'));
  for (const object of FIXTURE) {
    const { url, updateTime } = object;
    const soif = Buffer.from(encodeFixtureObject(object));
    const summary = { url, updateTime, timeToLive: 2_419_200, contentTime: updateTime, soif };
    await store.batch().putSummary(summary).commit();
  }
  await store.publish(generationsDirectory);
  const server = await GatherdServer.listen({
    generationsDirectory,
    host: '127.0.0.1',
    port: 0,
    hostname: 'gatherer.example.org',
    log: createLoggerOn({ write() {} }, { program: 'gatherd' }),
    lingerMs: 200,
  });
  t.teardown(() => server.close({ graceMs: 0 }));
  return server.address.port;
}

/** Starts our own Broker with the fixture. @param conf more lines of its `broker.conf` */
export async function fixtureBroker(t: Test, conf = ''): Promise<number> {
  const made = await openBroker(t, { conf });
  await made.broker.store.apply(
    FIXTURE.map((object) => {
      const bytes = Buffer.from(encodeFixtureObject(object));
      return { kind: 'update', object: decodeSoif(bytes), bytes } as const;
    }),
  );
  await made.broker.keeper.settle();
  return (await serveBroker(t, made)).address.port;
}
