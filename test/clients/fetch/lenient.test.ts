// Tests pages that a strict parser refuses, over sockets: each is read with one request; hostile ones end by a
// limit.
import { once } from 'node:events';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { request } from 'undici';
import { plainHeaders } from '../../../clients/fetch/headers.js';
import { createFetcher, type FetcherOptions, type FetchResult } from '../../../clients/fetch/index.js';
import { ConnectionError, RefusedError } from '../../../protocols/errors.js';
import { freePort } from '../../helpers/daemon.js';
import { inputRead, ManualClock, until } from '../../helpers/manual-clock.js';
import { assertProperty } from '../../helpers/property.js';
import { TLS_CERTIFICATE, TLS_KEY } from '../../helpers/tls.js';
import { scripted, sendForever, textOf } from './scripted.js';

const LIMITS = { maxBytes: 100_000, timeoutMs: 20_000 };
const OK = 'HTTP/1.1 200 OK\r\n';
const BODY = '<title>A page</title>';
const LENGTH = `Content-Length: ${BODY.length}\r\n`;

function fetcherFor(t: Test, options: Partial<FetcherOptions> = {}) {
  const fetcher = createFetcher({ userAgent: 'example/1.0', ...options });
  t.teardown(() => fetcher.close());
  return fetcher;
}

/** A server that gives each connection the same bytes after its request, and closes or stays open. */
async function wireServer(t: Test, wire: string | Uint8Array, close = true) {
  const requests: string[] = [];
  const server = await scripted(t, (socket) => {
    let request = '';
    socket.on('data', (chunk) => {
      request += textOf(chunk);
      if (!request.endsWith('\r\n\r\n')) return;
      requests.push(request);
      request = '';
      if (close) socket.end(wire, 'latin1');
      else socket.write(wire, 'latin1');
    });
  });
  return { base: `http://127.0.0.1:${server.port}`, requests, ...server };
}

/** The body and how it was read. */
const summary = ({ status, body, lenient }: FetchResult) => [status, textOf(body), lenient?.deviations];

const PAGES: readonly (readonly [
  name: string,
  wire: string,
  deviations: readonly string[],
  isOpen?: true,
])[] = [
  ['a folded field', `${OK}X: a\r\n b\r\n${LENGTH}\r\n${BODY}`, ['folded'], true],
  ['NUL in a value', `${OK}X: a\0b\r\n${LENGTH}\r\n${BODY}`, ['control'], true],
  ['a line without a colon', `${OK}what is this\r\n${LENGTH}\r\n${BODY}`, ['no-colon'], true],
  ['a blank before the colon', `${OK}X : a\r\n${LENGTH}\r\n${BODY}`, ['blank-before-colon'], true],
  ['a name with a blank in it', `${OK}X Y: a\r\n${LENGTH}\r\n${BODY}`, ['field-name'], true],
  ['bare LF', `${OK}X: a\r\n${LENGTH}\r\n${BODY}`.replaceAll('\r', ''), ['bare-lf'], true],
  ['bare CR', `${OK}X: a\rb\r\n${LENGTH}\r\n${BODY}`, ['bare-cr'], true],
  ['HTTP/0.9', BODY, ['http-0.9']],
  ['a doubled length', `${OK}${LENGTH}${LENGTH}\r\n${BODY}`, ['content-length'], true],
  ['two lengths', `${OK}Content-Length: 3\r\n${LENGTH}\r\n${BODY}`, ['content-length'], true],
  ['a list of lengths', `${OK}Content-Length: 21, 21\r\n\r\n${BODY}`, ['content-length'], true],
  ['a length that is a word', `${OK}Content-Length: long\r\n\r\n${BODY}`, ['content-length']],
  ['a negative length', `${OK}Content-Length: -1\r\n\r\n${BODY}`, ['content-length']],
  ['a length above 2^64', `${OK}Content-Length: 99999999999999999999\r\n\r\n${BODY}`, ['content-length']],
  ['a header of 1 MB', `${OK}X: ${'x'.repeat(1_048_576)}\r\n${LENGTH}\r\n${BODY}`, [], true],
  ['10 000 fields', `${OK}${'X: yyyyyyyyyy\r\n'.repeat(10_000)}${LENGTH}\r\n${BODY}`, [], true],
  [
    'a length beside chunks',
    `${OK}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n15\r\n${BODY}\r\n0\r\n\r\n`,
    ['transfer-encoding'],
    true,
  ],
  ['chunked without chunks', `${OK}Transfer-Encoding: chunked\r\n\r\n${BODY}`, ['transfer-encoding']],
  [
    'a size with bare LF',
    `${OK}Transfer-Encoding: chunked\r\n\r\n15\n${BODY}\n0\n\n`,
    ['bare-lf', 'chunk-size'],
    true,
  ],
  ['an unrequested 100', `HTTP/1.1 100 Continue\r\n\r\n${OK}${LENGTH}\r\n${BODY}`, [], true],
  ['no number in the status line', `HTTP/1.1 OK\r\n${LENGTH}\r\n${BODY}`, ['status-line'], true],
  ['ICY', `ICY 200 OK\r\n${LENGTH}\r\n${BODY}`, ['status-line'], true],
  ['a body shorter than its length', `${OK}Content-Length: 100\r\n\r\n${BODY}`, ['cut-body']],
  ['no last chunk', `${OK}Transfer-Encoding: chunked\r\n\r\n15\r\n${BODY}\r\n`, ['cut-body']],
];

