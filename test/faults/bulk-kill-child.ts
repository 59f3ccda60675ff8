import { writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { CollectionPoint } from '../../protocols/config/index.js';
import { Broker, BrokerServer, collectChannel } from '../../servers/broker/index.js';
import { createLoggerOn, harvestLines } from '../../servers/host/index.js';
import { brokerConfig } from '../servers/broker/scene.js';

/** A broker that listens and collects again and again, until it is killed: `DIRECTORY PORT POINTS`, points as JSON. */
const [directory = '', port = '', points = '[]'] = process.argv.slice(2);
const log = createLoggerOn(harvestLines({ write: () => undefined }), { program: 'broker' });
const broker = await Broker.open({
  config: brokerConfig(directory),
  log,
  points: JSON.parse(points) as CollectionPoint[],
  limits: { batchObjects: 10, maxFruitless: 1, retryPauseMs: 1, flushEvery: 64 },
});
await BrokerServer.listen({ broker, host: '127.0.0.1', port: Number(port), log });
// One byte for each collected point tells the parent the progress.
collectChannel.subscribe(() => writeSync(1, '.'));
writeSync(1, '.');
for (;;) {
  await broker.collect();
  await pause(20);
}
