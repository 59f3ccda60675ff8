// The engine works without a Gatherer: the README's example crawls a site with its own processors and scope.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { page, Site } from '../../helpers/site.js';
import { crawlTitles } from './small-crawl.js';

t.test('a crawl runs with custom processors and a custom scope', async (t) => {
  const elsewhere = await Site.start({ '/': page('Elsewhere', []) });
  const site = await Site.start({
    '/robots.txt': 'User-agent: *\nDisallow: /private',
    '/': page('Home', ['/a', '/b', '/private', '/missing', `${elsewhere.url}/`]),
    '/a': page('A', ['/', '/b']),
    '/b': page('B', ['/c']),
    '/c': page('C', []),
    '/private': page('Private', []),
  });
  t.teardown(() => Promise.all([site.close(), elsewhere.close()]));

  const titles = await crawlTitles(t.testdir(), `${site.url}/`);

  const expected = { '/': 'Home', '/a': 'A', '/b': 'B', '/c': 'C' };
  t.same(
    [...titles].sort(),
    Object.entries(expected).map(([path, title]) => [site.url + path, title]),
  );
  t.notOk(site.paths.includes('/private'), 'robots.txt is obeyed');
  t.same(elsewhere.requests, [], 'the scope keeps the crawl on its site');
});

t.test("the README's example is the code of the test above", async (t) => {
  const root = (path: string): URL => new URL(path, import.meta.resolve('#package.json'));
  const withoutImports = (code: string): string => code.slice(code.indexOf('/** Crawls one site'));
  const readme = readFileSync(fileURLToPath(root('servers/crawler/README.md')), 'utf8');
  const example = [...readme.matchAll(/```ts\n(.*?)```/gs)]
    .map(([, code]) => code!)
    .find((code) => code.includes('crawlTitles'));
  const source = readFileSync(fileURLToPath(root('test/servers/crawler/small-crawl.ts')), 'utf8');
  t.equal(withoutImports(example ?? ''), withoutImports(source));
});
