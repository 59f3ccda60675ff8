// The OpenSearch engine against a server that the test scripts: what it repeats, what it reports, and how much it sends.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import { encodeSoif } from '../../../protocols/soif/index.js';
import { BrokerStore } from '../../../storage/broker/broker-store.js';
import {
  type Indexer,
  type OpenSearchIndexerOptions,
  openOpenSearchIndexer,
} from '../../../storage/indexers/index.js';
import { examineCluster } from '../../../storage/indexers/opensearch/examine-cluster.js';
import { ManualClock, passTime } from '../../helpers/manual-clock.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { TLS_CERTIFICATE } from '../../helpers/tls.js';
import { expressionOf, objectOf, PLAIN_SEARCH } from './embedded-fixture.js';
import { bulkReply, FakeCluster, type Reply, refusal, type Script, serve } from './fake-cluster.js';

const OVERLOADED = refusal(
  429,
  'rejected_execution_exception',
  'rejected execution of coordinating operation',
);

/** Opens an engine on scripted nodes. */
async function open(
  t: Test,
  clusters: readonly FakeCluster[],
  options: Partial<OpenSearchIndexerOptions> = {},
): Promise<Indexer> {
  const directory = await temporaryDirectory(t);
  const storeDirectory = join(directory, 'store');
  await using store = await BrokerStore.open(storeDirectory);
  await store.close();
  const nodes = await Promise.all(clusters.map((cluster) => serve(t, cluster)));
  const indexer = await openOpenSearchIndexer({ directory, storeDirectory, nodes, index: 'web', ...options });
  t.teardown(() => indexer.close());
  return indexer;
}

const OBJECT = encodeSoif(objectOf({ title: 'apple' }));
const errorOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no error',
    (error: unknown) => String(error),
  );

t.test('what is not a usable OpenSearch is refused with a sentence', async (t) => {
  const answers: readonly (readonly [Reply, RegExp])[] = [
    [{ status: 200, body: '<html>' }, /is not OpenSearch: it answers no JSON$/],
    [
      { status: 200, body: { version: { number: '8.1.0' } } },
      /^\S+ http:\/\/127\.0\.0\.1:\d+ is not OpenSearch$/,
    ],
    [{ status: 418, body: 'teapot' }, /is not OpenSearch: it answers 418$/],
    [{ status: 401, body: 'Unauthorized' }, /OpenSearch refuses the login \(401\)$/],
    [refusal(403, 'security_exception', 'no permissions'), /does not permit GET \/ \(403\): no permissions$/],
    [refusal(503, 'cluster_manager_not_discovered_exception', ''), /has no manager at present$/],
  ];
  for (const [reply, message] of answers) {
    const cluster = new FakeCluster();
    cluster.script = () => reply;
    t.match(await errorOf(open(t, [cluster])), message);
  }
  t.match(
    await errorOf(open(t, [new FakeCluster('2.3.0')])),
    /OpenSearch 2\.3\.0 is too old: this kit needs 2\.4/,
  );
  t.match(await errorOf(open(t, [])), /OpenSearch-URL: no node is given/);
  const withLogin = open(t, [], { nodes: ['http://user:secret@h:9200'] });
  t.match(await errorOf(withLogin), /a login belongs into the file of OpenSearch-Login$/);
});

t.test('the login is sent, and is in no message', async (t) => {
  const loginFile = join(await temporaryDirectory(t), 'login');
  await writeFile(loginFile, 'user:secret\n');
  const cluster = new FakeCluster();
  cluster.script = ({ path }) => (path === '/' ? undefined : { status: 401, body: 'Unauthorized' });
  const message = await errorOf(open(t, [cluster], { loginFile }));
  t.equal(cluster.requests[0]?.authorization, `Basic ${Buffer.from('user:secret').toString('base64')}`);
  t.match(message, /refuses the login/);
  t.notMatch(message, /secret/);
});

