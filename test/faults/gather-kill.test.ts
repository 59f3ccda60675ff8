// kill -9 during gathering, publishing and collecting: after a restart nothing is lost or duplicated.
import { join } from 'node:path';
import t from 'tap';
import { decodeSoif, SoifDecoder } from '../../protocols/soif/index.js';
import { BrokerStore, Generations } from '../../storage/index.js';
import { CliProcess, cli } from '../helpers/cli.js';
import { type Page, page, Site } from '../helpers/site.js';

// About a dozen processes are started in sequence; each takes seconds on a busy machine.
const PAGE_COUNT = 300;

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

t.test('kill -9 at random moments of harvest run: no document is lost or duplicated', async (t) => {
  await using site = await Site.start(linkedPages());
  const data = t.testdir();
  const args = ['run', `${site.url}/p0.html`, '--once', '--delay', '0', '--urls', '1000', '--data', data];
  const ports = ['gatherd', 'broker', 'web', 'references'].flatMap((name) => [`--${name}-port`, '0']);
  let killed = 0;
  for (let round = 0; round < 12; round++) {
    const run = new CliProcess([...args, ...ports]);
    // The kill comes after a number of requests, or some time after the last page was served.
    const target = site.requests.length + 5 + Math.floor(Math.random() * 60);
    const deadline = Date.now() + 1_500 + Math.random() * 500;
    let ended = false;
    void run.finished.then(() => {
      ended = true;
    });
    while (!ended && site.requests.length < target && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    if (!ended) killed++;
    run.kill('SIGKILL');
    await run.finished;
  }
  t.ok(killed > 3, `${killed} of 12 runs were killed before their end`);
  const last = await cli(...args, ...ports);
  t.equal(last.code, 0, last.stderr);
  const expected = Array.from({ length: PAGE_COUNT }, (_, i) => `${site.url}/p${i}.html`).sort();
  t.same(await exportedUrls(data), expected, 'every document is exported once');
  t.same(await collectedUrls(data), expected, 'every document is in the broker once');
});
