// Brokers that share a store in PostgreSQL and an index in OpenSearch: the one that writes the index is killed in the
// middle of a load, another one continues, and all find what a Broker with an index of its own finds.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import { LIBRARIES, TestCluster } from '../helpers/opensearch/cluster.js';
import { TestPostgres } from '../helpers/postgres/cluster.js';
import { SharingBroker } from '../helpers/postgres/sharing-broker.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { waitUntil } from '../helpers/wait-until.js';
import { document, exchange, NOW, startScripted } from '../servers/broker/helpers.js';

const skip = !existsSync(LIBRARIES) && 'the libraries of OpenSearch are not installed';
const DOCUMENTS = 5000;
const QUERIES = [
  'common',
  'word17',
  'title: word4*',
  'body: third and not word3',
  'fifth or word299',
  '/7$/',
];

t.test('one index for several brokers', { skip }, async (t) => {
  const root = await temporaryDirectory(t);
  await using cluster = await TestCluster.start(root, 1);
  await using postgres = await TestPostgres.start(root);
  const documentsOf = (count: number) =>
    Array.from({ length: count }, (_, n) => {
      const updateTime = NOW - 100_000 + n;
      const parts = [n % 3 === 0 ? 'third' : '', n % 5 === 0 ? 'fifth' : '', 'text '.repeat(200)];
      const text = document(
        `http://www.example.org/${n}`,
        { Title: `common word${n}`, Body: parts.join(' ') },
        updateTime,
      ).replace(/Time-to-Live\{7\}:\t2419200/, 'Time-to-Live{1}:\t0');
      return { updateTime, text };
    });
  const gatherd = await startScripted(t, documentsOf(200));
  const lines = `Indexer-Type OpenSearch\nOpenSearch-URL ${cluster.urls[0]}\nOpenSearch-Index library\n`;
  const common = { t, url: postgres.url(), gatherds: [gatherd] };
  const one = new SharingBroker(join(root, 'one'), { ...common, lines });
  const other = new SharingBroker(join(root, 'other'), { ...common, lines });
  const embedded = new SharingBroker(join(root, 'embedded'), common);
  const brokers = [one, other, embedded];
  for (const broker of brokers) {
    await broker.create();
    await broker.start();
  }
  /** The changes that OpenSearch has received, in all indexes of the alias. */
  const received = async (): Promise<number> => {
    const stats = await (await fetch(`${cluster.urls[0]}/library-*/_stats/indexing`)).json();
    return Number(/"index_total":(\d+)/.exec(JSON.stringify(stats))?.[1] ?? 0);
  };
  const answers = async ({ port }: SharingBroker): Promise<string[]> => {
    const found: string[] = [];
    for (const query of QUERIES) {
      const reply = await exchange(port, `#USER #opaque #END ${query}\r\n`);
      const urls = [...reply.matchAll(/http:\/\/www\.example\.org\/\d+/g)].map(([url]) => url);
      found.push(`${query}: ${[...new Set(urls)].sort().join(' ')}`);
    }
    return found;
  };
  const equal = async (t: Test, what: string): Promise<void> => {
    const expected = await answers(embedded);
    t.match(expected[0], /www\.example\.org/);
    t.same(await answers(one), expected, what);
    t.same(await answers(other), expected, what);
  };

  await t.test('what is collected all find by the one index', async (t) => {
    await other.collect();
    for (const broker of brokers) await broker.finds('common', 200);
    await equal(t, '200 objects');
  });

  await t.test('the writer is killed in the middle of a load', async (t) => {
    t.match((await other.admin('do-stats')).stdout, `Index: `);
    t.match((await other.admin('do-stats')).stdout, `(process ${one.process?.child.pid}) writes it`);
    gatherd.documents = documentsOf(DOCUMENTS);
    const before = await received();
    await other.startCollection();
    await waitUntil(async () => (await received()) > before + 500);
    await one.kill();
    t.ok((await received()) < before + DOCUMENTS, 'it had not written everything');
    for (const broker of [other, embedded]) await broker.finds('common', DOCUMENTS);
    await one.start();
    await one.finds('common', DOCUMENTS);
    await equal(t, 'the other one has continued');
    t.match((await one.admin('do-stats')).stdout, `(process ${other.process?.child.pid}) writes it`);
  });

  await t.test('everything is indexed again by the one that writes', async (t) => {
    const { stdout, stderr } = await one.admin('full-index');
    t.match(stdout + stderr, `(process ${other.process?.child.pid}) writes the index: give it this command`);
    t.equal((await other.admin('full-index')).code, 0);
    await waitUntil(async () => (await fetch(`${cluster.urls[0]}/library-2`)).status === 200);
    gatherd.documents = documentsOf(DOCUMENTS + 10);
    await one.collect();
    for (const broker of brokers) await broker.finds('common', DOCUMENTS + 10);
    await equal(t, 'the next index');
  });

  await t.test(
    'a writer that stands still is replaced, and looks at the index when it wakes up',
    async (t) => {
      other.process?.kill('SIGSTOP');
      gatherd.documents = documentsOf(DOCUMENTS + 15);
      await one.startCollection();
      await one.finds('common', DOCUMENTS + 15);
      other.process?.kill('SIGCONT');
      for (const broker of [other, embedded]) await broker.finds('common', DOCUMENTS + 15);
      await equal(t, 'after it woke up');
      t.match((await other.admin('do-stats')).stdout, `(process ${one.process?.child.pid}) writes it`);
    },
  );

  await t.test('a writer that ends gives the index to the other one', async (t) => {
    one.process?.kill('SIGTERM');
    await one.process?.finished;
    gatherd.documents = documentsOf(DOCUMENTS + 20);
    await other.collect();
    await other.finds('common', DOCUMENTS + 20);
    await one.start();
    await one.finds('common', DOCUMENTS + 20);
    await embedded.finds('common', DOCUMENTS + 20);
    await equal(t, 'after the end');
  });
});
