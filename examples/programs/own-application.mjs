// The pages of a Broker in an application of one's own: below /search, behind a login, beside other routes.
//   node own-application.mjs BROKER_DIRECTORY
import { timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import fastify from 'fastify';
import { Broker, BrokerServer, brokerPages, readBrokerConf } from 'harvest-kit/servers/broker';
import { createLogger } from 'harvest-kit/servers/host';

const directory = process.argv[2] ?? 'broker';
const { config } = await readBrokerConf(join(directory, 'admin', 'broker.conf'));
const log = createLogger({ program: 'search' });

// The Broker and its port, which the pages ask as every client does.
const broker = await Broker.open({ config, log });
const server = await BrokerServer.listen({ broker, host: '127.0.0.1', port: config.brokerPort, log });

const app = fastify();
app.addHook('onRequest', async (request, reply) => {
  const given = Buffer.from(request.headers.authorization ?? '');
  const expected = Buffer.from(`Basic ${Buffer.from('guest:sesame').toString('base64')}`);
  if (given.length === expected.length && timingSafeEqual(given, expected)) return;
  return reply.code(401).header('www-authenticate', 'Basic realm="search"').send('Please log in.\n');
});
app.get('/', (_request, reply) => reply.type('text/html').send('<a href="/search/">Search</a>'));
app.register(brokerPages, { prefix: '/search', broker, brokerAddress: server.address, log });
const address = await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT ?? 8080) });
await broker.start('collect');
console.log(`ready ${address}/search/`);

process.once('SIGTERM', async () => {
  await app.close();
  await server.close();
  await broker.close();
});
