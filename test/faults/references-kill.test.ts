// kill -9 while the Gatherer crawls and publishes: the final links equal those of an uninterrupted run.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { GathererStore } from '../../storage/index.js';
import { ReferencesReader } from '../../storage/references/index.js';
import { cli, killCli } from '../helpers/cli.js';
import { countNames } from '../helpers/event-count.js';
import { Random } from '../helpers/random.js';
import { byTier, SEED } from '../helpers/seed.js';
import { type Page, page, Site } from '../helpers/site.js';

const PAGE_COUNT = 80;
/**
 * Runs that are killed after a number of requests, and after a number of names that they made where they
 * publish.
 */
const [KILLS, LATE_KILLS] = byTier([1, 1] as const, [3, 2] as const);

/**
 * Returns pages with links to pages near and far, to themselves, repeated links, and links to documents that
 * are not fetched.
 */
function linkedPages(): Record<string, Page> {
  const all: Record<string, Page> = {};
  for (let i = 0; i < PAGE_COUNT; i++) {
    const near = [1, 7, 31].map((step) => `/p${(i * 3 + step) % PAGE_COUNT}.html`);
    const links = [...near, `/p${(i + 1) % PAGE_COUNT}.html`, near[0] ?? '', '#top'];
    all[`/p${i}.html`] = page(`Page ${i}`, [...links, `http://host${i % 13}.invalid/%7e${i % 29}`]);
  }
  return all;
}

/** Returns the published links of each document, by URL. */
async function readPublished(data: string): Promise<Map<string, string[]>> {
  await using reader = await ReferencesReader.openCurrent(data);
  const lists = new Map<string, string[]>();
  for (let id = 1; reader.knows(id); id++) {
    const ids = reader.links('refs', id)?.page(0, 1000) ?? [];
    lists.set(
      reader.document(id)?.url ?? `no URL for ${id}`,
      [...ids].map((target) => reader.document(target)?.url ?? `no URL for ${target}`),
    );
  }
  return lists;
}

/** Throws if an ID is used twice, has changed, or has no URL; adds the new IDs to `known`. */
async function checkIds(data: string, known: Map<string, number>): Promise<void> {
  if (!existsSync(join(data, 'working', 'CURRENT'))) return;
  await using store = await GathererStore.open(join(data, 'working'));
  const used = new Set<number>();
  for await (const documents of store.links.documents()) {
    for (const { url, id } of documents) {
      if (used.has(id)) throw new Error(`the ID ${id} is used twice`);
      if ((known.get(url) ?? id) !== id) throw new Error(`${url} has another ID than before`);
      used.add(id);
      known.set(url, id);
    }
  }
  for await (const pairs of store.links.pairs()) {
    for (const id of pairs) if (!used.has(id)) throw new Error(`a link leads to ${id}, which has no URL`);
  }
}

t.test(`R-9, R-10: kill -9 at random moments of gathering and publishing (seed ${SEED})`, async (t) => {
  const random = new Random(SEED);
  await using site = await Site.start(linkedPages());
  const directory = t.testdir();
  const conf = join(directory, 'test.cf');
  writeFileSync(
    conf,
    `Gatherer-Name: Test\nAccess-Delay: 0\n<RootNodes>\n${site.url}/p0.html URL=1000 Delay=0\n</RootNodes>\n`,
  );
  const argsFor = (data: string) => [
    'gatherer',
    conf,
    '--no-daemon',
    '--json',
    '--data',
    join(directory, data),
  ];
  const data = join(directory, 'killed');
  const ids = new Map<string, number>();
  const kill = async (moment: Promise<void>, ...options: readonly string[]): Promise<boolean> => {
    const killed = await killCli(moment, ...argsFor('killed'), ...options);
    await checkIds(data, ids);
    if (existsSync(join(data, 'references', 'CURRENT'))) await readPublished(data);
    return killed;
  };
  for (let round = 0; round < KILLS; round++)
    t.ok(await kill(site.served.further(random.between(8, 19))), 'a run is killed before its end');
  t.ok(ids.size > 0, 'IDs were assigned before a kill');
  const originalPage = site.pages.get('/p5.html') ?? '';
  const names = countNames(t, join(data, 'generations'), join(data, 'references'));
  for (let round = 0; round < LATE_KILLS; round++) {
    site.pages.set('/p5.html', page('Page 5', [`/p${round}.html`]));
    t.ok(await kill(names.further(random.between(1, 8)), '--force'), 'a run is killed while it publishes');
  }
  site.pages.set('/p5.html', originalPage);
  // A killed crawl is continued, and what it has fetched is not fetched again: the changed page is read by the
  // crawl after it.
  const continued = await cli(...argsFor('killed'), '--force');
  t.equal(continued.code, 0, 'the run that continues the killed one ends well');
  const last = await cli(...argsFor('killed'), '--force');
  t.equal(last.code, 0, 'the last run ends well');
  const uninterrupted = await cli(...argsFor('uninterrupted'));
  t.equal(uninterrupted.code, 0, 'the uninterrupted run ends well');
  await checkIds(data, ids);

  const found = await readPublished(data);
  const expected = await readPublished(join(directory, 'uninterrupted'));
  t.same(new Map([...found].sort()), new Map([...expected].sort()), 'both runs publish the same links');
  t.same(
    found.get(`${site.url}/p0.html`),
    ['/p1.html', '/p7.html', '/p31.html'].map((path) => site.url + path).concat('http://host0.invalid/~0'),
    'R-11, R-12: links are in the order of the page, each once',
  );
  for (const [url, id] of ids) {
    if (!found.has(url)) t.fail(`${url}, ID ${id}, was not published`);
  }
});
