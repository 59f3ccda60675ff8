// Tests the HTTP fetcher against local servers: headers, codings, limits, time-outs, connections, logins,
// proxy.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { parseHttpDate, splitContentType } from '../../../clients/fetch/headers.js';
import { createFetcher, type FetcherOptions, fetchFollowing } from '../../../clients/fetch/index.js';
import { freePort } from '../../helpers/daemon.js';
import { inputRead, ManualClock, timerOf, until } from '../../helpers/manual-clock.js';

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();
const LIMITS = { maxBytes: 100_000, timeoutMs: 20_000 };

/** A server on a free loopback port; both it and its connections end with the test. */
async function serve(t: Test, handler: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(handler);
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  const base = await listen(server);
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { base, connections: () => connections };
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  return `http://127.0.0.1:${address.port}`;
}

function fetcherFor(t: Test, options: Partial<FetcherOptions> = {}) {
  const fetcher = createFetcher({ userAgent: 'Harvest/0.0 harvest-kit/0.0', ...options });
  t.teardown(() => fetcher.close());
  return fetcher;
}

t.test('G-65, G-80: a fetch returns the page with its headers, and sends its own', async (t) => {
  let seen: IncomingMessage['headers'] = {};
  const { base } = await serve(t, (request, response) => {
    seen = request.headers;
    response.writeHead(200, {
      'Content-Type': 'Text/HTML; Charset="UTF-8"',
      'Last-Modified': 'Sun, 06 Nov 1994 08:49:37 GMT',
      ETag: '"abc"',
      'X-Two': ['a', 'b'],
    });
    response.end(`you asked ${request.url}`);
  });
  const fetcher = fetcherFor(t, { from: 'robot@h.example' });
  const result = await fetcher.fetch({ url: `${base}/%7ejoe/?a=%20b`, ...LIMITS });
  t.match(result, {
    url: `${base}/%7ejoe/?a=%20b`,
    status: 200,
    contentType: 'text/html',
    charset: 'utf-8',
    lastModified: 784111777,
    etag: '"abc"',
    truncated: false,
    local: false,
    remoteAddress: '127.0.0.1',
    headers: { 'x-two': 'a, b' },
  });
  t.equal(text(result.body), 'you asked /%7ejoe/?a=%20b');
  t.equal(result.body.buffer.byteLength, result.body.length, 'the body does not share its buffer');
  t.ok(result.endTime >= result.beginTime);
  t.match(seen, {
    'user-agent': 'Harvest/0.0 harvest-kit/0.0',
    from: 'robot@h.example',
    'accept-encoding': 'gzip, br, deflate',
  });
  t.notOk('cookie' in seen);
  t.notOk('if-none-match' in seen || 'if-modified-since' in seen);
});

t.test('RFC 6265bis: further headers are sent, and each Set-Cookie is a value of its own', async (t) => {
  let seen: IncomingMessage['headers'] = {};
  const { base } = await serve(t, (request, response) => {
    seen = request.headers;
    const cookies = request.url === '/two' ? ['a=1; Expires=Wed, 01 Jan 2031 00:00:00 GMT', 'b=2'] : ['c=3'];
    response.writeHead(200, request.url === '/none' ? {} : { 'set-cookie': cookies }).end();
  });
  const fetcher = fetcherFor(t);
  const extraHeaders = { cookie: 'sid=\xe9', accept: 'text/html' };
  const two = await fetcher.fetch({ url: `${base}/two`, extraHeaders, ...LIMITS });
  t.same(two.setCookies, ['a=1; Expires=Wed, 01 Jan 2031 00:00:00 GMT', 'b=2']);
  t.match(seen, { cookie: 'sid=\xe9', accept: 'text/html' });
  t.same((await fetcher.fetch({ url: `${base}/one`, ...LIMITS })).setCookies, ['c=3']);
  t.equal(seen.cookie, undefined, 'the fetcher itself keeps none');
  t.notOk('setCookies' in (await fetcher.fetch({ url: `${base}/none`, ...LIMITS })));
});

