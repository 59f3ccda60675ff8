// Our own servers with the conformance fixture loaded.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { encodeFixture, encodeFixtureObject, FIXTURE } from '../../../protocols/fixture/index.js';
import { GatherdServer } from '../../../servers/gatherd/index.js';
import { createLoggerOn } from '../../../servers/host/index.js';
import { GathererStore } from '../../../storage/index.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { type BrokerFixture, openBroker, serveBroker } from '../../servers/broker/helpers.js';

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

/**
 * Starts our own Broker, into which the command `#add-object` has loaded the fixture.
 * @param conf more lines of its `broker.conf`
 */
export async function fixtureBroker(t: Test, conf = ''): Promise<number> {
  const made = await openBroker(t, { conf });
  const file = join(made.directory, 'fixture.soif');
  await writeFile(file, encodeFixture());
  const { rejected, reasons } = await made.broker.maintenance.addFiles([file]);
  if (rejected > 0) throw new Error(reasons.join('\n'));
  return await serveSettled(t, made);
}

/** Starts our own Broker that has collected the fixture from {@link fixtureGatherd}. */
export async function collectedFixtureBroker(t: Test): Promise<number> {
  const point = { host: '127.0.0.1', port: await fixtureGatherd(t), type: 3, line: 1 } as const;
  const made = await openBroker(t, { points: [point] });
  await made.broker.collections.run();
  return await serveSettled(t, made);
}

async function serveSettled(t: Test, made: BrokerFixture): Promise<number> {
  await made.broker.keeper.settle();
  return (await serveBroker(t, made)).address.port;
}
