// Names whose owner changes the address between the check and the connection (DNS rebinding): robots.txt,
// documents, redirects, every scheme.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createFetcher, type Fetcher, mustBePublic } from '../../clients/fetch/index.js';
import { parseGathererConf } from '../../protocols/config/index.js';
import { crawlSettingsSchema } from '../../servers/crawler/order/settings.js';
import { RobotsFiles } from '../../servers/crawler/servers/robots-files.js';
import { Gatherer } from '../../servers/gatherer/index.js';
import { fakeNames } from './fake-names.js';

const PUBLIC = '93.184.216.34';
const never = new AbortController().signal;

/** The addresses of a name, one for each look-up; the last one stays. */
const zone = new Map<string, string[]>();
const lookups: string[] = [];

fakeNames((host) => {
  lookups.push(host);
  const addresses = zone.get(host);
  return addresses !== undefined && addresses.length > 1 ? addresses.shift() : addresses?.[0];
});

/** A server on all addresses of loopback that counts its connections and the first line of each. */
async function victim(t: Test): Promise<{ port: number; connections: string[] }> {
  const connections: string[] = [];
  const server = createServer((socket) => {
    const index = connections.push('') - 1;
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      connections[index] ||= chunk.toString('latin1').split('\r\n', 1)[0] ?? '';
      socket.end('HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<title>Inside</title>the router');
    });
  });
  // On :: where the machine has IPv6.
  server.listen(0);
  await once(server, 'listening');
  t.teardown(() => server.close());
  return { port: (server.address() as AddressInfo).port, connections };
}

/** Gathers a RootNode whose document is a local file with these links; returns the outcome. */
async function gatherLinks(t: Test, links: readonly string[]) {
  const anchors = links.map((href) => `<a href="${href}">x</a>`).join(' ');
  const directory = t.testdir({ pages: { 'index.html': `<title>Start</title>${anchors}` } });
  return run(
    directory,
    `Local-Mapping: http://start.example/ ${join(directory, 'pages')}/\n`,
    'http://start.example/index.html URL=100,/dev/null Host=50 Access=HTTP|FTP|GOPHER Delay=0',
  );
}

async function run(directory: string, lines: string, root: string) {
  const text = `Gatherer-Name: Test\nAccess-Delay: 0\n${lines}<RootNodes>\n${root}\n</RootNodes>\n`;
  const { config } = parseGathererConf(text, 'test.cf', {});
  await using gatherer = await Gatherer.open({
    directory: join(directory, 'data'),
    config,
    essenceWorkers: 0,
    retryDelayMs: 5,
    maxRetries: 2,
    connectTimeoutMs: 2000,
  });
  return await gatherer.run(AbortSignal.timeout(60_000));
}

t.test('G-174: a link to a name rebound to a private address reaches not even robots.txt', async (t) => {
  const { port, connections } = await victim(t);
  for (const inside of ['127.0.0.1', '127.9.8.7', '::1', '::ffff:127.0.0.1', '0.0.0.0', '::']) {
    zone.clear();
    zone.set('rebind.example', [PUBLIC, inside]);
    const { counts } = await gatherLinks(t, [`http://rebind.example:${port}/`]);
    t.match(counts, { summarized: 1, failed: 1 }, inside);
  }
  for (const scheme of ['https', 'ftp', 'gopher']) {
    zone.set('rebind.example', [PUBLIC, '127.0.0.1']);
    await gatherLinks(t, [`${scheme}://rebind.example:${port}/1/x`]);
  }
  t.same(connections, []);
});

t.test('G-174: a RootNode that was public at the start is not followed to a private address', async (t) => {
  const { port, connections } = await victim(t);
  zone.set('own.example', [PUBLIC, '127.0.0.1']);
  await run(t.testdir(), '', `http://own.example:${port}/ URL=100,/dev/null Delay=0`);
  t.same(connections, []);
  zone.set('own.example', ['127.0.0.1']);
  const { counts } = await run(t.testdir(), '', `http://own.example:${port}/ URL=100,/dev/null Delay=0`);
  t.match(counts, { summarized: 1 }, 'a RootNode that names a private host is gathered');
  t.same(connections, ['GET /robots.txt HTTP/1.1', 'GET / HTTP/1.1']);
});

t.test('G-174: robots.txt has the allowance of its document, and attempts of its own', async (t) => {
  const { port, connections } = await victim(t);
  zone.set('rebind.example', ['127.0.0.1']);
  await using fetcher = createFetcher({ userAgent: 'x' });
  const robots = new RobotsFiles({ fetcher, timeoutMs: 5000 });
  const settings = crawlSettingsSchema.parse({ minDelayMs: 0 });
  const origin = `http://rebind.example:${port}`;
  const [strict, free] = await Promise.allSettled([
    robots.fetch(origin, settings, never, true),
    robots.fetch(origin, settings, never, false),
  ]);
  t.match(strict, { status: 'rejected', reason: { code: 'ERR_REFUSED' } });
  t.match(free, { status: 'fulfilled', value: { status: 200 } });
  t.equal(connections.length, 1);
  t.equal(robots.get(origin, settings)?.state, 'rules');
});