t.test('redirects are reported, not followed; 404 is a result, not an error', async (t) => {
  const { base } = await serve(t, (request, response) => {
    if (request.url === '/old') response.writeHead(302, { Location: '../new#frag' });
    else if (request.url === '/bad') response.writeHead(301, { Location: 'mailto:x' });
    else response.writeHead(404);
    response.end('short');
  });
  const fetcher = fetcherFor(t);
  t.match(await fetcher.fetch({ url: `${base}/old`, ...LIMITS }), { status: 302, location: `${base}/new` });
  t.equal((await fetcher.fetch({ url: `${base}/bad`, ...LIMITS })).location, undefined);
  t.match(await fetcher.fetch({ url: `${base}/none`, ...LIMITS }), {
    status: 404,
    lastModified: 0,
    etag: '',
  });
});

t.test('G-106: a conditional request sends both validators and returns 304', async (t) => {
  const { base } = await serve(t, (request, response) => {
    const { 'if-none-match': tag, 'if-modified-since': since } = request.headers;
    const unchanged = tag === '"v1"' && since === 'Sun, 06 Nov 1994 08:49:37 GMT';
    response.writeHead(unchanged ? 304 : 200, { ETag: '"v1"' });
    response.end(unchanged ? undefined : 'new');
  });
  const headers = { etag: '"v1"', lastModified: 784111777 };
  const result = await fetcherFor(t).fetch({ url: `${base}/`, headers, ...LIMITS });
  t.match(result, { status: 304, etag: '"v1"' });
  t.equal(result.body.length, 0);
});

t.test('content codings are decoded; unknown and damaged ones are errors', async (t) => {
  const plain = 'words '.repeat(500);
  const answers: Record<string, [coding: string, body: Buffer]> = {
    '/gzip': ['gzip', gzipSync(plain)],
    '/x-gzip': ['X-GZip', gzipSync(plain)],
    '/br': ['br', brotliCompressSync(plain)],
    '/zlib': ['deflate', deflateSync(plain)],
    '/raw': ['deflate', deflateRawSync(plain)],
    '/two': ['gzip, br', brotliCompressSync(gzipSync(plain))],
    '/identity': ['identity', Buffer.from(plain)],
    '/cut': ['gzip', gzipSync(plain).subarray(0, -8)],
    '/unknown': ['zstd', Buffer.from('x')],
    '/damaged': ['gzip', gzipSync(plain).fill(0xff, 12, 40)],
  };
  const { base } = await serve(t, (request, response) => {
    const [coding = '', body] = answers[request.url ?? ''] ?? [];
    response.writeHead(200, { 'Content-Encoding': coding });
    response.end(body);
  });
  const fetcher = fetcherFor(t);
  for (const path of ['/gzip', '/x-gzip', '/br', '/zlib', '/raw', '/two', '/identity', '/cut']) {
    const result = await fetcher.fetch({ url: base + path, ...LIMITS });
    t.equal(text(result.body), plain, path);
    t.equal(result.truncated, false, path);
  }
  await t.rejects(fetcher.fetch({ url: `${base}/unknown`, ...LIMITS }), { code: 'ERR_CONNECTION' });
  await t.rejects(fetcher.fetch({ url: `${base}/damaged`, ...LIMITS }), { code: 'ERR_CONNECTION' });
});

t.test('G-174: decompression stops at the maximum size and at the maximum ratio', async (t) => {
  const bomb = gzipSync(Buffer.alloc(32 * 1024 * 1024));
  const large = gzipSync(Buffer.alloc(3 * 1024 * 1024, 'The quick brown fox. '));
  const { base } = await serve(t, (request, response) => {
    response.writeHead(200, { 'Content-Encoding': 'gzip' });
    response.end(request.url === '/bomb' ? bomb : large);
  });
  const fetcher = fetcherFor(t);
  const small = await fetcher.fetch({ url: `${base}/bomb`, ...LIMITS });
  t.same([small.body.length, small.truncated], [100_000, true], 'the maximum size');
  const ratio = await fetcher.fetch({ url: `${base}/bomb`, timeoutMs: 20_000, maxBytes: 1e9 });
  t.same([ratio.body.length, ratio.truncated], [bomb.length * 200, true], 'the maximum ratio of 200');
  const generous = fetcherFor(t, { maxRatio: 1100 });
  const whole = await generous.fetch({ url: `${base}/large`, timeoutMs: 20_000, maxBytes: 1e9 });
  t.same([whole.body.length, whole.truncated], [3 * 1024 * 1024, false], 'a body too large for one call');
});

