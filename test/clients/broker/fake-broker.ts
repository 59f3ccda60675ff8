// A Broker over a real socket, every byte of which a test determines.
import type { Socket } from 'node:net';
import type { Test } from 'tap';
import { tcpServer } from '../../helpers/tcp-server.js';

export interface FakeBroker {
  readonly host: string;
  readonly port: number;
  /** Message lines received, without CR LF. */
  readonly messages: string[];
  readonly sockets: Socket[];
}

/**
 * Starts a Broker that greets (BT-9), waits for a message line, and then runs the script. It ends with the
 * test.
 */
export async function fakeBroker(
  t: Test,
  script: (socket: Socket, message: string) => void,
): Promise<FakeBroker> {
  const messages: string[] = [];
  const sockets: Socket[] = [];
  const port = await tcpServer(t, (socket) => {
    sockets.push(socket);
    socket.write('200 - HARVEST Broker 1.0\n');
    let input = '';
    socket.on('data', (chunk: Buffer) => {
      input += chunk.toString('latin1');
      if (!input.endsWith('\r\n')) return;
      const message = input.slice(0, -2);
      messages.push(message);
      script(socket, message);
    });
  });
  return { host: '127.0.0.1', port, messages, sockets };
}
