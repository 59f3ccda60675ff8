// A server that cannot listen says which process has the port.
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import t from 'tap';
import { listenFailure } from '../../../servers/host/port-holder.js';

async function listen(host: string, port = 0): Promise<{ server: Server; port: number }> {
  const server = createServer().listen({ host, port });
  await once(server, 'listening');
  const address = server.address();
  return { server, port: typeof address === 'object' && address !== null ? address.port : 0 };
}

async function failureOf(host: string, port: number): Promise<string> {
  const [error] = (await once(createServer().listen({ host, port }), 'error').catch((error: unknown) => [
    error,
  ])) as [unknown];
  return listenFailure(error, port);
}

t.test('the process that has a port, for each form of its address', async (t) => {
  for (const [held, host] of [
    ['127.0.0.1', '127.0.0.1'],
    ['0.0.0.0', '127.0.0.1'],
    ['127.0.0.1', '0.0.0.0'],
    ['::', '127.0.0.1'],
    ['::1', '::1'],
  ] as const) {
    const { server, port } = await listen(held);
    t.equal(await failureOf(host, port), 'the port is in use by this process', `${held}, then ${host}`);
    server.close();
  }
});

t.test('a socket that does not exclude it is not named', async (t) => {
  const { server, port } = await listen('127.0.0.2');
  t.teardown(() => server.close());
  const error = Object.assign(new Error('listen EADDRINUSE'), {
    code: 'EADDRINUSE',
    address: '127.0.0.1',
    port,
  });
  t.equal(listenFailure(error, port), 'the port is in use by another process');
  t.equal(listenFailure(new Error('listen EACCES'), 80), 'listen EACCES', 'another failure keeps its text');
});
