// Requests whose length or head is ambiguous or endless, sent to every HTTP server of the kit: they are
// refused, the connection is closed, and what is smuggled behind them is never handled.
import t, { type Test } from 'tap';
import { sendLine } from '../../servers/web/replies.js';
import { ask, dial } from './sockets.js';
import { PAGE_SERVERS, servePages } from './web-servers.js';

/** Part of the path of the request that is smuggled. */
const SMUGGLED = '/smuggled';
const HEAD = 'POST / HTTP/1.1\r\nHost: localhost\r\n';
const FORM = 'Content-Type: application/x-www-form-urlencoded\r\n';
const BEHIND = `GET ${SMUGGLED} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const CHUNKED = 'Transfer-Encoding: chunked\r\n';

/** Each is refused with 400, 413 or 431. */
const SHAPES: Readonly<Record<string, string>> = {
  'Content-Length and Transfer-Encoding': `${HEAD}${FORM}Content-Length: 4\r\n${CHUNKED}\r\n0\r\n\r\n${BEHIND}`,
  'Transfer-Encoding and Content-Length': `${HEAD}${FORM}${CHUNKED}Content-Length: 4\r\n\r\n0\r\n\r\n${BEHIND}`,
  'two lengths': `${HEAD}${FORM}Content-Length: 0\r\nContent-Length: ${BEHIND.length}\r\n\r\n${BEHIND}`,
  'a list of lengths': `${HEAD}${FORM}Content-Length: 0, ${BEHIND.length}\r\n\r\n${BEHIND}`,
  'a signed length': `${HEAD}${FORM}Content-Length: +0\r\n\r\n${BEHIND}`,
  'a negative length': `${HEAD}${FORM}Content-Length: -1\r\n\r\n${BEHIND}`,
  'a hexadecimal length': `${HEAD}${FORM}Content-Length: 0x10\r\n\r\n${BEHIND}`,
  'a length beyond 64 bits': `${HEAD}${FORM}Content-Length: 99999999999999999999999\r\n\r\n${BEHIND}`,
  'chunked is not the last coding': `${HEAD}${FORM}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${BEHIND}`,
  'a blank before the colon': `${HEAD}${FORM}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${BEHIND}`,
  'a folded header': `${HEAD}${FORM}Transfer-Encoding:\r\n chunked\r\nContent-Length: 0\r\n\r\n${BEHIND}`,
  'a size of a chunk with garbage': `${HEAD}${FORM}${CHUNKED}\r\n0xg\r\n\r\n${BEHIND}`,
  'a size of a chunk beyond 64 bits': `${HEAD}${FORM}${CHUNKED}\r\nfffffffffffffffff\r\n\r\n${BEHIND}`,
  'a chunk that is longer than its size': `${HEAD}${FORM}${CHUNKED}\r\n1\r\naXX\r\n0\r\n\r\n${BEHIND}`,
  'a line feed alone': `${HEAD}${FORM}Content-Length: 0\nX: 1\r\n\r\n${BEHIND}`,
  'a carriage return alone': `${HEAD}X: 1\rTransfer-Encoding: chunked\r\n\r\n${BEHIND}`,
  'a NUL in a value': `${HEAD}X: a\0b\r\n\r\n${BEHIND}`,
  'a NUL in a name': `${HEAD}X\0Y: a\r\n\r\n${BEHIND}`,
  'a NUL in the target': `GET /\0 HTTP/1.1\r\nHost: localhost\r\n\r\n${BEHIND}`,
  'a line without a colon': `${HEAD}nonsense\r\n\r\n${BEHIND}`,
  'an unknown version': `GET / HTTP/9.9\r\nHost: localhost\r\n\r\n${BEHIND}`,
  'a second Host': `GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\nConnection: close\r\n\r\n${BEHIND}`,
  'a header of 100 000 bytes': `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(100_000)}\r\n\r\n${BEHIND}`,
  '100 000 header lines': `GET / HTTP/1.1\r\nHost: localhost\r\n${'X: y\r\n'.repeat(100_000)}\r\n${BEHIND}`,
  'a target of 100 000 bytes': `GET /${'x'.repeat(100_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n${BEHIND}`,
};

/** The paths of all requests that {@link pages} has handled. */
const handled: string[] = [];

async function pages(t: Test): Promise<number> {
  const { port } = await servePages(t, {
    bodies: 'form',
    routes: (app) => {
      app.all('/*', (request, reply) => {
        handled.push(request.url);
        return sendLine(reply, 200, 'served');
      });
    },
  });
  return port;
}

for (const [name, serve] of Object.entries({ pages, ...PAGE_SERVERS })) {
  t.test(`${name}: ambiguous and endless requests are refused, and the connection is closed`, async (t) => {
    const port = await serve(t);
    for (const [shape, text] of Object.entries(SHAPES)) {
      const socket = await dial(t, port);
      // Resolves when the server has closed.
      const received = await ask(socket, text, /never/);
      const statuses = [...received.matchAll(/(?:HTTP|SSTP)\/1\.[01] (\d{3})/g)].map(([, status]) => status);
      // A request may be refused for its head, and its connection again for its body.
      t.ok(statuses.length <= 2, `${shape}: ${statuses.join(' ')}`);
      // A client that sends much more than the limit may be reset before it reads the reply.
      t.ok(
        statuses.every((status) => /^4\d\d$|^505$/.test(status ?? '')),
        `${shape} is refused`,
      );
      if (text.length < 10_000) t.ok(statuses.length > 0, `${shape} is answered`);
      socket.destroy();
    }
    t.notOk(handled.includes(SMUGGLED), 'nothing smuggled is handled');
    const other = await dial(t, port);
    t.match(
      await ask(other, 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', /never/),
      /^HTTP\/1\.1 (?:[23]\d\d|401) /,
    );
  });
}

/** Bytes that a server and both systems may take of a body whose request is answered already. */
const MAX_BODY_TAKEN = 32 * 1024 * 1024;

/** Sends a body until the server closes the connection, or has taken more than it may; returns the bytes taken. */
async function sendEndlessBody(t: Test, port: number, head: string, piece: Buffer): Promise<number> {
  const socket = await dial(t, port);
  socket.resume();
  socket.write(head);
  const taken = (): number => socket.bytesWritten - socket.writableLength;
  while (!socket.destroyed && taken() < MAX_BODY_TAKEN) {
    await new Promise<void>((resolve) => {
      socket.once('close', () => resolve());
      socket.write(piece, () => resolve());
    });
  }
  const bytes = taken();
  socket.destroy();
  return bytes;
}

for (const [name, start] of Object.entries(PAGE_SERVERS)) {
  t.test(`${name}: a body that does not end after the reply ends the connection`, async (t) => {
    const port = await start(t);
    const long = 'Content-Length: 99999999999\r\n\r\n';
    const path = HEAD.replace(' / ', ' /nothing ');
    const kilobyte = 'x'.repeat(1024);
    const bodies: Readonly<Record<string, readonly [string, Buffer]>> = {
      'one of an unknown path': [`${path}${long}`, Buffer.alloc(64 * 1024, 'x')],
      'one of GET': [`${path.replace('POST', 'GET')}${long}`, Buffer.alloc(64 * 1024, 'x')],
      'one in chunks': [`${path}${CHUNKED}\r\n`, Buffer.from(`400\r\n${kilobyte}\r\n`.repeat(64))],
      'one of a form': [`${path}${FORM}${long}`, Buffer.alloc(64 * 1024, 'x')],
    };
    for (const [kind, [head, piece]] of Object.entries(bodies)) {
      const bytes = await sendEndlessBody(t, port, head, piece);
      t.ok(bytes < MAX_BODY_TAKEN, `${kind}: ${bytes} bytes`);
    }
  });
}
