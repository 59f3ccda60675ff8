// Clients that misbehave. None of them may cost the servers anything that stays.
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { ServerAddresses } from './messages.js';

type Random = () => number;

/** One attack on one server. Its outcome does not matter; the servers must not keep anything of it. */
export type Attack = (port: number, random: Random) => Promise<void>;

/** Requests that make each server work, for clients that do not wait for the reply. */
const REQUESTS: Readonly<Record<keyof Ports, readonly string[]>> = {
  gatherd: [
    'HELLO x\nSEND-UPDATE 0\n',
    'HELLO x\nSET compression\nSEND-UPDATE 0\n',
    'HELLO x\nINFO\nSEND-OBJECT http://a/\nQUIT\n',
  ],
  broker: [
    '#USER #END common\r\n',
    '#USER #interface 2 #END common\r\n',
    '#USER #desc #attribute Title #END word1 OR word2\r\n',
    '#BULK #SINCE 0 #END #ALLB\r\n',
    '#BULK #interface 2 #compress #SINCE 0 #END #ALLB\r\n',
    '#ADMIN #PASSWORD wrong #collect\r\n',
  ],
  web: [
    'GET /?query=common HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
    'GET / HTTP/1.0\r\n\r\n',
    'POST /Harvest/admin HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 999\r\n\r\nx',
  ],
  references: ['REFERERS / SSTP/1.0\r\nURL: http://a/\r\n\r\n', 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'],
};

export type Ports = Pick<ServerAddresses, 'gatherd' | 'broker' | 'web' | 'references'>;

/** The attacks, by name; each is aimed at every server in turn. */
export function badClients(server: keyof Ports): Readonly<Record<string, Attack>> {
  const request = (random: Random): string => {
    const requests = REQUESTS[server];
    return requests[Math.floor(random() * requests.length)] ?? '';
  };
  return {
    'resets the connection in the middle of a reply': (port, random) =>
      withSocket(port, async (socket) => {
        socket.write(request(random));
        await pause(random() * 20);
        socket.resetAndDestroy();
      }),
    'closes its direction and leaves': (port, random) =>
      withSocket(port, async (socket) => {
        socket.end(request(random).slice(0, Math.floor(random() * 60)));
        await pause(random() * 200);
      }),
    'reads nothing for a while': (port, random) =>
      withSocket(port, async (socket) => {
        socket.pause();
        socket.write(request(random));
        await pause(2000 + random() * 3000);
      }),
    'reads slowly': (port, random) =>
      withSocket(port, async (socket) => {
        socket.write(request(random));
        for (let i = 0; i < 30 && !socket.destroyed; i++) {
          socket.read(512);
          await pause(100);
        }
      }),
    'sends byte by byte': (port, random) =>
      withSocket(port, async (socket) => {
        socket.resume();
        for (const byte of request(random).slice(0, 40)) {
          socket.write(byte);
          await pause(50);
        }
      }),
    'is idle': (port, random) => withSocket(port, () => pause(1000 + random() * 4000)),
    'sends garbage': (port, random) =>
      withSocket(port, async (socket) => {
        socket.resume();
        const bytes = Buffer.alloc(1 + Math.floor(random() * 100_000));
        for (let i = 0; i < bytes.length; i++) bytes[i] = Math.floor(random() * 256);
        socket.write(bytes);
        await pause(200);
      }),
    'sends an endless line': (port) =>
      withSocket(port, async (socket) => {
        socket.resume();
        const piece = Buffer.alloc(65_536, 'x');
        for (let i = 0; i < 64 && !socket.destroyed; i++) {
          if (!socket.write(piece)) await pause(5);
        }
      }),
    'pipelines a flood': (port, random) =>
      withSocket(port, async (socket) => {
        socket.resume();
        socket.write(request(random).repeat(200));
        await pause(1000);
      }),
  };
}

async function withSocket(port: number, use: (socket: Socket) => Promise<unknown>): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  // The server is expected to end such connections.
  socket.on('error', () => undefined);
  try {
    await use(socket);
  } finally {
    socket.destroy();
  }
}
