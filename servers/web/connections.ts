// Limits of the connections of an HTTP server.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type ConnectionSlot, ConnectionTable, type TableLimits } from '../host/connection-table.js';
import { acceptedSocket } from '../host/fair-socket.js';
import { acceptedBytes, SendWatch } from '../host/send-watch.js';

/** Limits of {@link guardConnections}. */
export interface ConnectionGuardOptions extends TableLimits {
  /** Milliseconds over which the rate of a client that reads a reply is measured. Default 60 000. */
  readonly drainTimeoutMs?: number | undefined;
  /** Bytes per second that such a client must accept on average. Default 100; 0: any progress suffices. */
  readonly minBytesPerSecond?: number | undefined;
}

/** Checks of a connection within `drainTimeoutMs`. */
const CHECKS = 8;

interface Guarded {
  readonly slot: ConnectionSlot;
  readonly watch: SendWatch;
  requests: number;
}

/**
 * Limits the connections of an HTTP server, all together and for each address (see {@link ConnectionTable}). A
 * kept-alive connection without a request makes room for a new one; a client that reads a reply too slowly is
 * cut.
 */
export function guardConnections(server: Server, options: ConnectionGuardOptions): void {
  const { drainTimeoutMs = 60_000, minBytesPerSecond = 100 } = options;
  const table = new ConnectionTable(() => options);
  const open = new Map<Socket, Guarded>();
  // The HTTP server writes to the socket itself, so whether the socket waits for its peer is looked at from
  // time to time.
  const timer = setInterval(() => {
    for (const [socket, { watch }] of open) {
      if (socket.writableLength > 0) watch.start();
      else watch.stop();
    }
  }, drainTimeoutMs / CHECKS);
  timer.unref();
  server.on('close', () => clearInterval(timer));
  // With TLS the requests come from the socket above the one that was accepted.
  const accepted = 'setSecureContext' in server ? 'secureConnection' : 'connection';
  server.prependListener(accepted, (socket: Socket) => {
    const slot = table.admit(socket.remoteAddress ?? '', () => socket.destroy());
    if (slot === undefined) {
      socket.destroy();
      return;
    }
    const watch = new SendWatch(
      { drainTimeoutMs, minBytesPerSecond },
      () => acceptedBytes(socket, socket.bytesWritten),
      () => socket.destroy(),
    );
    open.set(socket, { slot, watch, requests: 0 });
    socket.on('close', () => {
      slot.release();
      watch.close();
      open.delete(socket);
    });
  });
  server.prependListener('request', ({ socket }: IncomingMessage, reply: ServerResponse) => {
    const guarded = open.get(acceptedSocket(socket));
    if (guarded === undefined) return;
    guarded.requests += 1;
    guarded.slot.work();
    reply.once('close', () => {
      guarded.requests -= 1;
      if (guarded.requests === 0) guarded.slot.waitForInput(true);
    });
  });
}
