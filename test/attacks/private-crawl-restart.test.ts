// G-174 over restarts: a crawl of private hosts that is killed keeps its queue, and a public page never leads
// inside, before a kill or after it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';

const PROGRAM = new URL('./private-crawl.js', import.meta.url).pathname;
const HOSTS = Array.from({ length: 12 }, (_, i) => `h${i + 2}.inside`);
const PAGES = 14;

interface Inside {
  readonly port: number;
  /** `host/path` of each request for a page. */
  readonly requests: string[];
}

/** A server on all addresses of loopback. `answer` returns the links of a page. */
async function serve(t: Test, linksOf: (host: string, path: string) => readonly string[]): Promise<Inside> {
  const requests: string[] = [];
  const server = createServer((request, response: ServerResponse) => {
    const path = request.url ?? '/';
    if (path === '/robots.txt') {
      response.writeHead(404).end();
      return;
    }
    const host = (request.headers.host ?? '').replace(/:\d+$/, '');
    requests.push(host + path);
    const anchors = linksOf(host, path).map((href) => `<a href="${href}">x</a>`);
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end(`<title>${host}${path}</title>${anchors.join(' ')}`);
  });
  server.listen(0);
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, requests };
}

/** Runs the crawl; kills it after `killAt` documents. Returns its report, or undefined if it was killed. */
async function crawl(
  directory: string,
  root: string,
  { killAt = Number.POSITIVE_INFINITY, zone = '', lines = '' } = {},
): Promise<{ counts: Record<string, number>; end: string } | undefined> {
  const config = `Gatherer-Name: Inside\nGatherer-Host: g.example.org\n${lines}<RootNodes>\n${root}\n</RootNodes>\n`;
  const child = spawn(process.execPath, [PROGRAM, directory, config], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ZONE: zone },
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  let documents = 0;
  child.stderr.on('data', (chunk: Buffer) => {
    documents += chunk.toString().split('\n').length - 1;
    if (documents >= killAt) child.kill('SIGKILL');
  });
  const [code] = await once(child, 'close');
  return code === 0 ? JSON.parse(output) : undefined;
}

t.test('a crawl of twelve private hosts fetches the same pages with and without kills', async (t) => {
  const port = { value: 0 };
  const link = (host: number, page: number) =>
    `http://${HOSTS[host % HOSTS.length]}:${port.value}/p${page % PAGES}`;
  const inside = await serve(t, (host, path) => {
    const here = HOSTS.indexOf(host);
    const page = Number(/\d+/.exec(path)?.[0] ?? 0);
    return [link(here, page + 1), link(here + 1, page), link(here + 5, page + 3), link(here, 2 * page)];
  });
  port.value = inside.port;
  const root = `http://${HOSTS[0]}:${inside.port}/p0 URL=1000,/dev/null Host=100,/dev/null Depth=1000 Delay=0`;
  const whole = await crawl(join(t.testdir(), 'whole'), root);
  t.match(whole, { end: 'finished', counts: { summarized: HOSTS.length * PAGES, failed: 0 } });
  const expected = [...new Set(inside.requests)].sort();
  t.equal(expected.length, HOSTS.length * PAGES);

  inside.requests.length = 0;
  const directory = join(t.testdir(), 'killed');
  let kills = 0;
  for (const killAt of [5, 20, 35, 30]) {
    const report = await crawl(directory, root, { killAt });
    if (report === undefined) kills++;
  }
  t.ok(kills >= 2, `${kills} kills`);
  const last = await crawl(directory, root);
  t.match(last, { end: 'finished', counts: { failed: 0 } });
  t.same([...new Set(inside.requests)].sort(), expected);
});

t.test('G-174: a link of a public page does not become a private one by a restart', async (t) => {
  const inside = await serve(t, () => []);
  const links = ['rebind.example', 'second.example'].map((host) => `http://${host}:${inside.port}/`);
  const anchors = links.map((href) => `<a href="${href}">x</a>`).join(' ');
  const directory = t.testdir({ pages: { 'index.html': `<title>Start</title>${anchors}` } });
  const lines = `Local-Mapping: http://start.example/ ${join(directory, 'pages')}/\n`;
  const root = 'http://start.example/index.html URL=100,/dev/null Host=50 Depth=10 Delay=0';
  const data = join(directory, 'data');
  // Addresses of documentation, which no host has.
  const before = 'start.example=203.0.113.1,rebind.example=203.0.113.2,second.example=203.0.113.3';
  t.equal(await crawl(data, root, { lines, zone: before, killAt: 1 }), undefined);
  // Now the owner of the names points all of them, that of the page included, to the inside.
  const after = 'start.example=127.0.0.4,rebind.example=127.0.0.5,second.example=127.0.0.6';
  t.match(await crawl(data, root, { lines, zone: after }), { end: 'finished', counts: { failed: 2 } });
  t.same(inside.requests, []);
});