t.test('an examination says what a Broker would meet', async (t) => {
  const directory = await temporaryDirectory(t);
  const examine = async (
    cluster: FakeCluster,
    options: Partial<Parameters<typeof examineCluster>[0]> = {},
  ) => {
    const nodes = [await serve(t, cluster)];
    return (await examineCluster({ directory, nodes, index: 'web', ...options })).map(
      ({ status, text }) => `${status}: ${text.replace(/http:[^ ,]*/, 'NODE')}`,
    );
  };
  const cluster = new FakeCluster('3.3.2');
  t.same(await examine(cluster), [
    'ok: OpenSearch 3.3.2 answers at NODE',
    'ok: the Broker makes the index web at its start',
  ]);
  const answering = (part: string, reply: Reply) => {
    const other = new FakeCluster();
    other.script = ({ path }) => (path.includes(part) ? reply : undefined);
    return other;
  };
  const ok = (body: unknown): Reply => ({ status: 200, body });
  const second = async (part: string, reply: Reply) => (await examine(answering(part, reply)))[1];
  t.match(
    await second('_cluster/health', ok({ status: 'red', number_of_nodes: 3 })),
    /^problem: the cluster is red/,
  );
  t.match(
    await second('_cluster/health', ok({ status: 'yellow', number_of_nodes: 3 })),
    /^warning: the cluster is yellow/,
  );
  const disk = (percent: string) => ok([{ node: 'n1', 'disk.percent': percent, 'disk.avail': '2gb' }]);
  t.match(
    await second('_cat/allocation', disk('91')),
    /^warning: the disk of node n1 is 91 % full, 2gb is free/,
  );
  t.match(await second('_cat/allocation', disk('97')), /^problem: .* permits no changes from 95 % on$/);
  const meta = { rules: 99, unicode: '1', owner: '', watermark: 0, epoch: 0 };
  const mapping = (harvest: object) => ok({ 'web-1': { mappings: { _meta: { harvest } } } });
  t.match(await second('_mapping', mapping(meta)), /^problem: .* by a newer version of this kit$/);
  t.match(
    await second('_mapping', mapping({ ...meta, rules: 2, owner: 'x' })),
    /^problem: .* another Broker/,
  );
  t.match(await second('_mapping', mapping({ ...meta, rules: 1 })), /^warning: .* of an older version/);
  const ofStore = answering('_mapping', mapping({ ...meta, rules: 2, owner: 'store library' }));
  const shared = async () => (await examine(ofStore, { isStoreShared: true }))[1];
  t.equal(await shared(), 'ok: the Broker says at its start whether the index web is that of its store');
  await writeFile(join(directory, 'owner'), 'store library\n');
  t.equal(await shared(), 'ok: the index web-1 has 0 objects');
  t.match((await examine(ofStore))[1], /^problem: .* another Broker/, 'without the store');
  t.same(await examine(answering('/', { status: 401, body: 'no' })), [
    'problem: OpenSearch refuses the login (401)',
  ]);
  t.match(await examine(new FakeCluster('2.3.0')), [/^problem: OpenSearch 2\.3\.0 is too old/]);
  const [missing] = await examine(cluster, { authorityFile: join(directory, 'none.pem') });
  t.match(missing, /^problem: OpenSearch-CA: .*none.pem cannot be read/);
  await writeFile(join(directory, 'wrong.pem'), 'secret');
  const [wrong] = await examine(cluster, { authorityFile: join(directory, 'wrong.pem') });
  t.match(wrong, /^problem: OpenSearch-CA: .*wrong.pem has no certificate in PEM/);
  t.notMatch(wrong, /secret/);
  const [gone] = await examineCluster({ directory, nodes: ['http://127.0.0.1:1'], index: 'web' });
  t.match(gone, { status: 'problem', text: /^OpenSearch does not answer at / });
  for (const { method } of cluster.requests) t.equal(method, 'GET', 'nothing is changed');
});