t.test('G-86: a long body is cut; the connection is kept if the rest is short', async (t) => {
  const { base, connections } = await serve(t, (request, response) => {
    const length = Number(request.url?.slice(1));
    response.writeHead(200, { 'Content-Length': length });
    response.end(Buffer.alloc(length, 'x'));
  });
  const fetcher = fetcherFor(t);
  const get = (length: number) => fetcher.fetch({ url: `${base}/${length}`, ...LIMITS });
  t.match(await get(100_000), { truncated: false });
  const shortRest = await get(100_001);
  t.same([shortRest.truncated, shortRest.body.length], [true, 100_000]);
  t.match(await get(150_000), { truncated: true });
  t.equal(connections(), 1, 'a short rest keeps the connection');
  const longRest = await get(50_000_000);
  t.same([longRest.truncated, longRest.body.length], [true, 100_000]);
  t.match(await get(5), { truncated: false });
  t.equal(connections(), 2, 'a long rest closes the connection');
});

t.test('keep-alive: one connection per host by default, more by option', async (t) => {
  const { base, connections } = await serve(t, (_, response) => response.end('x'));
  const urls = Array.from({ length: 20 }, (_, i) => `${base}/${i}`);
  const one = fetcherFor(t);
  await Promise.all(urls.map((url) => one.fetch({ url, ...LIMITS })));
  t.equal(connections(), 1);
  const four = fetcherFor(t, { maxConnectionsPerHost: 4 });
  await Promise.all(urls.map((url) => four.fetch({ url, ...LIMITS })));
  t.equal(connections(), 5);
});

t.test('G-85: silence and a body that exceeds the deadline are errors', async (t) => {
  let hasStalled = false;
  const { base } = await serve(t, (request, response) => {
    if (request.url === '/silent') return;
    response.writeHead(200, { 'Content-Length': 10 });
    response.write('half ', () => {
      hasStalled = true;
    });
  });
  const clock = new ManualClock();
  const fetcher = fetcherFor(t, { clock });
  const quick = { maxBytes: 100, timeoutMs: 50 };
  const silent = fetcher.fetch({ url: `${base}/silent`, ...quick });
  await timerOf(clock, 50);
  clock.advance(50);
  await t.rejects(silent, {
    code: 'ERR_CONNECTION',
    message: /did not answer in time/,
  });
  const stalled = fetcher.fetch({ url: `${base}/stalls`, ...quick });
  await until(() => hasStalled);
  await inputRead();
  clock.advance(50);
  await t.rejects(stalled, {
    code: 'ERR_CONNECTION',
    message: /stopped sending/,
  });
  const impatient = fetcherFor(t, { maxTransferMs: 50, clock });
  const late = impatient.fetch({ url: `${base}/stalls`, ...LIMITS });
  await timerOf(clock, 50);
  clock.advance(50);
  await t.rejects(late, {
    code: 'ERR_CONNECTION',
    message: /not done within 50 ms/,
  });
});

t.test('a request that is aborted before its kept connection is used is not sent', async (t) => {
  const paths: (string | undefined)[] = [];
  const { base } = await serve(t, (request, response) => {
    paths.push(request.url);
    response.end('x');
  });
  const fetcher = fetcherFor(t);
  await fetcher.fetch({ url: `${base}/a`, ...LIMITS });
  const controller = new AbortController();
  const aborted = fetcher.fetch({ url: `${base}/b`, ...LIMITS, signal: controller.signal });
  controller.abort(new Error('enough'));
  await t.rejects(aborted, /enough/);
  await fetcher.fetch({ url: `${base}/c`, ...LIMITS });
  t.strictSame(paths, ['/a', '/c']);
});

t.test('an abort ends an active and a queued request', async (t) => {
  const arrived = new Set<string>();
  const { base } = await serve(t, (request, response) => {
    arrived.add(request.url ?? '');
    if (request.url === '/last') response.end('ok');
    else controller.abort(new Error('enough'));
  });
  const controller = new AbortController();
  const fetcher = fetcherFor(t);
  const fetches = ['/first', '/second'].map((path) =>
    fetcher.fetch({ url: base + path, signal: controller.signal, ...LIMITS }),
  );
  for (const result of await Promise.allSettled(fetches)) {
    t.match(result, { status: 'rejected', reason: { message: 'enough' } });
  }
  await t.rejects(fetcher.fetch({ url: base, signal: controller.signal, ...LIMITS }), { message: 'enough' });
  t.equal(text((await fetcher.fetch({ url: `${base}/last`, ...LIMITS })).body), 'ok');
  t.same([...arrived], ['/first', '/last']);
});

