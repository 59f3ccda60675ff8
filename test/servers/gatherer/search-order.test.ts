// The order in which the documents of a RootNode are gathered (G-30).
import t from 'tap';
import { parseGathererConf } from '../../../protocols/config/index.js';
import { Gatherer } from '../../../servers/gatherer/index.js';
import { page, Site } from '../../helpers/site.js';

/** A tree of pages: `/` links to `/a` and `/b`, `/a` to `/a/a` and `/a/b`, and so on. */
function tree(levels: number): Record<string, string> {
  const pages: Record<string, string> = {};
  const add = (path: string, level: number): void => {
    const links = level === levels ? [] : ['a', 'b'].map((name) => `${path}/${name}`);
    pages[path === '' ? '/' : path] = page(path, links);
    for (const link of links) add(link, level + 1);
  };
  add('', 0);
  return pages;
}

const CASES = [
  ['Breadth', ['/', '/a', '/b', '/a/a', '/a/b', '/b/a', '/b/b']],
  ['Depth', ['/', '/a', '/a/a', '/a/b', '/b', '/b/a', '/b/b']],
] as const;

for (const [search, expected] of CASES) {
  t.test(`G-30: Search=${search} gathers the pages in this order, redirects too`, async (t) => {
    await using site = await Site.start(tree(2));
    site.pages.set('/a', (_, response) => response.writeHead(302, { location: '/moved' }).end());
    site.pages.set('/moved', page('moved', ['/a/a', '/a/b']));
    const text = `Gatherer-Name: T\n<RootNodes>\n${site.url}/ Search=${search} Delay=0\n</RootNodes>\n`;
    await using gatherer = await Gatherer.open({
      directory: t.testdir(),
      config: parseGathererConf(text, 'x.cf').config,
      essenceWorkers: 0,
    });
    await gatherer.run(new AbortController().signal);
    t.same(
      site.paths.filter((path) => path !== '/moved'),
      expected,
    );
  });
}

t.test('G-30, G-32: URL-Max ends a search in depth in its first branch', async (t) => {
  await using site = await Site.start(tree(3));
  const text = `Gatherer-Name: T\n<RootNodes>\n${site.url}/ Search=Depth Delay=0 URL=6\n</RootNodes>\n`;
  await using gatherer = await Gatherer.open({
    directory: t.testdir(),
    config: parseGathererConf(text, 'x.cf').config,
    essenceWorkers: 0,
  });
  const { roots, counts } = await gatherer.run(new AbortController().signal);
  t.same(site.paths, ['/', '/a', '/a/a', '/a/a/a', '/a/a/b', '/a/b']);
  t.match(roots, [{ urls: 6, refused: { 'url-max': 3 } }]);
  t.equal(counts.summarized, 6);
});