for (const [name, wire, deviations, isOpen = false] of PAGES) {
  t.test(`a page is kept: ${name}`, async (t) => {
    const { base, requests, connections } = await wireServer(t, wire, !isOpen);
    const fetcher = fetcherFor(t);
    const url = `${base}/a?b`;
    const isCut = deviations.includes('cut-body');
    const result = await fetcher.fetch({ url, ...LIMITS, keepIncomplete: isCut });
    const isTidy = deviations.length === 0;
    const expected = [200, BODY, isTidy ? undefined : deviations];
    t.strictSame(summary(result), expected);
    t.equal(result.lenient?.problem === undefined, !isCut);
    t.ok(wire.includes(textOf(result.lenient?.head ?? new Uint8Array(0))), 'the header as it was sent');
    t.equal(result.remoteAddress, '127.0.0.1');
    t.equal(result.body.buffer.byteLength, result.body.length, 'the body does not share its buffer');
    t.equal(requests.length, 1);
    t.match(requests[0], /^GET \/a\?b HTTP\/1\.1\r\nhost: 127[\s\S]*user-agent: example\/1\.0\r\n/);
    if (isCut) await t.rejects(fetcher.fetch({ url, ...LIMITS }), /the server broke the connection/);
    else t.strictSame(summary(await fetcher.fetch({ url, ...LIMITS })), expected);
    t.equal(requests.length, 2);
    t.equal(connections(), isTidy ? 1 : 2, 'none follows on the connection of an untidy response');
  });
}

t.test('a redirect, a type and a coding are those of the lenient header', async (t) => {
  const { base } = await wireServer(t, 'HTTP/1.0 302 Found\nLocation : /b\nContent-Type: text/html\n\n');
  t.match(await fetcherFor(t).fetch({ url: `${base}/a`, ...LIMITS }), { status: 302, location: `${base}/b` });
  const zipped = textOf(gzipSync(BODY));
  for (const coding of ['Content-Encoding: gzip', 'Transfer-Encoding: gzip']) {
    const coded = await wireServer(
      t,
      `${OK}no colon\r\nContent-Type : Text/HTML;charset=x\r\n${coding}\r\n\r\n${zipped}`,
    );
    const result = await fetcherFor(t).fetch({ url: `${coded.base}/`, ...LIMITS });
    t.match(result, { contentType: 'text/html', charset: 'x' });
    t.equal(textOf(result.body), BODY, coding);
  }
  const odd = await wireServer(
    t,
    `${OK}__proto__: x\r\nSet-Cookie: a\r\nset-cookie: b\r\nno colon\r\n\r\n${BODY}`,
  );
  const { headers } = await fetcherFor(t).fetch({ url: `${odd.base}/`, ...LIMITS });
  t.strictSame({ ...headers }['set-cookie'], 'a, b');
  t.strictSame(Object.getOwnPropertyDescriptor(headers, '__proto__')?.value ?? 'x', 'x');
  t.strictSame(Object.getPrototypeOf(headers), Object.prototype);
});

