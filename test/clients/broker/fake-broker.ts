// A Broker over a real socket, every byte of which a test determines.
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { Test } from 'tap';

export interface FakeBroker {
  readonly host: string;
  readonly port: number;
  /** Message lines received, without CR LF. */
  readonly messages: string[];
  readonly sockets: Socket[];
}

/** Starts a Broker that greets (BT-9), waits for a message line, and then runs the script. It ends with the test. */
export async function fakeBroker(
  t: Test,
  script: (socket: Socket, message: string) => void,
): Promise<FakeBroker> {
  const messages: string[] = [];
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
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
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { host: '127.0.0.1', port: address.port, messages, sockets };
}
