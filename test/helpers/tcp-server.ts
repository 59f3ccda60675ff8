// A TCP server on loopback whose connections a test serves.
import { once } from 'node:events';
import { type AddressInfo, createServer, type ServerOpts, type Socket } from 'node:net';

/** The part of a test that runs handlers at its end, which may be synchronous. */
interface Teardown {
  teardown(handler: () => void): void;
}

/** Listens on a free port of 127.0.0.1; the server and its connections end with the test. Returns the port. */
export async function tcpServer(
  t: Teardown,
  serve: (socket: Socket) => unknown = () => undefined,
  options: ServerOpts = {},
): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer(options, (socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy()).once('close', () => sockets.delete(socket));
    serve(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
