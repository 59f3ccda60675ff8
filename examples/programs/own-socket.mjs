// gatherd on a socket of the file system, which only users who may open the file reach. Every server takes such a function.
//   node own-socket.mjs DATA_DIRECTORY SOCKET
import { createServer } from 'node:net';
import { join } from 'node:path';
import { GatherdServer } from 'harvest-kit/servers/gatherd';
import { createLogger } from 'harvest-kit/servers/host';

const [directory = 'data', path = 'gatherd.socket'] = process.argv.slice(2);

const server = await GatherdServer.listen({
  generationsDirectory: join(directory, 'generations'),
  accessFile: join(directory, 'gatherd.cf'),
  identity: { name: 'example', host: 'localhost', port: 0, version: '1.0' },
  host: 'localhost',
  port: 0,
  log: createLogger({ program: 'gatherd' }),
  listen: ({ backlog, onConnection }) =>
    new Promise((resolve, reject) => {
      const sockets = createServer({ allowHalfOpen: true }, onConnection).once('error', reject);
      sockets.listen({ path, backlog }, () => resolve(sockets));
    }),
});
console.log(`ready ${path}`);

process.once('SIGTERM', () => void server.close());
