// Bytes that are not HTTP, and requests that Node would answer itself: every reply of every HTTP server has the
// security headers, comes after the replies to earlier requests, and ends the connection.
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { sendLine } from '../../servers/web/replies.js';
import { securityHeaders } from '../../servers/web/security-headers.js';
import { until } from '../helpers/manual-clock.js';
import { ask, dial } from './sockets.js';
import { PAGE_SERVERS, servePages } from './web-servers.js';

const HOST = 'Host: localhost\r\n';
const FIELDS = ['content-security-policy', 'x-content-type-options', 'referrer-policy', 'content-length'];

/** What is sent, and the status of the reply. */
const REFUSED: Readonly<Record<string, readonly [text: string, status: number]>> = {
  'an unknown method': [`FROB / HTTP/1.1\r\n${HOST}\r\n`, 400],
  'the preface of HTTP/2': ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  'HTTP/2.0': [`GET / HTTP/2.0\r\n${HOST}\r\n`, 505],
  'HTTP/2.0 with a body': [`POST / HTTP/2.0\r\n${HOST}Content-Length: 3\r\n\r\nabc`, 505],
  'HTTP/3.0': [`GET / HTTP/3.0\r\n${HOST}\r\n`, 505],
  'HTTP/1.2': [`GET / HTTP/1.2\r\n${HOST}\r\n`, 505],
  'HTTP/0.9 by name': [`GET / HTTP/0.9\r\n${HOST}\r\n`, 505],
  'a tunnel': [`CONNECT evil.example:80 HTTP/1.1\r\n${HOST}\r\n`, 405],
  'a tunnel to this server': [`CONNECT localhost:80 HTTP/1.1\r\n${HOST}\r\nGET / HTTP/1.1\r\n\r\n`, 405],
  'an expectation': [`GET / HTTP/1.1\r\n${HOST}Expect: the best\r\n\r\n`, 417],
  'no host': ['GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
  'two lengths': [`POST / HTTP/1.1\r\n${HOST}Content-Length: 1\r\nContent-Length: 2\r\n\r\nabc`, 400],
  'a length and chunks': [
    `POST / HTTP/1.1\r\n${HOST}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    400,
  ],
  'bytes in the target': [`GET /\xff\xfe HTTP/1.1\r\n${HOST}\r\n`, 400],
  'a header of 20 000 bytes': [`GET / HTTP/1.1\r\n${HOST}X: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  'a header of 500 000 bytes': [`GET / HTTP/1.1\r\n${HOST}X: ${'x'.repeat(500_000)}\r\n\r\n`, 431],
};

/** the pages of refererd know two methods, and answer every other alike. */
const NO_METHODS: Readonly<Record<string, readonly [text: string, status: number]>> = {
  'an unknown method': [`FROB / HTTP/1.1\r\n${HOST}\r\n`, 405],
  'the preface of HTTP/2': ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 505],
};

/** Not for the port of refererd, where such bytes are refused in SSTP. */
const NOT_HTTP: Readonly<Record<string, readonly [text: string, status: number]>> = {
  'the greeting of TLS': ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
  'HTTP/0.9': ['GET /\r\n\r\n', 505],
  'a version in lower case': [`GET / http/1.1\r\n${HOST}\r\n`, 400],
  'a line of text': ['hello world\r\n\r\n', 400],
  'a command of gatherd': ['SEND-UPDATE 0\n', 400],
  'NUL bytes': ['\0'.repeat(100), 400],
  'half a request and garbage': [`GET / HTTP/1.1\r\n${HOST}\x80\x81\r\n`, 400],
};

/** Answers `/` at once and `/slow` after a while. */
async function pages(
  t: Test,
  requestTimeoutMs = 30_000,
): Promise<{ readonly port: number; readonly begun: () => number; readonly aborted: () => number }> {
  let begun = 0;
  let aborted = 0;
  const { port } = await servePages(t, {
    headers: securityHeaders({ referrer: 'no-referrer' }),
    bodies: 'form',
    requestTimeoutMs,
    connections: { maxConnections: 100 },
    routes: (app) => {
      app.all('/', (_request, reply) => sendLine(reply, 200, 'first'));
      app.get('/slow', async (request, reply) => {
        begun += 1;
        request.raw.socket.once('close', () => {
          if (!reply.raw.writableFinished) aborted += 1;
        });
        await sleep(200);
        return sendLine(reply, 200, 'slow');
      });
    },
  });
  return { port, begun: () => begun, aborted: () => aborted };
}

const SERVERS: Readonly<Record<string, (t: Test) => Promise<number>>> = {
  pages: async (t) => (await pages(t)).port,
  ...PAGE_SERVERS,
};

for (const [name, serve] of Object.entries(SERVERS)) {
  t.test(`${name}: a refusal has the security headers, and the connection is closed`, async (t) => {
    const port = await serve(t);
    const shapes = { ...REFUSED, ...(name.includes('references') ? NO_METHODS : NOT_HTTP) };
    for (const [shape, [text, status]] of Object.entries(shapes)) {
      const received = await ask(await dial(t, port), text, /never/);
      t.match(received, new RegExp(`^HTTP/1\\.1 ${status} `), `${shape}: ${received.slice(0, 40)}`);
      const head = received.slice(0, received.indexOf('\r\n\r\n')).toLowerCase();
      for (const field of FIELDS) t.ok(head.includes(`\r\n${field}: `), `${shape}: ${field}`);
      t.equal(head.match(/\r\nconnection: close/g)?.length, 1, `${shape}: it says that it closes`);
    }
    const good = await dial(t, port);
    const request = `GET / HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`;
    t.match(await ask(good, request, /never/), /^HTTP\/1\.1 (?:200|303|401) /);
  });
}

t.test('a refusal follows the replies to the requests before it', async (t) => {
  const { port, begun, aborted } = await pages(t);
  const request = (path: string): string => `GET ${path} HTTP/1.1\r\n${HOST}\r\n`;
  for (const paths of [['/'], ['/slow'], ['/slow', '/', '/slow']]) {
    const received = await ask(
      await dial(t, port),
      `${paths.map(request).join('')}\x16\x03\r\n\r\n`,
      /never/,
    );
    const statuses = [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);
    t.same(statuses, [...paths.map(() => '200'), '400'], paths.join(' '));
    t.match(received, /this server cannot read the request\.\n$/);
  }
  const tunnel = await dial(t, port);
  const before = begun();
  tunnel.write(request('/slow'));
  await until(() => begun() > before);
  await ask(tunnel, `CONNECT evil.example:80 HTTP/1.1\r\n${HOST}\r\n`, /never/);
  t.equal(aborted(), 1, 'a tunnel ends the request in progress');
});

t.test('a request that does not arrive in time gets 408 with the headers', async (t) => {
  const { port } = await pages(t, 500);
  for (const text of ['GET / HT', `GET / HTTP/1.1\r\n${HOST}`, 'GET /\r\n']) {
    const received = await ask(await dial(t, port), text, /never/);
    t.match(received, /^HTTP\/1\.1 408 /, text);
    for (const field of FIELDS) t.ok(received.includes(`${field}: `), field);
  }
});

t.test('a refused client that sends for ever is cut', async (t) => {
  const { port } = await pages(t);
  const socket = await dial(t, port);
  socket.resume();
  const piece = Buffer.alloc(64 * 1024, 'x');
  let sent = 0;
  const send = (): void => {
    while (!socket.destroyed) {
      sent += piece.length;
      if (!socket.write(piece)) break;
    }
  };
  socket.on('drain', send);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  send();
  await closed;
  t.ok(sent < 64 << 20, `${sent} bytes were sent`);
});
