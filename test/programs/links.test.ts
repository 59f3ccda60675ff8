// The links of a site from the crawl to the client: `harvest run`, its references server, and later changes of
// the links.
import { join } from 'node:path';
import { load } from 'cheerio';
import t from 'tap';
import { ReferencesClient } from '../../clients/references/index.js';
import { ANY_PORTS, CliProcess, cli } from '../helpers/cli.js';
import { page, Site } from '../helpers/site.js';

/** Runs `harvest run`, calls `work` when it is ready, and stops it. */
async function withServer<T>(
  args: readonly string[],
  work: (server: { readonly port: number; readonly web: string }) => Promise<T>,
): Promise<T> {
  const run = new CliProcess(['run', ...args, ...ANY_PORTS, '--json-log']);
  try {
    const [, web = ''] = await run.output(/^ready gatherd=\S+ broker=\S+ web=(http:\S+)$/m);
    const [, port] = await run.output(/^ready refererd=127\.0\.0\.1:(\d+)$/m);
    const result = await work({ port: Number(port), web });
    run.kill('SIGINT');
    t.equal((await run.finished).code, 0, 'Ctrl-C ends harvest run with its references server');
    return result;
  } finally {
    run.kill('SIGKILL');
  }
}

t.test('harvest run serves the links between documents and drops deleted ones', async (t) => {
  await using site = await Site.start({
    '/': page('Start', ['/a', '/b', '/c'], 'The entrance, with oats.'),
    '/a': page('Alpha', ['/b', '/c'], 'Alpha speaks of oats.'),
    '/b': page('Beta', ['/c', 'http://other.invalid/'], 'Beta speaks of oats.'),
    '/c': page('Gamma', ['/'], 'Gamma speaks of barley and oats.'),
  });
  const data = t.testdir();
  const args = [`${site.url}/`, '--delay', '0', '--force', '--data', data];

  /** The links to and from a document, as paths of the site. */
  const neighbors = async (client: ReferencesClient, path: string) => {
    const names = new Map<number, string>();
    for (const known of ['/', '/a', '/b', '/c', 'http://other.invalid/']) {
      const url = known.startsWith('/') ? site.url + known : known;
      const description = await client.urlByName(url);
      if (description !== undefined) names.set(description.id, known);
    }
    const paths = (ids: Iterable<number>) => [...ids].map((id) => names.get(id) ?? String(id));
    const url = path.startsWith('/') ? site.url + path : path;
    return {
      to: paths((await client.referers({ url })).ids).sort(),
      from: paths((await client.references({ url })).ids),
    };
  };

  await withServer(args, async ({ port, web }) => {
    await using client = new ReferencesClient({ host: '127.0.0.1', port });
    t.same(await neighbors(client, '/c'), { to: ['/', '/a', '/b'], from: ['/'] });
    t.same(await neighbors(client, 'http://other.invalid/'), { to: ['/b'], from: [] });
    t.equal((await client.siteReferences({ url: `127.0.0.1:${site.port}` })).found, 1, 'R-32');
    t.match(await client.urlByName(`${site.url}/a`), { uri: '/a', port: site.port }, 'R-33');

    const referers = await cli('references', '--to', `127.0.0.1:${port}`, `${site.url}/c`, '--json');
    t.equal(referers.code, 0, referers.stderr);
    const refused = await cli('references', '--from', `127.0.0.1:${port}`, 'file:///tmp/x');
    t.equal(refused.code, 3, refused.stderr);
    t.match(refused.stderr, /file:\/\/\/tmp\/x names no server/, 'such a document has no links');
    const results = load(await (await fetch(`${web}Harvest/cgi-bin/BrokerQuery.cgi?query=barley`)).text());
    const link = results('.results .about a').filter((_, a) =>
      /^Linked from 3 documents$/.test(results(a).text()),
    );
    t.equal(link.length, 1, 'the result page shows the number of links');
    const shown = await fetch(link.attr('href') ?? '');
    t.equal(shown.status, 200, 'the link leads to the page of links');
  });

  const ranked = await cli('pagerank', '--data', join(data, 'gatherer'), '--json');
  t.equal(ranked.code, 0, ranked.stderr);
  const { top } = JSON.parse(ranked.stdout) as { top: { url: string }[] };
  t.same(
    top
      .slice(0, 2)
      .map(({ url }) => url)
      .sort(),
    [`${site.url}/`, `${site.url}/c`],
    'R-2: all pages link to /c, and /c links only to /',
  );

  site.pages.set('/a', page('Alpha', ['/'], 'Alpha has changed its mind about oats.'));
  site.pages.delete('/b');
  await withServer(args, async ({ port }) => {
    await using client = new ReferencesClient({ host: '127.0.0.1', port });
    t.same(
      await neighbors(client, '/c'),
      { to: ['/'], from: ['/'] },
      'the links of a changed page and of a deleted one are gone',
    );
    t.same(await neighbors(client, '/b'), { to: ['/'], from: [] });
    t.same(
      await neighbors(client, 'http://other.invalid/'),
      { to: [], from: [] },
      'R-27: the document is still known, without links',
    );
    t.same(await neighbors(client, '/a'), { to: ['/'], from: ['/'] });
  });

  const once = await cli('run', ...args, ...ANY_PORTS, '--once');
  t.equal(once.code, 0, once.stderr);
  t.match(JSON.parse(once.stdout), { references: null }, 'without changes no new generation is published');
});
