// "Linked from N documents" on the result pages, with and without a References Server.
import t, { type Test } from 'tap';
import { LinkedFrom, orderByLinks } from '../../../../servers/broker/web/linked-from.js';
import { ReferencesBuilder } from '../../../../storage/references/index.js';
import { tcpServer } from '../../../helpers/tcp-server.js';
import { temporaryDirectory } from '../../../helpers/temporary-directory.js';
import { serveFixture } from '../../refererd/helpers.js';
import { document, NOW } from '../helpers.js';
import { openWebsite, QUERY } from './helpers.js';

const never = new AbortController().signal;
const FIELDS = 'query=wheat&caseflag=on&wordflag=on&opaqueflag=on';

/** Three objects, ranked by how often they contain `wheat`. */
const OBJECTS = ['http://a.example.org/%7eanna/', 'http://a.example.org/b', 'http://a.example.org/c'].map(
  (url, i) => ({
    updateTime: NOW - 1000 - i,
    text: document(
      url,
      { Title: `Page ${i}`, Type: 'HTML', 'Full-Text': 'wheat '.repeat(10 - i) },
      NOW - 1000 - i,
    ),
  }),
);

/** Starts a refererd with links to two of these objects; returns its `HOST:PORT`. */
async function startReferences(t: Test): Promise<string> {
  const data = await temporaryDirectory(t);
  await using builder = await ReferencesBuilder.create(data);
  const urls = ['http://a.example.org/~anna/', 'http://a.example.org/b', 'http://a.example.org/c'];
  for (const [i, url] of urls.entries()) builder.addDocument({ id: i + 1, url });
  for (let source = 100; source < 1100; source++) builder.addLink(source, 3);
  builder.addLink(2, 1);
  await builder.publish();
  const { address } = await serveFixture(t, { data });
  return `127.0.0.1:${address.port}`;
}

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof openWebsite>>['get']>>;

/** Returns the text and the target of each result's link count, by title. */
function linkCounts(page: Page): Record<string, string> {
  const found: Record<string, string> = {};
  for (const li of page.$('.results > li').get()) {
    const title = page.$(li).find('h2').text().trim();
    const link = page
      .$(li)
      .find('.about a')
      .filter((_, a) => page.$(a).text().startsWith('Linked from'));
    found[title] = link.length === 0 ? '' : `${link.text()} ${link.attr('href') ?? ''}`;
  }
  return found;
}

t.test('R-10: results say how many documents link to them, and link to the list of these', async (t) => {
  const server = await startReferences(t);
  const { get } = await openWebsite(t, { documents: OBJECTS, conf: `References-Server ${server}\n` });
  const page = await get(`${QUERY}?${FIELDS}`);
  t.equal(page.status, 200);
  t.same(linkCounts(page), {
    'Page 0': `Linked from 1 document http://${server}/?q=http%3A%2F%2Fa.example.org%2F%7Eanna%2F`,
    'Page 1': '',
    'Page 2': `Linked from 1,000 documents http://${server}/?q=http%3A%2F%2Fa.example.org%2Fc`,
  });
  const shown = await fetch(`http://${server}/?q=http%3A%2F%2Fa.example.org%2Fc&format=json`);
  t.match(await shown.json(), { found: 1000 });
  const json = JSON.parse((await get(`${QUERY}?${FIELDS}&format=json`)).body) as {
    objects: { title: string; linkedFrom?: number }[];
  };
  t.same(
    json.objects.map(({ title, linkedFrom }) => [title, linkedFrom]),
    [
      ['Page 0', 1],
      ['Page 1', undefined],
      ['Page 2', 1000],
    ],
  );
});

t.test('References-Rank raises documents that many others link to; it is off by default', async (t) => {
  const server = await startReferences(t);
  const conf = `References-Server ${server}\nReferences-Rank on\n`;
  const { get } = await openWebsite(t, { documents: OBJECTS, conf });
  const titles = async (more = '') => Object.keys(linkCounts(await get(`${QUERY}?${FIELDS}${more}`)));
  t.same(await titles(), ['Page 0', 'Page 2', 'Page 1']);
  t.same(await titles('&sort=by-NML'), ['Page 0', 'Page 1', 'Page 2'], 'only "best first" uses link counts');
});

t.test('links raise a result by a limited number of ranks', (t) => {
  const hits = Array.from({ length: 30 }, (_, i) => ({ url: `http://x/${i}`, lines: [], lineCount: 0 }));
  const order = (links: Record<string, number>) =>
    orderByLinks(hits, new Map(Object.entries(links))).map(({ url }) => Number(url.slice(9)));
  t.same(
    order({}),
    hits.map((_, i) => i),
    'results without links keep their order',
  );
  t.same(order({ 'http://x/19': 9 }).indexOf(19), 17);
  t.same(order({ 'http://x/2': 1_000_000 }).slice(0, 3), [0, 2, 1], 'never above one that is much better');
  t.same(order({ 'http://x/1': 1_000_000 }).slice(0, 3), [1, 0, 2], 'but above one of about the same rank');
  t.equal(order({ 'http://x/0': 99, 'http://x/29': 99 })[0], 0);
  t.end();
});

t.test('a silent or absent References Server delays one page by the deadline, and fails none', async (t) => {
  let requests = 0;
  const port = await tcpServer(t, (socket) => socket.on('data', () => requests++));
  {
    await using links = new LinkedFrom(`127.0.0.1:${port}`, { deadlineMs: 200, pauseMs: 3_600_000 });
    t.equal((await links.count(['http://a.example.org/'], never)).size, 0);
    t.equal(requests, 1);
    t.equal((await links.count(['http://a.example.org/'], never)).size, 0);
    t.equal(requests, 1, 'a silent server receives no request for a while');
  }
  const aborted = new AbortController();
  aborted.abort();
  {
    await using links = new LinkedFrom(`127.0.0.1:${port}`, { deadlineMs: 3_600_000, pauseMs: 0 });
    t.equal((await links.count(['http://a.example.org/'], aborted.signal)).size, 0, 'aborted: no counts');
    t.equal((await links.count(['file:///etc/motd', 'news:x'], never)).size, 0, 'no other schemes');
  }
  const { get } = await openWebsite(t, { documents: OBJECTS, conf: 'References-Server 127.0.0.1:1\n' });
  for (let i = 0; i < 2; i++) {
    const page = await get(`${QUERY}?${FIELDS}`);
    t.equal(page.status, 200);
    t.same(linkCounts(page), { 'Page 0': '', 'Page 1': '', 'Page 2': '' });
  }
  const plain = await openWebsite(t, { documents: OBJECTS });
  t.notMatch((await plain.get(`${QUERY}?${FIELDS}`)).body, /Linked from/);
});

t.test('the page of an IPv6 address has brackets', async (t) => {
  await using links = new LinkedFrom('[::1]:3324');
  t.equal(
    links.pageOf('http://a.example.org/%7Eb'),
    'http://[::1]:3324/?q=http%3A%2F%2Fa.example.org%2F%7Eb',
  );
  t.equal(links.pageOf('file:///etc/motd'), undefined);
});
