// Fetchers and modules that are handed to a Gatherer, or named by its configuration.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parseGathererConf } from '../../../protocols/config/index.js';
import { Gatherer, type GathererOptions } from '../../../servers/gatherer/index.js';

const configOf = (lines: string) =>
  parseGathererConf(`Gatherer-Name: Own\nGatherer-Host: g.test\n${lines}`, 'own.cf').config;

/** Gathers once; returns the counts and the URLs of the objects. */
async function gather(options: GathererOptions) {
  await using gatherer = await Gatherer.open({ retryDelayMs: 10, ...options });
  const { counts } = await gatherer.run(AbortSignal.timeout(60_000));
  const urls: string[] = [];
  for await (const page of gatherer.store.summaries.iterate()) urls.push(...page.map(({ url }) => url));
  return { counts, urls: urls.sort() };
}

t.test('G-106: a fetcher is handed in: its links are followed, an unchanged document stays', async (t) => {
  const directory = t.testdir({
    'Text.sum.mjs': `export const summarize = ({ text }) => ({ attributes: [['Title', text]], linkedUrls: text.split(' ') });`,
  });
  const pages: Record<string, string> = { '/': '/a /b http://a.test/', '/a': 'x', '/b': '/' };
  const asked: string[] = [];
  let closed = 0;
  const options: GathererOptions = {
    directory: join(directory, 'data'),
    config: configOf('Refresh-Rate: 1\n<RootNodes>\nmemo://store/ Delay=0 Depth=2\n</RootNodes>\n'),
    force: true,
    essenceWorkers: 1,
    fetchers: {
      memo: {
        fetcher: {
          fetch({ url, etag }) {
            asked.push(url);
            if (etag === '"1"') return { status: 304 };
            const body = pages[url.slice('memo://store'.length)];
            return body === undefined ? { status: 404 } : { body, etag: '"1"', contentType: 'text/plain' };
          },
          close: () => closed++,
        },
      },
    },
    modules: { summarizers: { Text: join(directory, 'Text.sum.mjs') } },
  };
  // The scheme is known to the process when the first Gatherer with it was opened.
  t.same(options.config.rootNodes, [], 'the scheme was not known when the configuration was read');
  await (await Gatherer.open(options)).close();
  const config = configOf('Refresh-Rate: 1\n<RootNodes>\nmemo://store/ Delay=0 Depth=2\n</RootNodes>\n');
  const first = await gather({ ...options, config });
  t.same(first.urls, ['memo://store/', 'memo://store/a', 'memo://store/b']);
  t.equal(first.counts.summarized, 3);
  t.same([...asked].sort(), ['memo://store/', 'memo://store/a', 'memo://store/b', 'memo://store/x'].sort());
  const second = await gather({ ...options, config });
  t.match(second.counts, { summarized: 0, unchanged: 3 });
  t.equal(closed, 3);
});

t.test('a module of a Fetcher line that cannot serve is refused by name; others are closed', async (t) => {
  const directory = t.testdir({
    'good.mjs': `import { appendFileSync } from 'node:fs';
      export const createFetcher = ({ scheme, directory }) => ({
        fetch: () => ({}),
        close: () => appendFileSync(directory + '/closed', scheme),
      });`,
    'none.mjs': '',
    'wrong.mjs': 'export const createFetcher = () => 7;',
    'throws.mjs': 'export const createFetcher = () => { throw new Error("no key"); };',
    closed: '',
  });
  const open = (module: string) =>
    Gatherer.open({
      directory: join(directory, 'data'),
      config: configOf(`Top-Directory: ${directory}\nFetcher: memo2 good.mjs\nFetcher: memo3 ${module}\n`),
      essenceWorkers: 0,
    });
  const code = 'ERR_CONFIG';
  await t.rejects(open('missing.mjs'), {
    code,
    message: /missing\.mjs: Fetcher: cannot be loaded: Cannot find module/,
  });
  await t.rejects(open('none.mjs'), {
    code,
    message: /none\.mjs: Fetcher: exports no function createFetcher/,
  });
  await t.rejects(open('wrong.mjs'), { code, message: /returned no object with a function fetch/ });
  await t.rejects(open('throws.mjs'), {
    code,
    message: /throws\.mjs: Fetcher: createFetcher failed: no key/,
  });
  writeFileSync(join(directory, 'again.mjs'), 'export const createFetcher = () => ({ fetch: () => ({}) });');
  await (await open('again.mjs')).close();
  t.equal(readFileSync(join(directory, 'closed'), 'utf8'), 'memo2'.repeat(5));
});
