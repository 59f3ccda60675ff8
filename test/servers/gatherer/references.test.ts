// The links that a Gatherer stores and publishes. Times are in Unix seconds.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type GathererConfig, parseGathererConf } from '../../../protocols/config/index.js';
import { Gatherer, type GathererOptions } from '../../../servers/gatherer/index.js';
import { GathererStore } from '../../../storage/index.js';
import { publishRanks, ReferencesReader } from '../../../storage/references/index.js';
import { page, Site } from '../../helpers/site.js';
import { documentRecord, summary } from '../../storage/helpers.js';

const never = new AbortController().signal;
const DAY = 86_400;

function parseConfig(root: string, more = ''): GathererConfig {
  const text = `Gatherer-Name: Test\nGatherer-Host: g.example.org\nAccess-Delay: 0\n${more}<RootNodes>\n${root}\n</RootNodes>\n`;
  return parseGathererConf(text, 'test.cf', {}).config;
}

/** Runs a Gatherer and publishes; returns the counts and the result of publishing the links. */
async function gather(directory: string, config: GathererConfig, more: Partial<GathererOptions> = {}) {
  await using gatherer = await Gatherer.open({
    directory,
    config,
    essenceWorkers: 0,
    retryDelayMs: 5,
    ...more,
  });
  const { counts } = await gatherer.run(never);
  await gatherer.publish();
  return { counts, references: await gatherer.publishReferences() };
}

/** Returns the published links of each document; URLs of the site are shortened to paths. */
async function readPublished(directory: string, site: Site): Promise<Record<string, string[]>> {
  await using reader = await ReferencesReader.openCurrent(directory);
  const short = (id: number) => (reader.document(id)?.url ?? '?').replace(site.url, '');
  const lists: Record<string, string[]> = {};
  for (let id = 1; reader.document(id) !== undefined; id++) {
    const list = reader.links('refs', id);
    if (list !== undefined) lists[short(id)] = [...list.page(0, 1000)].map(short);
  }
  return lists;
}

t.test('R-10: links of changed and deleted pages go, those of unchanged pages stay', async (t) => {
  await using site = await Site.start({
    '/': page('Start', [
      '/a',
      '/b',
      '/c',
      '/old',
      'http://elsewhere.invalid/%7Eanna/',
      'mailto:x@y.invalid',
      '/a',
    ]),
    '/a': page('A', ['/', '/b']),
    '/b': page('B', ['/a', '/b#top']),
    '/c': page('C', ['/a']),
    '/old': (_, response) => response.writeHead(301, { location: '/c' }).end(),
    '/hidden': page('Hidden', ['/c']),
  });
  const directory = t.testdir();
  let now = 1_000_000_000;
  const run = () => gather(directory, parseConfig(`${site.url}/`), { now: () => now, force: true });
  const first = await run();
  t.equal(first.references?.generation, 1);
  t.same(await readPublished(directory, site), {
    '/': ['/a', '/b', '/c', '/old', 'http://elsewhere.invalid/~anna/'],
    '/a': ['/', '/b'],
    '/b': ['/a'],
    '/c': ['/a'],
    '/old': ['/c'],
  });
  const readIds = async () => {
    await using reader = await ReferencesReader.openCurrent(directory);
    return ['/', '/a', '/b', '/c', '/old'].map((path) => reader.idByUrl(`${site.url}${path}`));
  };
  const firstIds = await readIds();

  now += DAY;
  const second = await run();
  t.equal(second.counts.unchanged, 4);
  t.equal(second.references, undefined, 'a run over unchanged documents publishes no references');

  now += DAY;
  site.pages.set('/b', page('B', ['/hidden', '/']));
  site.pages.delete('/c');
  site.pages.set('/a', (_, response) => response.writeHead(500).end());
  const third = await run();
  t.equal(third.references?.generation, 2);
  t.same(
    await readPublished(directory, site),
    {
      '/': ['/a', '/b', '/c', '/old', 'http://elsewhere.invalid/~anna/'],
      '/a': ['/', '/b'],
      '/b': ['/hidden', '/'],
      '/old': ['/c'],
      '/hidden': ['/c'],
    },
    'pages are changed, gone (404), failing (500, the links are kept) and new',
  );
  t.same(await readIds(), firstIds, 'R-9: IDs do not change');
  await using reader = await ReferencesReader.openCurrent(directory);
  const gone = reader.documentByUrl(`${site.url}/c`);
  t.match(gone, { time: 0, checkTime: 0, length: 0 });
  t.equal(reader.links('hubs', gone?.id ?? 0)?.total, 3, 'links to a deleted page are kept');
});

