// Servers for the tests of the fetchers: a TCP server that runs a script, and a web site that counts its
// requests.
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Test } from 'tap';
import { tcpServer } from '../../helpers/tcp-server.js';

export interface Scripted {
  readonly port: number;
  /** Number of connections so far. */
  readonly connections: () => number;
}

/** A TCP server on a free loopback port; it and its connections end with the test. */
export async function scripted(t: Test, serve: (socket: Socket) => void): Promise<Scripted> {
  let connections = 0;
  const port = await tcpServer(t, (socket) => {
    connections += 1;
    serve(socket);
  });
  return { port, connections: () => connections };
}

/** Calls `onLine` for each line (CR LF) that a client sends. */
export function onLines(socket: Socket, onLine: (line: string) => void): void {
  let rest = '';
  socket.setEncoding('latin1').on('data', (text) => {
    const lines = (rest + String(text)).split('\r\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  });
}

/** Sends bytes until the client closes. */
export function sendForever(socket: Socket, piece: Uint8Array, sent: { bytes: number }): void {
  const writeUntilFull = () => {
    while (!socket.destroyed) {
      sent.bytes += piece.length;
      if (!socket.write(piece)) {
        socket.once('drain', writeUntilFull);
        return;
      }
    }
  };
  writeUntilFull();
}

export const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1');

/** A web site whose pages show the number of the request, with redirects to a page, to a file and to itself. */
export async function countingSite(t: Test) {
  let requests = 0;
  const server = createHttpServer((request, response) => {
    requests += 1;
    if (request.url === '/moved') response.writeHead(302, { Location: '/page' }).end();
    else if (request.url === '/away') response.writeHead(302, { Location: 'file:///etc/passwd' }).end();
    else if (request.url === '/round') response.writeHead(302, { Location: '/round' }).end();
    else if (request.url === '/none') response.writeHead(404).end('no');
    else response.writeHead(200, { ETag: '"1"', 'Content-Type': 'text/plain' }).end(`page ${requests}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests: () => requests };
}