t.test(
  'conditional headers, credentials and their realm are sent, and their answers read leniently',
  async (t) => {
    const seen: string[] = [];
    const server = await scripted(t, (socket) => {
      socket.on('data', (chunk) => {
        const request = textOf(chunk);
        seen.push(request);
        const isKnown = /authorization: Basic dTpw/.test(request);
        socket.end(
          isKnown
            ? `${OK}no colon\r\n\r\n${BODY}`
            : 'HTTP/1.1 401 no\r\nno colon\r\nWWW-Authenticate: Basic realm="R"\r\n\r\n',
        );
      });
    });
    const base = `http://127.0.0.1:${server.port}`;
    const login = { urls: [`${base}/`], realm: 'R', user: 'u', password: 'p' };
    const result = await fetcherFor(t, { httpBasicAuth: [login] }).fetch({
      url: `${base}/x`,
      headers: { etag: '"e"', lastModified: 784111777 },
      extraHeaders: { cookie: 'a=1; b=2' },
      ...LIMITS,
    });
    t.equal(textOf(result.body), BODY);
    t.equal(seen.length, 2, 'without and with the login');
    for (const request of seen) t.match(request, /cookie: a=1; b=2\r\n/);
    for (const request of seen) t.match(request, /if-none-match: "e"\r\nif-modified-since: Sun, 06 Nov 1994/);
  },
);

