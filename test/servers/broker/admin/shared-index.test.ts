// Brokers that share an index: one writes it, and another continues when it stands still.
import { join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import { IndexKeeper } from '../../../../servers/broker/admin/index-keeper.js';
import { INDEX_LEASE_MS, IndexLead } from '../../../../servers/broker/admin/index-lead.js';
import { BrokerStore, Leases } from '../../../../storage/index.js';
import { openOpenSearchIndexer } from '../../../../storage/indexers/index.js';
import { rowsWithTime } from '../../../../storage/leases/rows-with-time.js';
import { Level } from '../../../../storage/level/level.js';
import { ManualClock, nextTurn, passTime, until } from '../../../helpers/manual-clock.js';
import { temporaryDirectory } from '../../../helpers/temporary-directory.js';
import { FakeCluster, type Reply, serve } from '../../../storage/indexers/fake-cluster.js';
import { document, NOW, storeObject } from '../helpers.js';

interface Head {
  readonly index?: { readonly _id: string; readonly version: number };
  readonly delete?: { readonly _id: string; readonly version: number };
}

/** A cluster that keeps the versions of its documents. */
class VersionedCluster extends FakeCluster {
  readonly versions = new Map<string, number>();
  /** Documents whose change was refused, because it was one of an earlier writer. */
  readonly refused: string[] = [];
  /** A bulk request waits for it before it takes effect. */
  gate: Promise<void> | undefined;

  constructor() {
    super();
    this.script = async ({ path, body }) => {
      if (path.endsWith('/_count')) return { status: 200, body: { count: this.versions.size } };
      if (!path.endsWith('/_bulk')) return undefined;
      const { gate } = this;
      this.gate = undefined;
      await gate;
      return this.#change(body);
    };
  }

  /** The writer that the index names, and its watermark. */
  get meta(): { epoch: number; watermark: number } {
    const written = this.requests.filter(({ method, path }) => method === 'PUT' && path.endsWith('_mapping'));
    const { _meta } = JSON.parse(written.at(-1)?.body ?? '{}') as {
      _meta: { harvest: { epoch: number; watermark: number } };
    };
    return { epoch: _meta.harvest.epoch, watermark: _meta.harvest.watermark };
  }

  #change(body: string): Reply {
    const heads = body
      .split('\n')
      .filter((line) => /^\{"(?:index|delete)":/.test(line))
      .map((line) => JSON.parse(line) as Head);
    const items = heads.map((head) => {
      const { _id = '', version = 0 } = head.index ?? head.delete ?? {};
      const isLate = version < (this.versions.get(_id) ?? 0);
      if (isLate) this.refused.push(_id);
      else this.versions.set(_id, version);
      const refusal = { status: 409, error: { type: 'version_conflict_engine_exception', reason: 'late' } };
      return { index: { _id, ...(isLate ? refusal : { status: 200 }) } };
    });
    return { status: 200, body: { errors: items.some(({ index }) => index.status !== 200), items } };
  }
}

/** A store, an index, and Brokers that are given both. */
async function scene(t: Test) {
  const directory = await temporaryDirectory(t);
  const storeDirectory = join(directory, 'store');
  const store = await BrokerStore.open(storeDirectory, { now: () => NOW });
  const level = await Level.open(join(directory, 'leases'), { kind: 'broker' });
  t.teardown(async () => {
    await store.close();
    await level.close();
  });
  let now = Date.UTC(2026, 0, 1);
  const rows = rowsWithTime(level, () => now);
  const cluster = new VersionedCluster();
  const node = await serve(t, cluster);
  const join_ = async (owner: string) => {
    const clock = new ManualClock();
    const terms: boolean[] = [];
    const indexer = await openOpenSearchIndexer({
      ...{ directory: join(directory, owner), storeDirectory, nodes: [node] },
      ...{ index: 'web', storeName: 'library' },
    });
    const { name = '' } = indexer.shared ?? {};
    const lead = new IndexLead({
      ...{ leases: new Leases(rows, { owner, leaseMs: INDEX_LEASE_MS }), index: name, clock },
    });
    const onTerm = (isWriter: boolean): void => {
      terms.push(isWriter);
    };
    const keeper = await IndexKeeper.open(store, indexer, { lead, onTerm, patienceMs: 2000 });
    t.teardown(async () => {
      await lead[Symbol.asyncDispose]();
      await indexer.close();
    });
    return { indexer, lead, keeper, clock, terms };
  };
  let objects = 0;
  const put = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++)
      await storeObject(
        { store },
        document(`http://h/${++objects}`, { Title: `apple ${objects}` }, NOW - 100),
      );
  };
  /** Lets time pass for the database and for the Brokers that do not stand still. */
  const pass = async (ms: number, moving: readonly { readonly clock: ManualClock }[]): Promise<void> => {
    for (let left = ms; left > 0; left -= 500) {
      now += 500;
      for (const { clock } of moving) clock.advance(500);
      for (let i = 0; i < 10; i++) await nextTurn();
    }
  };
  return { store, cluster, join: join_, put, pass };
}

