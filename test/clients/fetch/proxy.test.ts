// Requests through SOCKS and HTTP proxies, chosen by request (RFC 1928, 1929; RFC 9110 11.7).
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import t, { type Test } from 'tap';
import { createFetcher, type FetcherOptions, parseProxy } from '../../../clients/fetch/index.js';
import { Site } from '../../helpers/site.js';
import { SocksServer } from '../../helpers/socks-server.js';
import { TLS_CERTIFICATE, TLS_KEY } from '../../helpers/tls.js';
import { scripted } from './scripted.js';

function fetcherFor(t: Test, options: Partial<FetcherOptions> = {}) {
  const fetcher = createFetcher({ userAgent: 'x', ca: TLS_CERTIFICATE, ...options });
  t.teardown(() => fetcher.close());
  return fetcher;
}

async function socks(t: Test, login?: string): Promise<SocksServer> {
  const server = await SocksServer.start(login);
  t.teardown(() => server[Symbol.asyncDispose]());
  return server;
}

async function site(t: Test): Promise<Site> {
  const started = await Site.start({ '/': 'page', '/robots.txt': '' });
  t.teardown(() => started[Symbol.asyncDispose]());
  return started;
}

const text = (body: Uint8Array): string => Buffer.from(body).toString();

t.test('RFC 1928: names are looked up by the proxy, for SOCKS 5 and 4a', async (t) => {
  const server = await socks(t);
  const { port } = await site(t);
  const fetcher = fetcherFor(t);
  for (const kind of ['socks5', 'socks5h', 'socks4', 'socks4a']) {
    server.targets.length = 0;
    const proxy = `${kind}://127.0.0.1:${server.port}`;
    const result = await fetcher.fetch({ url: `http://far.invalid:${port}/`, proxy });
    t.equal(text(result.body), 'page');
    t.equal(result.remoteAddress, undefined, 'the address of the server is not known');
    // Two names of one kind of proxy are different routes.
    t.same(server.targets, [`${kind[5]} far.invalid:${port}`], kind);
  }
});

t.test('RFC 1929: the login of a SOCKS 5 proxy', async (t) => {
  const server = await socks(t, 'user:pass:word');
  const { port } = await site(t);
  const fetcher = fetcherFor(t);
  const request = { url: `http://far.invalid:${port}/`, proxy: `socks5://127.0.0.1:${server.port}` };
  t.equal(text((await fetcher.fetch({ ...request, proxyLogin: 'user:pass:word' })).body), 'page');
  for (const proxyLogin of ['', 'user:wrong'])
    await t.rejects(fetcher.fetch({ ...request, proxyLogin }), {
      code: 'ERR_CONNECTION',
      message: /far\.invalid: the proxy 127\.0\.0\.1:\d+: /,
    });
});

t.test('https goes through SOCKS, and the name of the certificate is checked', async (t) => {
  const server = await socks(t);
  const tls = createTlsServer({ key: TLS_KEY, cert: TLS_CERTIFICATE }, (_, response) =>
    response.end('secure'),
  );
  tls.listen(0, '127.0.0.1');
  await once(tls, 'listening');
  t.teardown(() => {
    tls.closeAllConnections();
    tls.close();
  });
  const { port } = tls.address() as AddressInfo;
  const fetcher = fetcherFor(t);
  const proxy = `socks5://127.0.0.1:${server.port}`;
  const { body } = await fetcher.fetch({ url: `https://127.0.0.1:${port}/`, proxy });
  t.equal(text(body), 'secure');
  await t.rejects(fetcher.fetch({ url: `https://far.invalid:${port}/`, proxy }), {
    code: 'ERR_CONNECTION',
  });
});

t.test('G-84: a request names its proxy, or that it has none', async (t) => {
  const lines: string[] = [];
  const proxy = createServer((request, response) => {
    lines.push(`${request.url} ${request.headers['proxy-authorization'] ?? 'no login'}`);
    response.end('by the proxy');
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.teardown(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  const address = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const { url } = await site(t);
  const fetcher = fetcherFor(t, { httpProxy: address });
  t.equal(text((await fetcher.fetch({ url: `${url}/` })).body), 'by the proxy');
  t.equal(text((await fetcher.fetch({ url: `${url}/`, proxy: 'direct' })).body), 'page');
  const login = `Basic ${Buffer.from('u:p').toString('base64')}`;
  lines.length = 0;
  const named = { proxy: `http://${address}`, proxyLogin: 'u:p' };
  t.equal(text((await fetcher.fetch({ url: `${url}/a`, ...named })).body), 'by the proxy');
  t.same(lines, [`${url}/a ${login}`]);
});

t.test('RFC 9110 11.7: the login is in CONNECT, not in the tunnel', async (t) => {
  const heads: string[] = [];
  const proxy = await scripted(t, (socket: Socket) => {
    socket.once('data', (chunk) => {
      heads.push(chunk.toString());
      socket.end('HTTP/1.1 407 no\r\n\r\n');
    });
  });
  const fetcher = fetcherFor(t);
  await t.rejects(
    fetcher.fetch({
      url: 'https://far.invalid/',
      proxy: `127.0.0.1:${proxy.port}`,
      proxyLogin: 'u:p',
    }),
    { code: 'ERR_CONNECTION' },
  );
  t.equal(heads.length, 1);
  for (const head of heads) t.match(head, /^CONNECT far\.invalid:443.*proxy-authorization: Basic dTpw\r\n/is);
});

t.test('G-174: no name that is private here is asked of a proxy', async (t) => {
  const server = await socks(t);
  const { port } = await site(t);
  const proxy = `socks5://127.0.0.1:${server.port}`;
  await t.rejects(fetcherFor(t).fetch({ url: `http://127.0.0.1:${port}/`, proxy, publicOnly: true }), {
    code: 'ERR_REFUSED',
  });
  t.same(server.targets, []);
});

t.test('a proxy that does not answer ends the request, and so does an abort', async (t) => {
  const proxy = await scripted(t, () => undefined);
  const fetcher = fetcherFor(t, { connectTimeoutMs: 300 });
  const request = { url: 'http://far.invalid/', proxy: `socks5://127.0.0.1:${proxy.port}` };
  await t.rejects(fetcher.fetch(request), { code: 'ERR_CONNECTION', message: /the proxy/ });
  const abort = new AbortController();
  const pending = fetcher.fetch({ ...request, signal: abort.signal });
  abort.abort(new Error('stopped'));
  await t.rejects(pending, { message: 'stopped' });
});

t.test('the address of a proxy', async (t) => {
  t.same(parseProxy('h:8080'), { kind: 'http', host: 'h', port: 8080 });
  t.same(parseProxy('http://h'), { kind: 'http', host: 'h', port: 80 });
  t.same(parseProxy('socks5://[::1]'), { kind: 'socks5', host: '::1', port: 1080 });
  t.same(parseProxy('socks4a://h:1', 'u:p:q'), {
    kind: 'socks4',
    host: 'h',
    port: 1,
    login: { user: 'u', password: 'p:q' },
  });
  for (const wrong of ['', 'ftp://h', 'https://h', 'http://u:p@h', 'socks5://h/path', 'h:99999', 'a b'])
    t.throws(() => parseProxy(wrong), { code: 'ERR_USAGE' }, JSON.stringify(wrong));
});