/** Starts a server over TLS whose header has a line without a colon. @returns the port */
async function startTlsServer(t: Test): Promise<number> {
  const server = createTlsServer({ key: TLS_KEY, cert: TLS_CERTIFICATE }, (socket) => {
    socket
      .on('error', () => undefined)
      .once('data', () => socket.end(`${OK}no colon\r\n${LENGTH}\r\n${BODY}`));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return (server.address() as AddressInfo).port;
}

t.test('https, with the name of the certificate checked', async (t) => {
  const url = `https://127.0.0.1:${await startTlsServer(t)}/`;
  const { status, body, lenient } = await fetcherFor(t, { ca: TLS_CERTIFICATE }).fetch({ url, ...LIMITS });
  t.strictSame([status, textOf(body), lenient?.deviations], [200, BODY, ['no-colon']]);
  await t.rejects(fetcherFor(t).fetch({ url, ...LIMITS }), /certificate is not accepted/);
});

t.test('a proxy: plain http by its full URL, https by CONNECT', async (t) => {
  const tlsPort = await startTlsServer(t);
  const lines: string[] = [];
  const { createConnection } = await import('node:net');
  const proxy = await scripted(t, (socket: Socket) => {
    socket.once('data', (chunk) => {
      const line = textOf(chunk).split('\r\n')[0]!;
      lines.push(line);
      if (!line.startsWith('CONNECT')) {
        socket.end(`${OK}no colon\r\n\r\n${BODY}`);
        return;
      }
      const target = createConnection(tlsPort, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connected\r\n\r\n');
        socket.pipe(target).pipe(socket);
      });
      target.on('error', () => socket.destroy());
      socket.on('close', () => target.destroy());
    });
  });
  const fetcher = fetcherFor(t, { httpProxy: `127.0.0.1:${proxy.port}`, ca: TLS_CERTIFICATE });
  const plain = 'http://site.example/a';
  const secure = `https://127.0.0.1:${tlsPort}/a`;
  for (const url of [plain, secure]) {
    const { body, lenient } = await fetcher.fetch({ url, ...LIMITS });
    t.strictSame([textOf(body), lenient?.deviations], [BODY, ['no-colon']], url);
  }
  t.strictSame(lines, [`GET ${plain} HTTP/1.1`, `CONNECT 127.0.0.1:${tlsPort} HTTP/1.1`]);
});

t.test('G-174 the reader reaches no private address that publicOnly forbids', async (t) => {
  const { base, connections } = await wireServer(t, BODY);
  const fetcher = fetcherFor(t);
  await t.rejects(fetcher.fetch({ url: `${base}/`, publicOnly: true, ...LIMITS }), RefusedError);
  t.equal(connections(), 0);
});

t.test('one request when the connection failed, was lost, or nothing came in time', async (t) => {
  const refused = `http://127.0.0.1:${await freePort()}/`;
  const reset = await scripted(t, (socket) => socket.once('data', () => socket.resetAndDestroy()));
  const closed = await scripted(t, (socket) => socket.once('data', () => socket.end()));
  const silent = await scripted(t, (socket) => socket.on('data', () => undefined));
  const fetcher = fetcherFor(t);
  await t.rejects(fetcher.fetch({ url: refused, ...LIMITS }), /connection refused/);
  for (const { port } of [reset, closed, silent]) {
    const request = { url: `http://127.0.0.1:${port}/`, maxBytes: 1000, timeoutMs: 1000 };
    await t.rejects(fetcher.fetch(request), ConnectionError);
  }
  t.same([reset.connections(), closed.connections(), silent.connections()], [1, 1, 1]);
});

t.test('limits of a response: body, time, header, rate, abort', async (t) => {
  const lenient = { keepIncomplete: true, ...LIMITS } as const;
  const sent = { bytes: 0 };
  const endless = async (begin: string, piece: string) => {
    const { port } = await scripted(t, (socket) =>
      socket.once('data', () => {
        socket.write(begin);
        sendForever(socket, Buffer.from(piece), sent);
      }),
    );
    return `http://127.0.0.1:${port}/`;
  };
  const dripping = async (begin: string, piece: string) => {
    const { port } = await scripted(t, (socket) =>
      socket.once('data', () => {
        socket.write(begin);
        const timer = setInterval(() => socket.write(piece), 20);
        socket.on('close', () => clearInterval(timer));
      }),
    );
    return `http://127.0.0.1:${port}/`;
  };
  const body = await fetcherFor(t).fetch({
    url: await endless('no head\r\n', 'x'.repeat(10_000)),
    ...lenient,
  });
  t.match(body, { truncated: true, status: 200 });
  t.equal(body.body.length, LIMITS.maxBytes);
  const refused: readonly (readonly [string, RegExp, Partial<FetcherOptions>])[] = [
    [
      await endless(OK, 'X: yyyyyyyyyyyyyyyyyyyy\r\n'.repeat(100)),
      /longer than 2097152 bytes|more than 50000 fields/,
      {},
    ],
    [
      await endless('HTTP/1.1 100 x\r\n\r\n', 'HTTP/1.1 100 x\r\n\r\n'.repeat(100)),
      /longer than 2097152 bytes/,
      {},
    ],
    [
      await endless(`${OK}Transfer-Encoding: chunked\r\n\r\n`, `1;${'e'.repeat(9000)}\r\nx\r\n`),
      /chunk extensions are longer than 1048576 bytes|bytes of the document/,
      {},
    ],
    [
      await endless(`${OK}Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n`, 'X: y\r\n'.repeat(1000)),
      /longer than 2097152 bytes/,
      {},
    ],
    [await dripping(OK, 'X'), /not done within 700 ms/, { maxTransferMs: 700 }],
    [
      await dripping(OK, 'X'),
      /less than 1000 bytes per second/,
      { minBytesPerSecond: 1000, minRateGraceMs: 300 },
    ],
    [
      await dripping(`${OK}no colon\r\n\r\n`, 'x'),
      /less than 1000 bytes per second/,
      { minBytesPerSecond: 1000, minRateGraceMs: 300 },
    ],
  ];
  for (const [url, reason, options] of refused) {
    await t.rejects(fetcherFor(t, options).fetch({ url, ...lenient }), reason);
  }
  /** Fetches from a server that sends a text and nothing more; when it is read, the time passes. */
  const fetchStalled = async (wire: string) => {
    const clock = new ManualClock();
    let sent = false;
    const onSent = () => {
      sent = true;
    };
    const { port } = await scripted(t, (socket) => socket.once('data', () => socket.write(wire, onSent)));
    const url = `http://127.0.0.1:${port}/`;
    const fetched = fetcherFor(t, { clock }).fetch({ url, ...lenient, timeoutMs: 300 });
    await until(() => sent);
    await inputRead();
    clock.advance(300);
    return await fetched;
  };
  const stalled = await fetchStalled(`${OK}Content-Length: 100\r\n\r\nx`);
  t.strictSame([textOf(stalled.body), stalled.lenient?.problem], ['x', 'the server stopped sending']);
  await t.rejects(fetchStalled(`${OK}Content-Length: 100\r\n`), /the server did not answer in time/);
  const open = await fetchStalled(`${OK}Content-Length: long\r\n\r\n${BODY}`);
  t.equal(textOf(open.body), BODY, 'a body without a length is kept when the server only waits');
  t.equal(open.lenient?.problem, 'the server stopped sending');
  const stop = new AbortController();
  const aborted = fetcherFor(t).fetch({ url: await dripping(OK, 'X'), ...lenient, signal: stop.signal });
  stop.abort(new Error('enough'));
  await t.rejects(aborted, /enough/);
});

t.test('lying sizes of chunks end with a reason and the body before them', async (t) => {
  for (const [wire, body] of [
    ['5\r\nhello, world\r\n0\r\n\r\n', 'hello'],
    ['5\r\nhello\r\nfffffffffffffffff\r\nx', 'hello'],
    ['ffff\r\nhello', 'hello'],
  ] as const) {
    const { base } = await wireServer(t, `${OK}Transfer-Encoding: chunked\r\n\r\n${wire}`);
    const result = await fetcherFor(t).fetch({ url: `${base}/`, keepIncomplete: true, ...LIMITS });
    t.equal(textOf(result.body), body);
    t.match(
      result.lenient?.problem,
      /not the size of a chunk \(RFC 9112 7\.1, offset \d+\)|last chunk is missing/,
    );
  }
  const { base } = await wireServer(t, `${OK}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nx`);
  await t.rejects(
    fetcherFor(t).fetch({ url: `${base}/`, ...LIMITS }),
    /not the size of a chunk \(RFC 9112 7\.1, offset 47\)/,
  );
});

t.test('property: a well-formed message is read as undici reads it', async (t) => {
  let wire = '';
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined).on('data', () => socket.end(wire, 'latin1'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const fetcher = fetcherFor(t);
  const token = fc.stringMatching(/^x-[!#$%&'*+.^_`|~0-9A-Za-z-]{1,12}$/);
  const value = fc.stringMatching(
    /^[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]{0,20}[\x21-\x7e\x80-\xff])?$/,
  );
  await assertProperty(
    fc.asyncProperty(
      fc.array(fc.tuple(token, value), { maxLength: 8 }),
      fc.array(fc.string({ minLength: 1, maxLength: 40, unit: 'binary-ascii' }), { maxLength: 5 }),
      fc.constantFrom('length', 'chunked', 'close'),
      fc.constantFrom(200, 203, 302, 404, 500),
      async (fields, chunks, kind, status) => {
        const body = chunks.join('');
        const framed = {
          length: `Content-Length: ${body.length}\r\n`,
          chunked: 'Transfer-Encoding: chunked\r\n',
          close: '',
        };
        const parts = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`);
        wire = `HTTP/1.1 ${status} Reason\r\n${fields.map(([name, text]) => `${name}: ${text}\r\n`).join('')}${framed[kind]}\r\n`;
        wire += kind === 'chunked' ? `${parts.join('')}0\r\n\r\n` : body;
        const strict = await request(url);
        const plain = (headers: object) => JSON.stringify(Object.entries(headers).sort());
        const expected = [strict.statusCode, await strict.body.text(), plain(plainHeaders(strict.headers))];
        const ours = await fetcher.fetch({ url, ...LIMITS });
        t.strictSame([ours.status, textOf(ours.body), plain(ours.headers)], expected);
        t.strictSame(expected.slice(0, 2), [status, body]);
        t.equal(ours.lenient, undefined, 'no deviation');
      },
    ),
    { numRuns: 100 },
  );
});
