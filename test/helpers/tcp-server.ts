import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** The part of a test that runs handlers at its end, which may be synchronous. */
interface Teardown {
  teardown(handler: () => void): void;
}

/** Serves a free port of loopback with a handler of connections until the test ends; returns the port. */
export async function tcpServer(
  t: Teardown,
  serve: (socket: Socket) => unknown = () => undefined,
): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
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
