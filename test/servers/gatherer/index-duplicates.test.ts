// The page of a directory under several names, e.g. `/` and `/index.html`, is one document.
import t from 'tap';
import { type GathererConfig, parseGathererConf } from '../../../protocols/config/index.js';
import { configFromRoots } from '../../../servers/all-in-one/index.js';
import { Gatherer, type GatherReport } from '../../../servers/gatherer/index.js';
import { IndexDuplicates } from '../../../servers/gatherer/processors/index-duplicates.js';
import type { DocumentRecord } from '../../../storage/records/records.js';
import { page, Site } from '../../helpers/site.js';

const never = new AbortController().signal;

/** Gathers everything; returns the report, the paths with an object, and those that were deleted. */
async function gather(directory: string, config: GathererConfig) {
  await using gatherer = await Gatherer.open({
    directory,
    config,
    essenceWorkers: 0,
    force: true,
    maxRetries: 1,
  });
  const report: GatherReport = await gatherer.run(never);
  const objects: string[] = [];
  for await (const summaries of gatherer.store.summaries.iterate())
    objects.push(...summaries.map(({ url }) => new URL(url).pathname));
  const deleted: string[] = [];
  for await (const tombstones of gatherer.store.tombstones.since(0))
    deleted.push(...tombstones.map(({ url }) => new URL(url).pathname));
  return { report, objects: objects.sort(), deleted };
}

/** Replies to `/` and `/index.html` with a page, and to other names with the same one. */
const START = page('Start', [
  'index.html',
  'copy.html',
  'sub/',
  'sub/default.htm',
  'sub/index.html',
  'x/INDEX.PHP',
]);
const SUB = page('Sub', []);

t.test('the first URL of equal pages of a directory is kept, in every run', async (t) => {
  await using site = await Site.start({
    '/': START,
    '/index.html': START,
    '/copy.html': START,
    '/sub/': SUB,
    '/sub/default.htm': SUB,
    '/sub/index.html': page('Another', ['deep.html']),
    '/sub/deep.html': page('Deep', []),
    '/x/INDEX.PHP': SUB,
  });
  const directory = t.testdir();
  const { config } = configFromRoots([`${site.url}/`], {});
  const first = await gather(directory, config);
  const expected = ['/', '/copy.html', '/sub/', '/sub/deep.html', '/sub/index.html', '/x/INDEX.PHP'];
  t.same(first.objects, expected, 'pages with other content, of other directories and of other names stay');
  t.equal(first.report.counts.rejected, 2);
  const second = await gather(directory, config);
  t.same(second.objects, expected);
  t.same(second.deleted, [], 'nothing changes');
  site.pages.set('/index.html', page('Now it differs', []));
  t.same((await gather(directory, config)).objects, ['/', '/copy.html', '/index.html', ...expected.slice(2)]);
  site.pages.set('/index.html', START);
  const last = await gather(directory, config);
  t.same(last.objects, expected);
  t.same(last.deleted, ['/index.html'], 'GATHERD-4.9: Brokers learn that it is gone');
});

t.test('a root under the second name is gathered, and an earlier version has both', async (t) => {
  await using site = await Site.start({ '/': START, '/index.html': START });
  const directory = t.testdir();
  const text = `Gatherer-Name: Test\nAccess-Delay: 0\n<LeafNodes>\n${site.url}/index.html\n${site.url}/\n</LeafNodes>\n`;
  const both = await gather(directory, parseGathererConf(text, 'test.cf', {}).config);
  t.same(both.objects, ['/', '/index.html'], 'a configuration file decides; its default is as the original');
  const { config } = configFromRoots([`${site.url}/index.html`, `${site.url}/`], { depth: 0, urls: 2 });
  const one = await gather(directory, config);
  t.equal(one.objects.length, 1);
  t.equal(one.deleted.length, 1);
  t.same(one.report.failedRoots, [], 'neither root has failed');
});

t.test('a run that is continued knows the pages that it has stored', async (t) => {
  const record = (url: string, change: Partial<DocumentRecord> = {}) =>
    ({ url, md5: 'a', updateTime: 5, fetchTime: 10, ...change }) as DocumentRecord;
  const stored = new Map([
    ['http://a.test/', record('http://a.test/')],
    ['http://b.test/', record('http://b.test/', { fetchTime: 9 })],
    ['http://c.test/', record('http://c.test/', { updateTime: 0 })],
    ['http://d.test/index.htm', record('http://d.test/index.htm')],
  ]);
  const pages = new IndexDuplicates({ record: async (url) => stored.get(url), resumedSince: 10 });
  t.equal(await pages.firstOf('http://a.test/index.html', 'a'), 'http://a.test/');
  t.equal(await pages.firstOf('http://a.test/index.html', 'b'), undefined, 'other content');
  t.equal(await pages.firstOf('http://b.test/index.html', 'a'), undefined, 'of an earlier run');
  t.equal(await pages.firstOf('http://c.test/index.html', 'a'), undefined, 'it has no object');
  t.equal(await pages.firstOf('http://d.test/', 'a'), 'http://d.test/index.htm');
  t.equal(await pages.firstOf('http://e.test/', 'a'), undefined);
  t.equal(await pages.firstOf('http://e.test/', 'a'), undefined, 'a retried URI is the same');
  for (const url of ['http://e.test/?index.html', 'http://e.test/page.html', 'file://localhost/index.html'])
    t.equal(await pages.firstOf(url, 'a'), undefined, url);
  t.equal(await pages.firstOf('http://e.test/welcome.html', ''), undefined, 'no digest');
});
