// kill -9 during gathering, publishing and collecting: after a restart nothing is lost or duplicated.
import { join } from 'node:path';
import t from 'tap';
import { decodeSoif, SoifDecoder } from '../../protocols/soif/index.js';
import { BrokerStore, Generations } from '../../storage/index.js';
import { ANY_PORTS, cli, killCli } from '../helpers/cli.js';
import { countNames } from '../helpers/event-count.js';
import { Random } from '../helpers/random.js';
import { byTier, SEED } from '../helpers/seed.js';
import { type Page, page, Site } from '../helpers/site.js';

/** Runs that are killed after a number of requests. */
const KILLS = byTier(1, 8);
/**
 * Runs that are killed after a number of names that they made in the directories of published and collected
 * objects.
 */
const LATE_KILLS = byTier(2, 4);
/** More than the runs that are killed while they gather can fetch. */
const PAGE_COUNT = 41 * KILLS;

/** Returns pages that link to pages near and far, so that the frontier always has work. */
function linkedPages(): Record<string, Page> {
  const all: Record<string, Page> = {};
  for (let i = 0; i < PAGE_COUNT; i++) {
    const links = [1, 7, 31].map((step) => `/p${(i * 3 + step) % PAGE_COUNT}.html`);
    all[`/p${i}.html`] = page(
      `Page ${i}`,
      [...links, `/p${(i + 1) % PAGE_COUNT}.html`],
      `Number ${i} of the site.`,
    );
  }
  return all;
}

/** Returns the URLs of the published generation, sorted. */
async function exportedUrls(data: string): Promise<string[]> {
  await using snapshot = await new Generations(join(data, 'gatherer', 'generations')).open();
  const urls: string[] = [];
  const decoder = new SoifDecoder({ mode: 'strict' });
  for await (const { bytes } of snapshot.exportSince(0)) {
    for (const item of decoder.push(bytes)) if (item.kind === 'object') urls.push(item.object.url);
  }
  decoder.end();
  return urls.sort();
}

/** Returns the URLs of the objects in the broker, sorted. */
async function collectedUrls(data: string): Promise<string[]> {
  await using store = await BrokerStore.open(join(data, 'broker', 'store'));
  const urls: string[] = [];
  for await (const entries of store.all()) {
    const objects = await store.objects(entries.map(({ oid }) => oid));
    entries.forEach((entry, i) => {
      const bytes = objects[i];
      if (bytes !== undefined && decodeSoif(bytes).url === entry.url) urls.push(entry.url);
    });
  }
  return urls.sort();
}

t.test(`kill -9 at random moments of run: no document is lost or duplicated (seed ${SEED})`, async (t) => {
  const random = new Random(SEED);
  await using site = await Site.start(linkedPages());
  const data = t.testdir();
  const options = ['--once', '--delay', '0', '--urls', '1000', '--data', data, ...ANY_PORTS];
  const args = ['run', `${site.url}/p0.html`, ...options];
  for (let round = 0; round < KILLS; round++)
    t.ok(
      await killCli(site.served.further(random.between(5, 40)), ...args),
      'a run is killed while it gathers',
    );
  const published = countNames(
    t,
    join(data, 'gatherer', 'generations'),
    join(data, 'gatherer', 'references'),
  );
  const collected = countNames(t, join(data, 'broker', 'store'), join(data, 'broker', 'index'));
  let killed = 0;
  for (let round = 0; round < LATE_KILLS; round++) {
    const names = published.further(random.between(1, 10));
    const moment = random.once(2) ? names : names.then(() => collected.further(random.between(1, 4)));
    if (await killCli(moment, ...args)) killed++;
  }
  t.ok(killed > 0, `${killed} of ${LATE_KILLS} runs were killed while they published or collected`);
  const last = await cli(...args);
  t.equal(last.code, 0, last.stderr);
  const expected = Array.from({ length: PAGE_COUNT }, (_, i) => `${site.url}/p${i}.html`).sort();
  t.same(await exportedUrls(data), expected, 'every document is exported once');
  t.same(await collectedUrls(data), expected, 'every document is in the broker once');
});
