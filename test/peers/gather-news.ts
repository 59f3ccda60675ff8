// Whole crawls of newsgroups on INN with its own spool: every article is fetched once, and none again in a second run.
// Prints TAP. Needs inn2 (its programs and files, not its configuration) and root; skipped if it is not installed.
import { join } from 'node:path';
import t from 'tap';
import { scratch } from '../helpers/daemon.js';
import { endOf, everything, gather, urlsOf } from '../helpers/gather-peers/gather.js';
import { newsFinds, postNews } from '../helpers/gather-peers/post-news.js';
import { INND, needs, startInn } from '../helpers/gather-peers/servers.js';

const ARTICLES = 60;
const skip = needs([INND, '/etc/news/storage.conf'], true);

function article(group: string, n: number): string {
  return `From: a@example.net\r\nNewsgroups: ${group}\r\nSubject: number ${n}\r\nMessage-ID: <${n}.${group}@news.example.net>\r\n\r\nBody ${n} of ${group}.\r\n`;
}

t.test('G-26, G-70, G-108 INN', { skip }, async (t) => {
  const directory = scratch(t);
  const groups = ['local.one', 'local.two'];
  const port = await startInn(t, directory, groups);
  const numbers = Array.from({ length: ARTICLES }, (_, n) => n);
  await postNews(
    port,
    groups.flatMap((group) => numbers.map((n) => article(group, n))),
  );
  const wanted: string[] = [];
  for (const group of groups)
    for (const { number } of await newsFinds(port, group))
      wanted.push(`nntp://127.0.0.1:${port}/${group}/${number}`);
  t.equal(wanted.length, 2 * ARTICLES, 'asked by hand, XOVER lists them all');
  const roots = groups.map((group) => everything(`nntp://127.0.0.1:${port}/${group}`));
  const data = join(directory, 'data');
  const first = await gather(data, { roots });
  t.comment(`XOVER lists ${wanted.length}, we have ${first.exported.length}`);
  t.strictSame(urlsOf(first), wanted.sort(), `the ${wanted.length} articles, each once`);
  t.ok(
    first.exported.every(({ text }) =>
      /^number \d+$/m.test(`${text('subject')}\n${text('Title')}\n${text('Description')}`),
    ),
    'with their subjects',
  );
  const second = await gather(data, { roots }, { force: true });
  t.equal(second.report.counts.unchanged, wanted.length, 'G-108 line 2: an article never changes');
  const bytes = second.events
    .filter(({ disposition }) => disposition === 'unchanged')
    .map((event) => event.bytes);
  t.equal(Math.max(...bytes), 0, 'no byte of one is fetched again, only the lists of groups');
  await postNews(port, [article('local.two', ARTICLES)]);
  const third = await gather(data, { roots });
  t.match(
    third.report.counts,
    { summarized: 1, kept: wanted.length },
    'what is new comes, the others are not due',
  );
  const none = await gather(join(directory, 'none'), {
    leaves: [`nntp://127.0.0.1:${port}/no.such.group`, `nntp://127.0.0.1:${port}/local.one/99999`],
  });
  t.equal(none.report.end, 'finished');
  t.match(endOf(none, `nntp://127.0.0.1:${port}/no.such.group`), { disposition: 'failed', status: 404 });
  t.match(endOf(none, `nntp://127.0.0.1:${port}/local.one/99999`), { disposition: 'failed', status: 404 });

  process.env.NNTPSERVER = `127.0.0.1:${port}`;
  t.teardown(() => delete process.env.NNTPSERVER);
  const named = await gather(join(directory, 'named'), { roots: [everything('news:local.one')] });
  t.strictSame(
    urlsOf(named),
    numbers.map((n) => `news:${n}.local.one@news.example.net`).sort(),
    'G-70: news: means the server of this site, and articles have names',
  );
});