t.test('one writes the index, the others look at what it has done', async (t) => {
  const { store, cluster, join, put } = await scene(t);
  const one = await join('one');
  const other = await join('other');
  await put(3);
  await other.keeper.settle();
  t.equal(other.indexer.watermark, 0, 'it only searches');
  t.equal(other.keeper.lag, 3);
  t.equal(cluster.of('_bulk').length, 0);
  await one.keeper.settle();
  t.equal(one.indexer.watermark, store.lastSequence);
  await other.keeper.followOthers();
  t.match(other.indexer, { watermark: store.lastSequence, objects: 3 });
  t.equal(cluster.of('_bulk').length, 1);
  t.same([await one.keeper.writer(), await other.keeper.writer()], [undefined, 'one']);
  await t.rejects(other.keeper.rebuild(), {
    code: 'ERR_STATE',
    message: /^one writes the index, .*ask that one$/,
  });
  await one.keeper.rebuild();
  t.same([one.terms, other.terms], [[true], []]);
  await t.rejects(other.indexer.beginUpdate(), { message: 'another Broker writes the index' });
});

t.test('a broker that ends gives the index to the next one at once', async (t) => {
  const { store, cluster, join, put } = await scene(t);
  const one = await join('one');
  const other = await join('other');
  await put(2);
  await one.keeper.settle();
  await one.lead[Symbol.asyncDispose]();
  await put(1);
  await other.keeper.settle();
  t.equal(other.indexer.watermark, store.lastSequence);
  t.same(cluster.meta, { epoch: 2, watermark: 3 });
  t.equal(cluster.versions.size, 3);
});

t.test(
  'a writer that stands still in a bulk load is replaced, and writes nothing when it wakes up',
  async (t) => {
    const { store, cluster, join, put, pass } = await scene(t);
    const one = await join('one');
    const other = await join('other');
    await put(2);
    await one.keeper.settle();
    await put(3);
    let open = (): void => undefined;
    cluster.gate = new Promise((resolve) => {
      open = resolve;
    });
    const load = one.keeper.settle();
    await passTime(other.clock, 0, () => cluster.gate === undefined);
    await pass(INDEX_LEASE_MS / 2, [other]);
    await other.keeper.settle();
    t.equal(other.indexer.watermark, 2, 'not before the lease has ended');
    await pass(INDEX_LEASE_MS / 2, [other]);
    await other.keeper.settle();
    t.equal(other.indexer.watermark, store.lastSequence, 'it continues after the watermark');
    t.same(cluster.meta, { epoch: 2, watermark: 5 });
    const versions = new Map(cluster.versions);
    t.same([...versions.keys()].sort(), ['1', '2', '3', '4', '5']);
    one.clock.advance(INDEX_LEASE_MS);
    open();
    await load;
    await t.resolves(one.keeper.settle(), 'it looks at the index like the others');
    await until(() => cluster.refused.length === 3);
    t.same(cluster.versions, versions);
    t.same(cluster.refused, ['3', '4', '5'], 'what it had sent came late');
    t.same(cluster.meta, { epoch: 2, watermark: 5 });
    t.match(one.indexer, { watermark: 5, objects: 5 });
    t.same([one.terms, other.terms], [[true, false], [true]]);
  },
);

t.test('what must find everything waits for the writer', async (t) => {
  const { store, join, put, pass } = await scene(t);
  const one = await join('one');
  const other = await join('other');
  await put(1);
  let isComplete = false;
  const complete = other.keeper.complete().then(() => {
    isComplete = true;
  });
  await pass(500, [other]);
  t.equal(isComplete, false);
  await one.keeper.followOthers();
  await passTime(other.clock, 500, () => isComplete);
  await complete;
  t.equal(other.indexer.watermark, store.lastSequence);
  await put(1);
  const late = t.rejects(other.keeper.complete(), {
    message: /the index lacks 1 changes, which one indexes/,
  });
  let isOver = false;
  void late.finally(() => {
    isOver = true;
  });
  await passTime(other.clock, 500, () => isOver);
});

t.test('a writer that does not reach the index lets another one write', async (t) => {
  const { store, cluster, join, put } = await scene(t);
  const one = await join('one');
  const other = await join('other');
  await put(1);
  const usual = cluster.script;
  cluster.script = () => ({ status: 403, body: { error: { type: 'security_exception', reason: 'no' } } });
  await t.rejects(one.keeper.settle(), { code: 'ERR_STORAGE' });
  cluster.script = usual;
  await other.keeper.settle();
  t.equal(other.indexer.watermark, store.lastSequence);
  t.equal(await one.keeper.writer(), 'other');
});

t.test('an index that was removed is made again by the one that writes', async (t) => {
  const { store, cluster, join, put } = await scene(t);
  const one = await join('one');
  const other = await join('other');
  await put(2);
  await one.keeper.settle();
  const usual = cluster.script;
  let isGone = true;
  const loads = cluster.of('_bulk').length;
  cluster.script = (request) => {
    const { method, path } = request;
    if (method === 'PUT' && path === '/web-1') isGone = false;
    const missing = { status: 404, body: { error: { type: 'index_not_found_exception', reason: 'no' } } };
    return isGone && method === 'GET' && path.endsWith('/_mapping') ? missing : usual(request);
  };
  await other.keeper.followOthers();
  t.equal(other.keeper.lag, 2);
  await one.keeper.followOthers();
  t.equal(cluster.of('_bulk').length, loads + 1);
  t.equal(one.indexer.watermark, store.lastSequence);
  await other.keeper.followOthers();
  t.equal(other.keeper.lag, 0);
});
