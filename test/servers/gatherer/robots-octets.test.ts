// robots.txt of a plain Gatherer, over sockets (G-63): RFC 9309 as it stands, octets in any encoding, and 429.
import t from 'tap';
import { gather, unlimitedRoot } from '../../helpers/gather-peers/gather.js';
import { page, Site } from '../../helpers/site.js';

/** Serves these octets as robots.txt, and a page that links these paths; returns those that a Gatherer requests. */
async function requested(directory: string, robots: string, paths: readonly string[]): Promise<string[]> {
  await using site = await Site.start({
    ...Object.fromEntries(paths.map((path) => [path, page('Document', [])])),
    '/': page('Start', paths),
    '/robots.txt': (_, response) =>
      response.writeHead(200, { 'content-type': 'text/plain' }).end(Buffer.from(robots, 'latin1')),
  });
  await gather(directory, { roots: [unlimitedRoot(`${site.url}/`)] });
  return site.paths.filter((path) => path !== '/').sort();
}

t.test('RFC 9309 2.2.2: octets above 7F, in any encoding', async (t) => {
  const paths = ['/caf%E9/secret', '/caf%e9/small', '/caf%C3%A9/other', '/%C4%CF%CB/a', '/ok'];
  const robots = 'User-agent: *\nDisallow: /caf\xe9/\nDisallow: /\xc4\xcf\xcb\n';
  t.same(await requested(t.testdir(), robots, paths), ['/caf%C3%A9/other', '/ok']);
  const utf8 = 'User-agent: *\nDisallow: /caf\xc3\xa9/\n';
  t.same(await requested(t.testdir(), utf8, ['/caf%C3%A9/x', '/caf\u00e9/y', '/ok']), ['/ok']);
});

t.test(
  'RFC 9309 2.2.1, 2.2.4: Crawl-delay and unknown lines end no list of agents, names are tokens',
  async (t) => {
    const secret = ['/ok', '/secret'];
    for (const agents of [
      'User-agent: harvest\nCrawl-delay: 0\nUser-agent: other',
      'User-agent: harvest\nHost: x\n\nUser-agent: other',
      'User-agent: Harvest/1.8 (all)',
      'user agent: harvest-kit2',
      'Useragent: another\nuser-agent:HARVEST',
    ])
      t.same(await requested(t.testdir(), `${agents}\nDisallow: /secret\n`, secret), ['/ok'], agents);
    for (const rule of ['Disallow /secret', 'dissallow: /secret', 'Disallow:/secret', 'DISALLOW : /se*t$'])
      t.same(await requested(t.testdir(), `User-agent: *\n${rule}\n`, secret), ['/ok'], rule);
  },
);

t.test('G-63: a robots.txt with 429 or 503 holds the server, and is requested again', async (t) => {
  for (const status of [429, 503]) {
    let busy = 2;
    await using site = await Site.start({
      '/': page('Start', ['/secret']),
      '/secret': page('Secret', []),
      '/robots.txt': (_, response) => {
        if (busy-- > 0) response.writeHead(status, { 'retry-after': '0' }).end('wait');
        else response.end('User-agent: *\nDisallow: /secret');
      },
    });
    await gather(t.testdir(), { roots: [unlimitedRoot(`${site.url}/`)] });
    t.same(
      site.requests.map(({ path }) => path),
      ['/robots.txt', '/robots.txt', '/robots.txt', '/'],
      String(status),
    );
  }
});

t.test('G-63: a server whose robots.txt stays at 429 gets no other request', async (t) => {
  await using site = await Site.start({
    '/': page('Start', []),
    '/robots.txt': (_, response) => response.writeHead(429).end('wait'),
  });
  const { events } = await gather(t.testdir(), { roots: [unlimitedRoot(`${site.url}/`)] });
  t.same(site.paths, []);
  t.equal(events.at(-1)?.status, -61);
});