t.test('nodes with TLS: the certificates of an authority are a file', async (t) => {
  const directory = await temporaryDirectory(t);
  const authorityFile = join(directory, 'authority.pem');
  await writeFile(authorityFile, TLS_CERTIFICATE);
  const cluster = new FakeCluster();
  const node = await serve(t, cluster, true);
  const indexer = await open(t, [], { nodes: [node], authorityFile });
  await indexer.beginUpdate();
  await indexer.add(1, OBJECT);
  await indexer.flush(1);
  t.equal(indexer.watermark, 1);
  const problem = async (url: string, options = {}) =>
    (await examineCluster({ directory, nodes: [url], index: 'web', ...options }))[0]?.text;
  t.match(await problem(node), /^https:\S+: its certificate is not accepted \(OpenSearch-CA names .*\): \S/);
  t.match(
    await problem(node.replace('127.0.0.1', '[::ffff:127.0.0.1]'), { authorityFile }),
    /its certificate is not accepted/,
    'it is of another host',
  );
  const plain = (await serve(t, cluster)).replace('http:', 'https:');
  t.match(
    await problem(plain),
    /^https:\S+: the node does not speak TLS; OpenSearch-URL may have to begin with http:/,
  );
  t.match(await problem(node.replace('https:', 'http:')), /^OpenSearch does not answer at http:/);
});

t.test('changes that a node has no room for are repeated, and no others', async (t) => {
  const clock = new ManualClock();
  const cluster = new FakeCluster();
  const indexer = await open(t, [cluster], { clock });
  let requests = 0;
  cluster.script = ({ path, body }) => {
    if (!path.endsWith('/_bulk')) return undefined;
    requests++;
    if (requests === 1) return OVERLOADED;
    const rejected = { status: 429, error: { type: 'rejected_execution_exception', reason: 'full' } };
    return {
      status: 200,
      body: bulkReply(body, (id) => (requests === 2 && id === '2' ? rejected : { status: 200 })),
    };
  };
  await indexer.beginUpdate();
  for (const oid of [1, 2, 3]) await indexer.add(oid, OBJECT);
  let isFlushed = false;
  const flushed = indexer.flush(3).then(() => {
    isFlushed = true;
  });
  await passTime(clock, 50, () => isFlushed);
  await flushed;
  const sent = cluster
    .of('/_bulk')
    .map(({ body }) => [...body.matchAll(/"_id":"(\d)"/g)].map(([, id]) => id));
  t.same(sent, [['1', '2', '3'], ['1', '2', '3'], ['2']]);
  t.equal(indexer.watermark, 3);
});

t.test('an overload that does not end, ends the run after the patience', async (t) => {
  const clock = new ManualClock();
  const cluster = new FakeCluster();
  const indexer = await open(t, [cluster], { clock, patienceMs: 1000 });
  cluster.script = ({ path }) => (path.endsWith('/_bulk') ? OVERLOADED : undefined);
  await indexer.beginUpdate();
  await indexer.add(1, OBJECT);
  let message = '';
  const flushed = errorOf(indexer.flush(1)).then((error) => {
    message = error;
  });
  const began = clock.now();
  await passTime(clock, 50, () => message !== '');
  await flushed;
  t.match(message, /OpenSearch is overloaded or not ready: 429 rejected_execution_exception/);
  t.ok(clock.now() - began <= 1500);
  t.equal(indexer.watermark, 0);
  cluster.script = () => undefined;
  await indexer.beginUpdate();
  await indexer.add(1, OBJECT);
  await indexer.flush(1);
  t.equal(indexer.watermark, 1, 'the next run works');
});

t.test('a refused document is named', async (t) => {
  const cluster = new FakeCluster();
  const indexer = await open(t, [cluster]);
  const refused = { status: 400, error: { type: 'mapper_parsing_exception', reason: 'failed to parse' } };
  cluster.script = ({ path, body }) =>
    path.endsWith('/_bulk')
      ? { status: 200, body: bulkReply(body, (id) => (id === '2' ? refused : { status: 200 })) }
      : undefined;
  await indexer.beginUpdate();
  for (const oid of [1, 2, 3]) await indexer.add(oid, OBJECT);
  const message = await errorOf(indexer.flush(3));
  t.match(message, /the change of object 2 with 400: mapper_parsing_exception: failed to parse$/);
});

