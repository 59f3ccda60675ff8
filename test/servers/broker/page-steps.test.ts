// The work of pages and digests in the server's thread is done in steps, each in a turn that is paid for: counted, not timed.
import fc from 'fast-check';
import t from 'tap';
import { TermFinder } from '../../../clients/broker/query-terms.js';
import { parseQuery } from '../../../protocols/broker/index.js';
import { SetDigest } from '../../../protocols/bulk/index.js';
import { NameCounter } from '../../../servers/broker/admin/name-counter.js';
import { DigestCache } from '../../../servers/broker/bulk/digest.js';
import { FacetCounter } from '../../../servers/broker/web/facets.js';
import { DEFAULT_FORM } from '../../../servers/broker/web/form.js';
import { passagesOf } from '../../../servers/broker/web/passages.js';
import type { ShownHit } from '../../../servers/broker/web/results.js';
import type { BrokerStore, RegistryEntry } from '../../../storage/index.js';
import type { Indexer } from '../../../storage/indexers/index.js';
import { assertProperty } from '../../helpers/property.js';
import { soif } from './helpers.js';

const OBJECTS = 6000;
/** Entries that are read in one turn at most. */
const STEP = 64;

const ENTRIES = Array.from({ length: OBJECTS }, (_, oid): RegistryEntry => {
  const entry = {
    ...{ oid, url: `http://h${oid % 700}.example/${oid}`, type: `t${oid % 9}`, length: 100, description: '' },
    ...{ gathererName: `g${oid % 3}`, gathererHost: 'g.example', gathererVersion: '1' },
    ...{ updateTime: 1_000_000, timeToLive: 1_000_000_000, refreshRate: 1 },
  };
  return entry as unknown as RegistryEntry;
});

/** A store with the entries, which notes how many are read at a time. */
function storeOf(reads: number[]): BrokerStore {
  const store = {
    lastSequence: 1,
    count: OBJECTS,
    async *all({ pageRows = 1000 }: { readonly pageRows?: number } = {}) {
      for (let at = 0; at < OBJECTS; at += pageRows) {
        reads.push(Math.min(pageRows, OBJECTS - at));
        yield ENTRIES.slice(at, at + pageRows);
      }
    },
    entries: {
      getMany: (oids: readonly number[]) => {
        reads.push(oids.length);
        return Promise.resolve(oids.map((oid) => ENTRIES[oid]));
      },
    },
  };
  return store as unknown as BrokerStore;
}

const INDEXER = {
  query: () =>
    Object.assign(
      (async function* () {
        for (const { oid } of ENTRIES) yield { oid, lines: [] };
      })(),
      { outcome: Promise.resolve({ complete: true, warnings: [] }) },
    ),
} as unknown as Indexer;

t.test('objects of a result are counted by types, hosts and Gatherers in turns', async (t) => {
  for (const query of ['#allb', 'word']) {
    const reads: number[] = [];
    let turns = 0;
    const take = () => {
      turns += 1;
      return Promise.resolve();
    };
    const counter = new FacetCounter({ store: storeOf(reads), indexer: INDEXER });
    const parsed = query === '#allb' ? { kind: 'all' as const } : parseQuery(query);
    const counts = await counter.count(parsed, DEFAULT_FORM, new AbortController().signal, 'c', { take });
    t.equal(counts?.objects, OBJECTS, query);
    t.ok(Math.max(...reads) <= STEP, `${Math.max(...reads)} entries at a time`);
    t.ok(turns >= OBJECTS / STEP, `${turns} turns`);
  }
});

t.test('the most frequent names are those that a sort puts first', async (t) => {
  const names = fc.array(fc.constantFrom('', 'a', 'b', 'c', 'd', 'e', 'é', 'ab'), { maxLength: 60 });
  let orders = 0;
  await assertProperty(
    fc.property(names, fc.nat(5), (all, rows) => {
      const counter = new NameCounter(100);
      for (const name of all) counter.add(name);
      const counts = [...new Set(all)].map((name) => ({
        name,
        objects: all.filter((other) => other === name).length,
      }));
      counts.sort((a, b) => b.objects - a.objects || (a.name < b.name ? -1 : 1));
      const expected = { rows: counts.slice(0, rows), others: Math.max(0, counts.length - rows) };
      if (JSON.stringify(counter.top(rows)) !== JSON.stringify(expected)) throw new Error('another order');
      orders += 1;
    }),
  );
  t.ok(orders > 0, `${orders} orders`);
});

t.test('passages are looked for in each part of each object in a turn', async (t) => {
  const hits = Array.from({ length: 20 }, (_, i): ShownHit => {
    const url = `http://h.example/${i}`;
    return { url, objectUrl: url, lines: [], lineCount: 0 };
  });
  let turns = 0;
  const take = () => {
    turns += 1;
    return Promise.resolve();
  };
  const terms = TermFinder.of(['needle'], DEFAULT_FORM);
  if (terms === undefined) throw new Error('a word is a term');
  const opened: string[] = [];
  let reads = 0;
  const object = (url: string) =>
    Buffer.from(soif(url, { Title: 'hay', Body: `${'hay '.repeat(2000)}needle`, Keywords: 'hay' }));
  const source = {
    openObject: (url: string) => {
      opened.push(url);
      return Promise.resolve(object(url));
    },
    readObjects: (urls: readonly string[]) => {
      reads += 1;
      return Promise.resolve(urls.map((url) => (url.endsWith('/7') ? ('large' as const) : object(url))));
    },
    openBeside: () => Promise.resolve([]),
  };
  const found = await passagesOf(hits, terms, source, new AbortController().signal, { take });
  t.equal(found.size, hits.length);
  t.ok(turns >= 3 * hits.length, `${turns} turns`);
  t.ok(reads <= hits.length / 4, `${reads} reads`);
  t.same(opened, ['http://h.example/7'], 'a large object is opened by itself');
});

t.test('a digest of known objects adds nothing up, and a leaf is read in small pages', async (t) => {
  const reads: number[] = [];
  const digests = new DigestCache(storeOf(reads), () => 1_000_001);
  const { signal } = new AbortController();
  const first = await digests.report('', signal);
  t.equal(first.count, OBJECTS);
  const { addSet } = SetDigest.prototype;
  let added = 0;
  SetDigest.prototype.addSet = function (this: SetDigest, other: SetDigest) {
    added += 1;
    addSet.call(this, other);
  };
  t.teardown(() => {
    SetDigest.prototype.addSet = addSet;
  });
  t.same(await digests.report('', signal), first);
  let below = 0;
  for (let digit = 0; digit < 16; digit++) {
    const report = await digests.report(digit.toString(16), signal);
    t.same(
      { count: report.count, digest: report.digest },
      first.buckets?.[digit],
      'the bucket of its parent',
    );
    below += report.count;
    const leaf = await digests.report(`${digit.toString(16)}0`, signal);
    t.equal(leaf.identities?.length, leaf.count);
  }
  t.equal(below, OBJECTS);
  t.equal(added, 0);
  t.ok(Math.max(...reads) <= STEP, `${Math.max(...reads)} entries at a time`);
});
