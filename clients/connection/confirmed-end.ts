// Whether the end of a socket's input is one that the peer sent.
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { errorCode } from '../../protocols/errors.js';

const NOTHING = new Uint8Array();

/**
 * Calls back at the end of a socket's input, if the peer sent it. A reset that arrives together with data is reported
 * as an end by libuv, too; a write of no bytes then fails, and the socket has the error `ECONNRESET` instead. It fails
 * with `EPIPE` if the peer sent its end first, and then reset a connection of which it reads no more: what it sent is
 * whole.
 */
export function onConfirmedEnd(socket: Socket, callback: () => void): void {
  socket.on('end', () => {
    // Bytes that wait would keep the empty write waiting. TLS has an end of its own.
    if (socket instanceof TLSSocket || !socket.writable || socket.writableLength > 0) callback();
    else
      socket.write(NOTHING, (error) => {
        if (!error || errorCode(error) === 'EPIPE') callback();
      });
  });
}