t.test('at most two bulk requests are in memory', async (t) => {
  const cluster = new FakeCluster();
  const indexer = await open(t, [cluster], { requestBytes: 1000 });
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let open_ = 0;
  let most = 0;
  cluster.script = async ({ path, body }) => {
    if (!path.endsWith('/_bulk')) return undefined;
    most = Math.max(most, ++open_);
    await held;
    open_--;
    return { status: 200, body: bulkReply(body, () => ({ status: 200 })) };
  };
  await indexer.beginUpdate();
  let added = 0;
  const adding = (async () => {
    for (let oid = 1; oid <= 100; oid++) {
      await indexer.add(oid, OBJECT);
      added = oid;
    }
  })();
  while (cluster.of('/_bulk').length === 0) await new Promise((resolve) => setImmediate(resolve));
  t.ok(added < 20, `${added} objects are taken while the first request is not answered`);
  release();
  await adding;
  await indexer.flush(1);
  t.equal(most, 1, 'one request at a time, so that changes keep their order');
});

t.test(
  'a query is answered in another order while OpenSearch does not say what it needs for the order',
  async (t) => {
    const cluster = new FakeCluster();
    const indexer = await open(t, [cluster]);
    await indexer.beginUpdate();
    await indexer.add(1, OBJECT);
    await indexer.flush(1);
    for (const part of ['_termvectors', '_msearch']) {
      let failures = 0;
      cluster.script = ({ path }) => {
        if (path.startsWith('/_search?'))
          return {
            status: 200,
            body: { hits: { hits: ['1', '2'].map((_id) => ({ _id, _score: 1, sort: [] })) } },
          };
        if (!path.includes(part)) return undefined;
        failures++;
        return refusal(503, 'search_phase_execution_exception', 'all shards failed');
      };
      const results = indexer.query(expressionOf('apple'), { ...PLAIN_SEARCH, lifetimeMs: 20_000 });
      for await (const _ of results) t.fail('the store has no object');
      t.match(await results.outcome, { complete: true }, part);
      t.ok(failures > 0, `${part} failed`);
    }
  },
);

t.test('a query that no node answers ends within seconds, with a sentence', async (t) => {
  const clock = new ManualClock();
  const cluster = new FakeCluster();
  const indexer = await open(t, [cluster], { clock });
  await indexer.beginUpdate();
  await indexer.add(1, OBJECT);
  await indexer.flush(1);
  cluster.script = () => 'hang up';
  for (const options of [{}, { matchWord: true, mostWords: true } as const]) {
    const began = clock.now();
    let message = '';
    const asked = (async () => {
      for await (const _ of indexer.query(expressionOf('apple and pear'), { ...PLAIN_SEARCH, ...options }))
        t.fail('no node has answered');
    })().catch((error: unknown) => {
      message = String(error);
    });
    await passTime(clock, 50, () => message !== '');
    await asked;
    t.match(message, /OpenSearch does not answer at http/);
    t.ok(clock.now() - began <= 20_000, `${clock.now() - began} ms`);
  }
});

t.test('a query goes to another node if one fails, and closes its state', async (t) => {
  const broken = new FakeCluster();
  const whole = new FakeCluster();
  const indexer = await open(t, [whole, broken]);
  await indexer.beginUpdate();
  await indexer.add(1, OBJECT);
  await indexer.flush(1);
  const failures: readonly (Reply | 'hang up')[] = [
    'hang up',
    refusal(503, 'search_phase_execution_exception', 'all shards failed'),
    refusal(500, 'illegal_state_exception', 'no node found for id: 34Z1FGOZRBOqo5m5CKby7Q'),
    refusal(404, 'search_context_missing_exception', 'No search context found'),
  ];
  for (const failure of failures) {
    let times = 2;
    const script: Script = ({ path }) => (path.startsWith('/_search?') && times-- > 0 ? failure : undefined);
    whole.script = script;
    broken.script = script;
    const before = [...whole.of('point_in_time'), ...broken.of('point_in_time')].length;
    const results = indexer.query(expressionOf('apple'), PLAIN_SEARCH);
    for await (const _ of results) t.fail('the cluster has no object');
    t.match(await results.outcome, { complete: true });
    const views = [...whole.of('point_in_time'), ...broken.of('point_in_time')].slice(before);
    const opened = views.filter(({ method }) => method === 'POST').length;
    t.ok(opened >= 1);
    t.equal(views.filter(({ method }) => method === 'DELETE').length, opened, 'each state is closed');
  }
});
