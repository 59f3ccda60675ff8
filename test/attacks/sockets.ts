// Raw clients for attacks.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Test } from 'tap';
import { waitUntil } from '../helpers/wait-until.js';

/** Connects. `from` is the source address. */
export async function dial(t: Test, port: number, from?: string): Promise<Socket> {
  const socket = connect({
    port,
    host: '127.0.0.1',
    noDelay: true,
    localAddress: from,
  });
  t.teardown(() => void socket.destroy());
  await once(socket, 'connect');
  socket.on('error', () => {});
  return socket;
}

/**
 * Opens this many connections, each of which then sends `text`, and waits until the server has accepted them.
 */
export async function dialMany(
  t: Test,
  port: number,
  count: number,
  { text = '', from }: { readonly text?: string; readonly from?: string } = {},
): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const size = Math.min(128, count - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length: size }, () => dial(t, port, from)))));
  }
  for (const socket of sockets) {
    socket.resume();
    if (text !== '') socket.write(text, 'latin1');
  }
  await new Promise((resolve) => setTimeout(resolve, 100));
  return sockets;
}

/** Sends a text; resolves with everything received once that matches, or when the server closes. */
export async function ask(socket: Socket, text: string, pattern: RegExp): Promise<string> {
  let received = '';
  const done = new Promise<void>((resolve) => {
    const onClose = (): void => resolve();
    const onData = (chunk: Buffer): void => {
      received += chunk.toString('latin1');
      if (!pattern.test(received)) return;
      socket.off('data', onData);
      socket.off('close', onClose);
      resolve();
    };
    socket.on('data', onData);
    socket.once('close', onClose);
  });
  if (text !== '') socket.write(text, 'latin1');
  await done;
  return received;
}

/** Connections that the server has not closed. */
export function countOpen(sockets: readonly Socket[]): number {
  return sockets.filter((socket) => !socket.readableEnded && !socket.destroyed).length;
}

/** Waits until at most this many connections are open; returns how many are. */
export async function settle(sockets: readonly Socket[], most: number): Promise<number> {
  await waitUntil(() => countOpen(sockets) <= most);
  return countOpen(sockets);
}