t.test('network failures are ConnectionErrors with a reason', async (t) => {
  const broken = createTcpServer((socket: Socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nnot fifty'));
  });
  broken.listen(0, '127.0.0.1');
  await once(broken, 'listening');
  t.teardown(() => broken.close());
  const { port } = broken.address() as AddressInfo;
  const fetcher = fetcherFor(t);
  await t.rejects(fetcher.fetch({ url: `http://127.0.0.1:${port}/`, ...LIMITS }), {
    code: 'ERR_CONNECTION',
    message: /the server broke the connection/,
  });
  const closedPort = await freePort();
  await t.rejects(fetcher.fetch({ url: `http://u:secret@127.0.0.1:${closedPort}/`, ...LIMITS }), {
    code: 'ERR_CONNECTION',
    message: new RegExp(`^127\\.0\\.0\\.1:${closedPort}: connection refused`),
  });
});

t.test('G-81, G-82: credentials come from the URL or from the realm', async (t) => {
  const authorizations: (string | undefined)[] = [];
  const { base } = await serve(t, (request, response) => {
    const { authorization } = request.headers;
    authorizations.push(authorization);
    if (authorization === `Basic ${Buffer.from('joe:pw').toString('base64')}`) return void response.end('in');
    response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="My Realm", charset="UTF-8"' });
    response.end();
  });
  const fetcher = fetcherFor(t, {
    httpBasicAuth: [{ urls: [`${base}/`], realm: 'My Realm', user: 'joe', password: 'pw' }],
  });
  t.match(await fetcher.fetch({ url: `${base}/a`, ...LIMITS }), { status: 200 });
  t.match(await fetcher.fetch({ url: `${base}/b`, ...LIMITS }), { status: 200 });
  t.equal(authorizations.length, 3, 'the second page is requested with credentials at first');
  t.match(await fetcherFor(t).fetch({ url: `${base}/`, ...LIMITS }), { status: 401 });
  const url = base.replace('//', '//joe:p%77@');
  t.match(await fetcherFor(t).fetch({ url: `${url}/`, ...LIMITS }), { status: 200 });
});

