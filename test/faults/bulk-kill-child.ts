// The process that bulk-kill.test.ts kills: a broker that listens, and collects repeatedly. Arguments:
// DIRECTORY PORT POINTS (JSON).
import { writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { CollectionPoint } from '../../protocols/config/index.js';
import { Broker, BrokerServer, collectChannel } from '../../servers/broker/index.js';
import { createLoggerOn } from '../../servers/host/index.js';
import { brokerConfig } from '../servers/broker/helpers.js';

const [directory = '', port = '', points = '[]'] = process.argv.slice(2);
const log = createLoggerOn({ write: () => undefined }, { json: false, program: 'broker' });
const broker = await Broker.open({
  config: brokerConfig(directory),
  log,
  points: JSON.parse(points) as CollectionPoint[],
  limits: { batchObjects: 10, maxFailures: 1, retryPauseMs: 1, flushEvery: 64 },
});
await BrokerServer.listen({ broker, host: '127.0.0.1', port: Number(port), log });
// One byte per collected point reports the progress to the parent.
collectChannel.subscribe(() => writeSync(1, '.'));
writeSync(1, '.');
for (;;) {
  await broker.collections.run();
  await pause(20);
}
