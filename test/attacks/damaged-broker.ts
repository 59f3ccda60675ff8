// A Broker in a process of its own, because LevelDB may end a process whose files it finds damaged. Argument:
// its directory. Serves objects that all lie in table files and prints its ports.
import { randomBytes } from 'node:crypto';
import { encodeSoif, SoifObject } from '../../protocols/soif/index.js';
import { monitoredBroker } from '../../servers/broker/figures.js';
import { type BrokerServer, WebServer } from '../../servers/broker/index.js';
import { NOW, openBroker, serveBroker } from '../servers/broker/helpers.js';

const OBJECTS = 5000;
const BATCH = 500;

const [directory = ''] = process.argv.slice(2);
const owner = { teardown: () => undefined };
const { broker, log } = await openBroker(owner, { directory, keep: true });
for (let from = 0; from < OBJECTS; from += BATCH) {
  const changes = Array.from({ length: BATCH }, (_, i) => {
    const n = from + i;
    // Random text is not compressed: LevelDB itself does not notice a changed byte of it.
    const object = SoifObject.of('FILE', `http://www.example.org/${n}`, [
      ['Title', `common word${n}`],
      ['Description', `needle-${n}-needle ${randomBytes(3000).toString('base64')}`],
      ['Update-Time', String(NOW - 1000)],
      ['Time-to-Live', '2419200'],
      ['Gatherer-Name', 'Example Gatherer'],
      ['Gatherer-Host', 'gatherer.example.org'],
      ['Gatherer-Version', '1.8'],
    ]);
    return { kind: 'update' as const, object, bytes: encodeSoif(object) };
  });
  await broker.store.apply(changes);
}
await broker.keeper.settle();
await broker.store.compress();
const { address } = await serveBroker(owner, { broker });
const web = await WebServer.listen({
  broker,
  brokerAddress: address,
  log: broker.log,
  host: '127.0.0.1',
  port: 0,
});
process.stdout.write(`${JSON.stringify({ port: address.port, web: web.address.port })}\n`);
const server = { connections: 0, newcomers: undefined, counts: {} } as unknown as BrokerServer;
const { problems } = monitoredBroker(broker, server);
process.stdin.on('data', (request) =>
  process.stdout.write(`${JSON.stringify(String(request) === 'problems\n' ? problems() : log)}\n`),
);
process.stdin.on('end', () => process.exit(0));