t.test('G-84: a proxy gets the full URL for http, and CONNECT for https', async (t) => {
  const requests: string[] = [];
  const proxy = createServer((request, response) => {
    requests.push(`${request.method} ${request.url} ${request.headers.host}`);
    response.end('through the proxy');
  });
  proxy.on('connect', (request, socket) => {
    requests.push(`CONNECT ${request.url}`);
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  });
  const base = await listen(proxy);
  t.teardown(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  const fetcher = fetcherFor(t, { httpProxy: base.slice('http://'.length) });
  const result = await fetcher.fetch({ url: 'http://origin.invalid/a?b', ...LIMITS });
  t.equal(text(result.body), 'through the proxy');
  await t.rejects(fetcher.fetch({ url: 'https://origin.invalid/', ...LIMITS }), { code: 'ERR_CONNECTION' });
  t.same(requests, ['GET http://origin.invalid/a?b origin.invalid', 'CONNECT origin.invalid:443']);
});

t.test('close ends the requests in progress', async (t) => {
  let onRequest: () => void = () => {};
  const waiting = new Promise<void>((resolve) => {
    onRequest = resolve;
  });
  const { base } = await serve(t, () => onRequest());
  const fetcher = createFetcher({ userAgent: 'x' });
  const pending = t.rejects(fetcher.fetch({ url: base, ...LIMITS }), {
    code: 'ERR_CONNECTION',
    message: /closed/,
  });
  await waiting;
  await fetcher.close();
  await pending;
  await t.rejects(fetcher.fetch({ url: base, ...LIMITS }), { code: 'ERR_STATE' });
});

t.test('an unknown scheme is an error; a registered fetcher is used and closed', async (t) => {
  const fetcher = fetcherFor(t);
  await t.rejects(fetcher.fetch({ url: 'wais://h.example/1', ...LIMITS }), {
    code: 'ERR_USAGE',
    message: /wais: URLs are not supported/,
  });
  let closed = false;
  const ftp = {
    fetch: async (request: { url: string }) => ({
      url: request.url,
      status: 200,
      headers: {},
      lastModified: 0,
      etag: '',
      body: new Uint8Array(0),
      truncated: false,
      local: false,
      beginTime: 0,
      endTime: 0,
    }),
    close: async () => {
      closed = true;
    },
    [Symbol.asyncDispose]: async () => {},
  };
  const extended = createFetcher({ userAgent: 'x', schemes: { ftp } });
  t.match(await extended.fetch({ url: 'ftp://h.example/', ...LIMITS }), { status: 200 });
  await extended.close();
  t.ok(closed);
});

t.test('parseHttpDate reads the three formats of HTTP, splitContentType separates the charset', async (t) => {
  t.equal(parseHttpDate('Sun, 06 Nov 1994 08:49:37 GMT'), 784111777);
  t.equal(parseHttpDate('Sunday, 06-Nov-94 08:49:37 GMT'), 784111777);
  t.equal(parseHttpDate('Sun Nov  6 08:49:37 1994'), 784111777);
  for (const wrong of [undefined, '', '0', '-1', 'now', '1994', 'Thu, 99 Foo 1994 00:00:00 GMT']) {
    t.equal(parseHttpDate(wrong), 0, String(wrong));
  }
  t.same(splitContentType('text/plain; format=flowed; charset=iso-8859-1'), {
    contentType: 'text/plain',
    charset: 'iso-8859-1',
  });
  t.same(splitContentType(undefined), {});
  t.same(splitContentType('rubbish'), {});
});

t.test('G-81: a redirect brings no login, and keeps that of its own server', async (t) => {
  const sent: string[] = [];
  const serveAs = async (name: string): Promise<string> => {
    const { base } = await serve(t, (request, response) => {
      sent.push(`${name}${request.url} ${request.headers.authorization ?? 'none'}`);
      const location = targets.get(`${name}${request.url}`);
      if (location === undefined) response.end();
      else response.writeHead(302, { location }).end();
    });
    return base.slice('http://'.length);
  };
  const [a, b] = [await serveAs('a'), await serveAs('b')];
  const targets = new Map([
    ['a/1', '/2'],
    ['a/2', `http://evil:planted@${a}/3`],
    ['a/3', `http://evil:planted@${b}/4`],
    ['b/4', `//a@b:c@${a}/`],
  ]);
  await using fetcher = createFetcher({ userAgent: 'x' });
  await fetchFollowing(fetcher, { url: `http://joe:x@${a}/1` });
  const login = `Basic ${Buffer.from('joe:x').toString('base64')}`;
  t.strictSame(sent, [`a/1 ${login}`, `a/2 ${login}`, `a/3 ${login}`, 'b/4 none', 'a/ none']);
});

t.test(
  'RFC 9112 9.3: a kept connection that the server ends is replaced, a request is never repeated',
  async (t) => {
    const clock = new ManualClock();
    const { base, connections } = await serve(t, (request, response) => {
      if (request.url === '/lost') request.socket.destroy();
      else
        response
          .writeHead(200, { 'Keep-Alive': request.url === '/short' ? 'timeout=1' : 'timeout=5, max=9' })
          .end('x');
    });
    const fetcher = fetcherFor(t, { clock });
    const fetchAll = async (...paths: string[]) => {
      for (const path of paths) await fetcher.fetch({ url: base + path, ...LIMITS });
      return connections();
    };
    t.equal(await fetchAll('/a', '/b'), 1, 'kept');
    clock.advance(4000);
    t.equal(await fetchAll('/c'), 2, 'not in the last second that the server announces');
    t.equal(await fetchAll('/short', '/d'), 3, 'not after an announcement of one second');
    await t.rejects(fetcher.fetch({ url: `${base}/lost`, ...LIMITS }), /the server broke the connection/);
    t.equal(connections(), 3, 'the request is not repeated');
    t.equal(await fetchAll('/e'), 4);
  },
);
