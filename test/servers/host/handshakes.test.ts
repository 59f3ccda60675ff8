// Handshakes of a server with TLS that are not finished.
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { connect as connectTls, createServer, type Server } from 'node:tls';
import t, { type Test } from 'tap';
import { guardHandshakes } from '../../../servers/host/tls.js';
import { TLS_CERTIFICATE, TLS_KEY } from '../../helpers/tls.js';

async function listen(t: Test): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer({ cert: TLS_CERTIFICATE, key: TLS_KEY, handshakeTimeout: 600_000 });
  guardHandshakes(server, 256);
  server.on('secureConnection', (socket) => socket.on('error', () => undefined).pipe(socket));
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return { server, port: (server.address() as AddressInfo).port };
}

async function silentClient(t: Test, port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
    .on('error', () => undefined)
    .resume();
  t.teardown(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

t.test('a close does not wait for handshakes, but for connections', async (t) => {
  const { server, port } = await listen(t);
  const silent = await silentClient(t, port);
  const client = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
  t.teardown(() => client.destroy());
  // The server finishes the handshake after the client.
  await once(server, 'secureConnection');
  const closed = once(server, 'close');
  server.close();
  await once(silent, 'close');
  client.write('still answered');
  t.equal(String((await once(client, 'data'))[0]), 'still answered');
  client.end();
  await closed;
});

t.test('more handshakes than 256: the oldest one is dropped', async (t) => {
  const { port } = await listen(t);
  const clients = [];
  for (let i = 0; i < 256; i++) clients.push(await silentClient(t, port));
  const [first, second] = clients;
  const dropped = first && once(first, 'close');
  await silentClient(t, port);
  await dropped;
  t.equal(first?.destroyed, true);
  t.equal(second?.destroyed, false);
});
