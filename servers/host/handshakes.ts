// Connections of a server with TLS whose handshake is not finished: no session, table or HTTP server knows them
// yet.
import type { Socket } from 'node:net';
import type { Server, TLSSocket } from 'node:tls';

/** Default of `maxHandshakes`: as many clients may begin at the same moment, e.g. after a restart. */
const MAX_HANDSHAKES = 1024;

/**
 * Bounds the handshakes of a server, and drops those that are unfinished when it closes: `close` resolves when
 * the last connection is gone, so that a client which is silent after its connect would hold a stop until its
 * handshake times out.
 *
 * @param maxHandshakes at once; when there are more, the oldest one is dropped. Default 1024
 */
export function guardHandshakes(server: Server, maxHandshakes = MAX_HANDSHAKES): void {
  /** By the client's address and port, which the socket above the accepted one shares. The oldest first. */
  const unfinished = new Map<string, Socket>();
  server.on('connection', (socket: Socket) => {
    const client = clientOf(socket);
    unfinished.set(client, socket);
    socket.once('close', () => {
      if (unfinished.get(client) === socket) unfinished.delete(client);
    });
    if (unfinished.size > maxHandshakes) drop(unfinished.values().next().value);
  });
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    unfinished.delete(clientOf(socket));
  });
  const close = server.close.bind(server);
  server.close = (...args) => {
    for (const socket of unfinished.values()) drop(socket);
    return close(...args);
  };
}

function clientOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function drop(socket: Socket | undefined): void {
  socket?.on('error', () => undefined);
  socket?.destroy();
}