const PRIVATE_FORMS = `
  0.0.0.0 0.1.2.3 10.0.0.5 100.64.0.1 100.127.255.254 127.0.0.1 127.1.2.3 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.8
  192.168.1.1 198.18.0.1 198.19.255.255 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255
  :: ::1 ::ffff:10.0.0.5 ::ffff:7f00:1 ::ffff:a9fe:a9fe 64:ff9b::10.0.0.5 64:ff9b::7f00:1 64:ff9b:1::1 2002:a00:5::1 2002:7f00:1::
  2002:c0a8:101::1 fc00::1 fd12:3456::1 fe80::1 fe80::1%eth0 febf::1 fec0::1 ff02::1 ff0e::1
  ::10.0.0.5 ::127.0.0.1 ::ffff:0:127.0.0.1 2001:0:4136:e378:8000:63bf:80ff:fffe
`
  .trim()
  .split(/\s+/);

t.test('G-174: every form of a private address is refused after the look-up, for every scheme', async (t) => {
  await using fetcher = createFetcher({ userAgent: 'x', connectTimeoutMs: 1000 });
  const urls = ['http', 'https', 'ftp', 'gopher', 'nntp'].map((scheme) =>
    scheme === 'nntp' ? 'nntp://rebind.example/comp.test' : `${scheme}://rebind.example/1/x`,
  );
  for (const address of PRIVATE_FORMS) {
    zone.set('rebind.example', [address]);
    for (const url of urls)
      await t.rejects(
        fetcher.fetch({ url, publicOnly: true }),
        { code: 'ERR_REFUSED' },
        `${url} at ${address}`,
      );
  }
  for (const url of [
    'http://2130706433/',
    'http://0x7f.1/',
    'http://[::ffff:7f00:1]/',
    'gopher://0x7f000001/1/',
  ]) {
    zone.set('0x7f000001', ['127.0.0.1']);
    const canonical = new URL(url).href;
    await t.rejects(fetcher.fetch({ url: canonical, publicOnly: true }), { code: 'ERR_REFUSED' }, url);
  }
});

t.test('G-174: an address that was checked is the one that is connected to', async (t) => {
  const { port, connections } = await victim(t);
  await using fetcher: Fetcher = createFetcher({ userAgent: 'x', connectTimeoutMs: 300 });
  for (const url of [
    `http://rebind.example:${port}/`,
    `https://rebind.example:${port}/`,
    `ftp://rebind.example:${port}/x`,
    `gopher://rebind.example:${port}/1/`,
    `nntp://rebind.example:${port}/comp.test`,
  ]) {
    // TEST-NET-1 is public here and answers nothing.
    zone.set('rebind.example', ['192.0.2.1', '127.0.0.1']);
    lookups.length = 0;
    await t.rejects(fetcher.fetch({ url, publicOnly: true }), { code: 'ERR_CONNECTION' }, url);
    t.equal(lookups.length, 1, `${url}: one look-up`);
  }
  t.same(connections, []);
});

t.test('G-174: mustBePublic', (t) => {
  const known = {
    addresses: (host: string) =>
      ({
        'own.example': [PUBLIC],
        'inside.example': ['10.1.1.1'],
        'pinned.example': ['10.1.1.1'],
        'both.example': [PUBLIC, '10.1.1.1'],
      })[host] ?? [],
    isPinned: (host: string) => host === 'pinned.example',
    isConfigured: (host: string) => /^(?:own|inside|both|new)\.example$/.test(host),
  };
  const rows: [string, string, boolean][] = [
    ['', 'http://own.example/', true],
    ['', 'http://inside.example/', false],
    ['', 'http://both.example/', false],
    ['', 'http://new.example/', false],
    ['http://stranger.example/', 'http://own.example/', true],
    ['http://stranger.example/', 'http://inside.example/', false],
    ['http://stranger.example/', 'http://other.example/', true],
    ['http://inside.example/', 'http://other.example/', false],
    ['file:///x', 'http://other.example/', false],
    ['http://both.example/', 'http://10.1.1.1/', true],
    ['http://pinned.example/', 'http://10.1.1.1/', true],
  ];
  for (const [from, to, expected] of rows)
    t.equal(mustBePublic(from, to, known), expected, `${from} -> ${to}`);
  t.end();
});
