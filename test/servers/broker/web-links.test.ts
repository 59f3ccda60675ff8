// "Linked from N documents" on the result pages: what a References Server knows, and pages without one.
import { once } from 'node:events';
import { createServer } from 'node:net';
import t, { type Test } from 'tap';
import { LinkedFrom, orderByLinks } from '../../../servers/broker/web/linked-from.js';
import { ReferencesBuilder } from '../../../storage/references/index.js';
import { serveFixture, temporary } from '../refererd/scene.js';
import { document, NOW } from './scene.js';
import { QUERY, website } from './web-scene.js';

const never = new AbortController().signal;
const FIELDS = 'query=wheat&caseflag=on&wordflag=on&opaqueflag=on';

/** Three objects: the more often they say `wheat`, the better they rank. */
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

/** A refererd that knows of links to two of them; `HOST:PORT`. */
async function references(t: Test): Promise<string> {
  const data = await temporary(t);
  await using builder = await ReferencesBuilder.create(data);
  const urls = ['http://a.example.org/~anna/', 'http://a.example.org/b', 'http://a.example.org/c'];
  for (const [i, url] of urls.entries()) builder.addDocument({ id: i + 1, url });
  for (let source = 100; source < 1100; source++) builder.addLink(source, 3);
  builder.addLink(2, 1);
  await builder.publish();
  const { address } = await serveFixture(t, { data });
  return `127.0.0.1:${address.port}`;
}

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof website>>['get']>>;

function links(page: Page): Record<string, string> {
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

t.test(
  'R-10 results say how many documents link to them, and lead to the page that shows them',
  async (t) => {
    const server = await references(t);
    const { get } = await website(t, { documents: OBJECTS, conf: `References-Server ${server}\n` });
    const page = await get(`${QUERY}?${FIELDS}`);
    t.equal(page.status, 200);
    t.same(links(page), {
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
  },
);

t.test('References-Rank raises documents that many others link to; it is off by default', async (t) => {
  const server = await references(t);
  const conf = `References-Server ${server}\nReferences-Rank on\n`;
  const { get } = await website(t, { documents: OBJECTS, conf });
  const titles = async (more = '') => Object.keys(links(await get(`${QUERY}?${FIELDS}${more}`)));
  t.same(await titles(), ['Page 2', 'Page 0', 'Page 1']);
  t.same(await titles('&sort=by-NML'), ['Page 0', 'Page 1', 'Page 2'], 'only "best first"');
});

t.test('the weight of a link falls with its rank', (t) => {
  const hits = Array.from({ length: 30 }, (_, i) => ({ url: `http://x/${i}`, lines: [], lineCount: 0 }));
  const order = (links: Record<string, number>) =>
    orderByLinks(hits, new Map(Object.entries(links))).map(({ url }) => Number(url.slice(9)));
  t.same(
    order({}),
    hits.map((_, i) => i),
    'without links the order stays',
  );
  t.equal(order({ 'http://x/19': 9 })[0], 19);
  t.equal(order({ 'http://x/21': 9 })[0], 0, 'but not quite from anywhere');
  t.equal(order({ 'http://x/0': 99, 'http://x/29': 99 })[0], 0);
  t.end();
});

t.test('a References Server that is silent or down costs one deadline, and no page', async (t) => {
  let asked = 0;
  const silent = createServer((socket) => socket.on('error', () => undefined).on('data', () => asked++));
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const address = silent.address();
  const port = address === null || typeof address === 'string' ? 0 : address.port;
  t.teardown(() => silent.close());
  {
    await using links = new LinkedFrom(`127.0.0.1:${port}`, { deadlineMs: 200, pauseMs: 3_600_000 });
    t.equal((await links.count(['http://a.example.org/'], never)).size, 0);
    t.equal(asked, 1);
    t.equal((await links.count(['http://a.example.org/'], never)).size, 0);
    t.equal(asked, 1, 'it receives no request for a while');
  }
  const gone = new AbortController();
  gone.abort();
  {
    await using links = new LinkedFrom(`127.0.0.1:${port}`, { deadlineMs: 3_600_000, pauseMs: 0 });
    t.equal((await links.count(['http://a.example.org/'], gone.signal)).size, 0, 'the client is gone');
    t.equal((await links.count(['file:///etc/motd', 'news:x'], never)).size, 0, 'nothing to ask');
  }
  const { get } = await website(t, { documents: OBJECTS, conf: 'References-Server 127.0.0.1:1\n' });
  for (let i = 0; i < 2; i++) {
    const page = await get(`${QUERY}?${FIELDS}`);
    t.equal(page.status, 200);
    t.same(links(page), { 'Page 0': '', 'Page 1': '', 'Page 2': '' });
  }
  const plain = await website(t, { documents: OBJECTS });
  t.notMatch((await plain.get(`${QUERY}?${FIELDS}`)).body, /Linked from/);
});

t.test('an address in brackets', async (t) => {
  await using links = new LinkedFrom('[::1]:3324');
  t.equal(
    links.pageOf('http://a.example.org/%7Eb'),
    'http://[::1]:3324/?q=http%3A%2F%2Fa.example.org%2F%7Eb',
  );
  t.equal(links.pageOf('file:///etc/motd'), undefined);
});
