// Several RootNodes and LeafNodes over the same documents: each enumerates by its own limits, and a document is
// fetched once.
import t, { type Test } from 'tap';
import { parseGathererConf } from '../../../protocols/config/index.js';
import { Gatherer, type GathererOptions } from '../../../servers/gatherer/index.js';
import { page, Site } from '../../helpers/site.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

const never = new AbortController().signal;

/** A site of a hotlist, its pages, and what is behind them. */
const PAGES = {
  '/': page('Start', ['/hotlist.html', '/first.html']),
  '/hotlist.html': page('Hotlist', ['/first.html', '/second.html']),
  '/first.html': page('First', ['/behind-first.html', '/missing.html']),
  '/second.html': page('Second', ['/behind-second.html']),
  '/behind-first.html': page('Behind first', []),
  '/behind-second.html': page('Behind second', []),
};
const ALL = Object.keys(PAGES).sort();

function configOf(roots: string, leaves = ''): GathererOptions['config'] {
  const text = `Gatherer-Name: Test\nAccess-Delay: 0\nRefresh-Rate: 1000\n<RootNodes>\n${roots}\n</RootNodes>\n<LeafNodes>\n${leaves}\n</LeafNodes>\n`;
  return parseGathererConf(text, 'test.cf', {}).config;
}

/** Gathers twice; returns the paths of the objects after the first run. */
async function gather(t: Test, site: Site, roots: string, leaves = ''): Promise<string[]> {
  const directory = await temporaryDirectory(t);
  await using gatherer = await Gatherer.open({
    directory,
    config: configOf(roots, leaves),
    essenceWorkers: 0,
    retryDelayMs: 5,
  });
  const first = await gatherer.run(never);
  const found = site.paths.filter((path) => path !== '/missing.html').sort();
  t.match(first.counts, { summarized: found.length, kept: 0 }, 'each document is counted once');
  const second = await gatherer.run(never);
  t.match(second.counts, { summarized: 0, kept: found.length }, 'also in a run that fetches nothing');
  t.same(site.paths.filter((path) => path !== '/missing.html').sort(), found);
  return found;
}

t.test('G-39 (6): the Depth of one RootNode does not end the enumeration of another', async (t) => {
  for (const lines of [
    ['$/ URL=100', '$/hotlist.html Depth=1'],
    ['$/hotlist.html Depth=1', '$/ URL=100'],
  ]) {
    await using site = await Site.start(PAGES);
    t.same(await gather(t, site, lines.join('\n').replaceAll('$', site.url)), ALL, lines.join());
  }
});

t.test('G-26: the links of a LeafNode are followed when a RootNode leads to it', async (t) => {
  await using site = await Site.start(PAGES);
  t.same(await gather(t, site, `${site.url}/`, `${site.url}/hotlist.html\n${site.url}/first.html`), ALL);
});

t.test('G-44: the URL filter of one RootNode does not deny what another one allows', async (t) => {
  await using site = await Site.start(PAGES);
  const filters = t.testdir({ 'no-first': 'Deny first\nAllow .\n', 'no-second': 'Deny second\nAllow .\n' });
  const roots = [`${site.url}/ URL=100,${filters}/no-first`, `${site.url}/ URL=100,${filters}/no-second`];
  t.same(await gather(t, site, roots.join('\n')), ALL);
});

t.test('G-32: URL-Max counts what each RootNode reaches', async (t) => {
  await using site = await Site.start(PAGES);
  const found = await gather(
    t,
    site,
    `${site.url}/ URL=2,/dev/null\n${site.url}/hotlist.html URL=2,/dev/null`,
  );
  t.same(found, ['/', '/first.html', '/hotlist.html']);
});
