// Crawls newsgroups of an INN with a temporary spool: every article is fetched once, and none again in a second
// run. Prints TAP. Needs inn2 (its programs and files, not its configuration) and root; skipped if one is
// missing.
import { join } from 'node:path';
import t from 'tap';
import { scratchDirectory } from '../helpers/daemon.js';
import { finalEventOf, gather, unlimitedRoot, urlsOf } from '../helpers/gather-peers/gather.js';
import { listArticles, postArticles } from '../helpers/gather-peers/news-client.js';
import { INND, skipUnless, startInn } from '../helpers/gather-peers/servers.js';

const ARTICLES = 60;
const skip = skipUnless([INND, '/etc/news/storage.conf'], true);

function article(group: string, n: number): string {
  return `From: a@example.net\r\nNewsgroups: ${group}\r\nSubject: number ${n}\r\nMessage-ID: <${n}.${group}@news.example.net>\r\n\r\nBody ${n} of ${group}.\r\n`;
}

t.test('G-26, G-70, G-108 INN', { skip }, async (t) => {
  const directory = scratchDirectory(t);
  const groups = ['local.one', 'local.two'];
  const port = await startInn(t, directory, groups);
  const numbers = Array.from({ length: ARTICLES }, (_, n) => n);
  await postArticles(
    port,
    groups.flatMap((group) => numbers.map((n) => article(group, n))),
  );
  const expected: string[] = [];
  for (const group of groups)
    for (const { number } of await listArticles(port, group))
      expected.push(`nntp://127.0.0.1:${port}/${group}/${number}`);
  t.equal(expected.length, 2 * ARTICLES, 'XOVER lists all articles');
  const roots = groups.map((group) => unlimitedRoot(`nntp://127.0.0.1:${port}/${group}`));
  const data = join(directory, 'data');
  const first = await gather(data, { roots });
  t.comment(`XOVER lists ${expected.length} articles, the Gatherer exports ${first.exported.length}`);
  t.strictSame(urlsOf(first), expected.sort(), `the ${expected.length} articles, each once`);
  t.ok(
    first.exported.every(({ text }) =>
      /^number \d+$/m.test(`${text('subject')}\n${text('Title')}\n${text('Description')}`),
    ),
    'every object has its subject',
  );
  const second = await gather(data, { roots }, { force: true });
  t.equal(second.report.counts.unchanged, expected.length, 'G-108 line 2: an article never changes');
  const bytes = second.events
    .filter(({ disposition }) => disposition === 'unchanged')
    .map((event) => event.bytes);
  t.equal(Math.max(...bytes), 0, 'only lists of groups are fetched again');
  await postArticles(port, [article('local.two', ARTICLES)]);
  const third = await gather(data, { roots });
  t.match(third.report.counts, { summarized: 1, kept: expected.length }, 'only the new article is fetched');
  const leaves = ['no.such.group', 'local.one/99999'].map((path) => `nntp://127.0.0.1:${port}/${path}`);
  const none = await gather(join(directory, 'none'), { leaves });
  t.equal(none.report.end, 'finished');
  for (const url of leaves) t.match(finalEventOf(none, url), { disposition: 'failed', status: 404 });

  process.env.NNTPSERVER = `127.0.0.1:${port}`;
  t.teardown(() => delete process.env.NNTPSERVER);
  const named = await gather(join(directory, 'named'), { roots: [unlimitedRoot('news:local.one')] });
  t.strictSame(
    urlsOf(named),
    numbers.map((n) => `news:${n}.local.one@news.example.net`).sort(),
    'G-70: news: URLs are those of the default server, and name articles by message-id',
  );
});