t.test('R-2: ranks of the published links are computed, and kept if nothing changes', async (t) => {
  await using site = await Site.start({ '/': page('Start', ['/a']), '/a': page('A', ['/']) });
  const directory = t.testdir();
  const options = { force: true };
  await gather(directory, parseConfig(`${site.url}/`), options);
  const ranks = await publishRanks(directory, {});
  t.match(ranks, { ranked: 2, generation: 2, converged: true });
  t.equal((await gather(directory, parseConfig(`${site.url}/`), options)).references, undefined);
  await using reader = await ReferencesReader.openCurrent(directory);
  for (const path of ['/', '/a']) {
    const id = reader.idByUrl(`${site.url}${path}`) ?? 0;
    t.ok(Math.abs((reader.rank(id) ?? 0) - 0.5) < 1e-6, 'two pages that link to each other have equal ranks');
  }
});

t.test('G-103: an expired document has no links', async (t) => {
  await using site = await Site.start({ '/': page('Start', ['/a']), '/a': page('A', ['/']) });
  const directory = t.testdir();
  let now = 1_000_000_000;
  const settings = parseConfig(`${site.url}/`, `Time-To-Live: ${10 * DAY}\n`);
  await gather(directory, settings, { now: () => now });
  site.pages.set('/a', (_, response) => response.writeHead(500).end());
  now += 11 * DAY;
  const { references } = await gather(directory, settings, { now: () => now });
  t.equal(references?.generation, 2);
  t.same(await readPublished(directory, site), { '/': ['/a'] });
});

t.test('links are added to a store of an older version', async (t) => {
  await using site = await Site.start({ '/': page('Start', []) });
  const directory = t.testdir();
  const settings = parseConfig(`${site.url}/`);
  const now = Math.floor(Date.now() / 1000);
  const probe = await Gatherer.open({
    directory: join(directory, 'probe'),
    config: settings,
    essenceWorkers: 0,
  });
  const url = `${site.url}/`;
  const rulesDigest = probe.digestOf({ url, objects: [] });
  await probe.close();
  {
    await using store = await GathererStore.open(join(directory, 'working'));
    const links = [{ url: 'http://elsewhere.invalid/', hop: 'L' }];
    await store
      .batch()
      .putSummary(summary(url, now))
      .putDocument(documentRecord(url, { updateTime: now, fetchTime: now - 5, links, rulesDigest, size: 77 }))
      .commit();
  }
  const { counts, references } = await gather(directory, settings);
  t.equal(counts.kept, 1, 'the document is kept without a request');
  t.equal(references?.links, 1);
  t.same(await readPublished(directory, site), { '/': ['http://elsewhere.invalid/'] });
  await using reader = await ReferencesReader.openCurrent(directory);
  t.match(reader.documentByUrl(`${site.url}/`), { checkTime: now - 5, length: 77 });
  t.equal((await gather(directory, settings)).references, undefined);
});

t.test('References: off publishes no references', async (t) => {
  await using site = await Site.start({ '/': page('Start', ['/a']), '/a': page('A', []) });
  const directory = t.testdir();
  const { references } = await gather(directory, parseConfig(`${site.url}/`, 'References: off\n'));
  t.equal(references, undefined);
  t.notOk(existsSync(join(directory, 'references')));
  t.equal((await gather(directory, parseConfig(`${site.url}/`))).references?.links, 1, 'links are stored');
});
