// Fetches news from Debian's INN: groups, articles, numbers, lists, leading dots, conditional requests.
// Prints TAP. Needs inn2 (its programs and files, not its configuration) and root; skipped if one is missing.
import t from 'tap';
import { createFetcher } from '../../clients/fetch/index.js';
import { scratchDirectory } from '../helpers/daemon.js';
import { postArticles } from '../helpers/gather-peers/news-client.js';
import { INND, skipUnless, startInn } from '../helpers/gather-peers/servers.js';

const ARTICLES = 20;
const idOf = (n: number) => `${n}@news.example.net`;

const skip = skipUnless([INND, '/etc/news/storage.conf'], true);
t.test('G-26, G-70 INN', { skip }, async (t) => {
  const port = await startInn(t, scratchDirectory(t), ['local.test']);
  const head = 'From: a@example.net\r\nNewsgroups: local.test\r\nSubject: test';
  await postArticles(
    port,
    Array.from(
      { length: ARTICLES },
      (_, n) => `${head} ${n}\r\nMessage-ID: <${idOf(n)}>\r\n\r\nbody ${n}\r\n..dot\r\n...\r\n`,
    ),
  );
  const server = `127.0.0.1:${port}`;
  await using fetcher = createFetcher({ userAgent: 'x', newsServer: server });
  const get = (url: string, more = {}) => fetcher.fetch({ url, timeoutMs: 10_000, ...more });

  const group = await get('news:local.test');
  t.match(group, { status: 200, contentType: 'text/x-news-overview' });
  const expected = Array.from({ length: ARTICLES }, (_, n) => `news:${idOf(n)}`);
  t.strictSame([...(group.links ?? [])].sort(), expected.sort(), 'the group lists all articles');
  for (let n = 0; n < ARTICLES; n++) {
    const article = await get(`news:${idOf(n)}`);
    const text = Buffer.from(article.body).toString();
    t.ok(text.endsWith(`\r\n\r\nbody ${n}\r\n.dot\r\n..\r\n`), `article ${n}`);
    t.match(article, { status: 200, contentType: 'message/rfc822', etag: `<${idOf(n)}>` });
    t.ok(article.lastModified > 1_600_000_000);
  }
  t.match(await get(`news:${idOf(1)}`, { headers: { etag: `<${idOf(1)}>` } }), { status: 304 });
  t.match(await get('news:local.test', { headers: { etag: group.etag } }), { status: 304 });
  t.match(await get('news:nothing@news.example.net'), { status: 404 });
  t.match(await get('news:no.such.group'), { status: 404 });
  t.ok((await get('news:*')).links?.includes('news:local.test'));
  const numbered = await get(`nntp://${server}/local.test`);
  const last = numbered.links?.at(-1) ?? '';
  t.match(last, /^nntp:\/\/127\.0\.0\.1:\d+\/local\.test\/\d+$/);
  t.match(await get(last), { status: 200, etag: `<${idOf(ARTICLES - 1)}>` });
  t.match(await get(`nntp://${server}/local.test/999999`), { status: 404 });
});
