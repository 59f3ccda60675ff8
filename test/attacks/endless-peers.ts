// Peers of a collecting Broker whose updates never end, or last for hours, for the tests of its limits.
import { createServer, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { CollectionPoint } from '../../protocols/config/index.js';
import { listen } from '../helpers/daemon.js';

/** The part of tap's `t` that these helpers use. */
interface Teardown {
  teardown(work: () => unknown): void;
}

/** A peer that speaks just enough of gatherd or of a Broker to be asked for an update. */
export interface ScriptedPeer {
  readonly port: number;
  /** Updates that were requested. */
  readonly requests: string[];
  point(type: CollectionPoint['type']): CollectionPoint;
}

/** The text of an update, chunk by chunk. */
export type Content = () => AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;

const GREETINGS = {
  gatherd: '000 - HELLO 1.8 gatherer.example.org\n',
  broker: '200 - HARVEST Broker 1.0\n',
} as const;

/** Starts a peer each of whose updates is `content`, sent as fast as the receiver accepts it. */
export async function startPeer(
  t: Teardown,
  protocol: keyof typeof GREETINGS,
  content: Content,
  /** The reply to each SEND-OBJECT, without its status lines. */
  object?: (oid: string) => ReturnType<Content>,
): Promise<ScriptedPeer> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    socket.write(GREETINGS[protocol]);
    answer(socket, requests, content, object);
  });
  const port = await listen(server);
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port, requests, point: (type) => ({ host: '127.0.0.1', port, type, line: 1 }) };
}

function answer(
  socket: Socket,
  requests: string[],
  content: Content,
  object: ((oid: string) => ReturnType<Content>) | undefined,
): void {
  let compressed = false;
  let input = '';
  socket.on('data', (chunk: Buffer) => {
    input += chunk.toString('latin1');
    const lines = input.split('\n');
    input = lines.pop() ?? '';
    for (const line of lines.map((text) => text.trim())) {
      if (line.startsWith('HELLO')) socket.write('100 - HELLO\n');
      else if (line === 'SET compression') compressed = true;
      else if (line === 'QUIT') socket.end('999 - Bye\n');
      else if (line.startsWith('SEND-UPDATE') || line.startsWith('#BULK')) {
        requests.push(line);
        socket.write(line.startsWith('#') ? '000 - Success\n' : '400 - Sending all objects\n');
        send(socket, content, compressed);
      }
      if (line.startsWith('SEND-OBJECT ') && object !== undefined) {
        requests.push(line);
        socket.write('300 - Sending object\n');
        sendObject(socket, object(line.slice(12)));
      }
      if (line.startsWith('SET')) socket.write('500 - Ok\n');
    }
  });
}

function sendObject(socket: Socket, content: ReturnType<Content>): void {
  const source = Readable.from(content, { objectMode: false });
  source.on('error', () => {});
  socket.on('close', () => source.destroy());
  source.pipe(socket, { end: false });
  source.on('end', () => socket.write('399 - Sent object\n'));
}

function send(socket: Socket, content: Content, compressed: boolean): void {
  const source = Readable.from(content(), { objectMode: false });
  source.on('error', () => {});
  socket.on('close', () => source.destroy());
  const data = compressed ? source.pipe(createGzip({ level: 1 })) : source;
  data.pipe(socket, { end: false });
  data.on('end', () => socket.write('499 - Sent all objects\n'));
}
