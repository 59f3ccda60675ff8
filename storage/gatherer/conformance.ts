// The test suite of the Gatherer's store, whatever its database.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StorageError } from '../../protocols/errors.js';
import { encodeSoif, SoifObject } from '../../protocols/soif/index.js';
import { Generations } from '../generations/generations.js';
import { type DocumentRecord, QUEUE_STATUS, type QueuedUri, type QueueRecord } from '../records/records.js';
import type { Summary } from '../summaries/summary-store.js';
import type { QueueEntry } from './queues.js';
import { GathererStore } from './store.js';

/** The `test` function of node:test, of tap, or of another runner. */
type TestRunner = (name: string, run: () => Promise<void>) => unknown;

export interface GathererStoreConformance {
  readonly test: TestRunner;
  /** The start of the tests' names. */
  readonly name: string;
  /**
   * Opens the store of a place, which the tests name `1`, `2` and so on. A new place is empty; the same one is opened
   * again after the close, or before it if `restore` is given.
   */
  readonly open: (place: string) => Promise<GathererStore>;
  /** Fills the store of a place with a copy; absent for stores in a directory, which a copy already is. */
  readonly restore?: (source: string, place: string) => Promise<void>;
}

function summary(url: string, updateTime: number, title: string): Summary {
  const object = SoifObject.of('FILE', url, [
    ['Update-Time', String(updateTime)],
    ['Title', title],
  ]);
  return { url, updateTime, timeToLive: 2_419_200, soif: encodeSoif(object) };
}

function document(url: string, updateTime: number, links: readonly string[]): DocumentRecord {
  return {
    url,
    status: 200,
    fetchTime: updateTime,
    updateTime,
    refreshRate: 604_800,
    lastModificationTime: 0,
    etag: '',
    md5: '',
    type: 'HTML',
    size: 10,
    links: links.map((link) => ({ url: link, hop: 'L' })),
    rulesDigest: '',
    referenced: true,
    objects: [],
  };
}

function entry(classKey: string, ordinal: number, url: string): QueueEntry {
  const uri: QueuedUri = {
    url,
    via: '',
    pathFromSeed: 'L',
    root: 0,
    depth: 1,
    attempts: 0,
    network: 0,
    forceFetch: false,
    isLeaf: false,
    cost: 1,
    sourceTag: '',
  };
  return { classKey, directive: 3, precedence: 0, ordinal, uri };
}

function queueRecord(classKey: string, count: number): QueueRecord {
  const numbers = { enqueued: count, sessionBalance: 1, replenish: 1, totalExpenditure: 0, totalBudget: -1 };
  const results = { successes: 0, errors: 0, bytes: 0, lastCost: 0, wakeTime: 0, precedence: 0, sequence: 0 };
  const texts = { reason: '', lastQueued: '', lastPeeked: '' };
  return { classKey, status: QUEUE_STATUS.active, count, ...numbers, ...results, ...texts };
}

async function flat<T>(pages: AsyncIterable<readonly T[]>): Promise<T[]> {
  const all: T[] = [];
  for await (const page of pages) all.push(...page);
  return all;
}

async function exported(summaries: {
  exportSince(since: number): AsyncIterable<{ readonly bytes: Uint8Array }>;
}): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const { bytes } of summaries.exportSince(0)) chunks.push(bytes);
  return Buffer.concat(chunks).toString('latin1');
}

/** What a store has, for comparison. */
async function contentsOf(store: GathererStore) {
  return {
    objects: await exported(store.summaries),
    count: store.summaries.count,
    deletions: await flat(store.tombstones.since(0)),
    documents: await flat(store.documents.pages()),
    queues: await flat(store.queues.pages()),
    records: await flat(store.queueRecords.pages()),
    references: await flat(store.links.documents()),
    pairs: (await flat(pairsOf(store))).map((pairs) => [...pairs]),
    state: await store.frontierState(),
    run: await store.meta.get('run'),
  };
}

async function* pairsOf(store: GathererStore): AsyncGenerator<Uint32Array[], void, undefined> {
  for await (const pairs of store.links.pairs()) yield [pairs];
}

const STATE = { nextOrdinal: 4, nextSequence: 1, succeeded: 1, failed: 0, disregarded: 0, bytes: 10 };

/** A page of a crawl: its object, links and record, and the URIs that were found on it. */
async function writePage(store: GathererStore, number: number, links: readonly string[]): Promise<void> {
  const url = `http://site.test/${number}`;
  const found = links.map((link, i) => entry('site.test', 100 * number + i, link));
  const batch = store
    .batch()
    .putSummary(summary(url, 1000 + number, `page ${number} ${'x'.repeat(300 * number)}`))
    .putReferences({ url, time: 900, checkTime: 1000 + number, length: 50, links })
    .putDocument(document(url, 1000 + number, links))
    .putQueue(queueRecord('site.test', found.length))
    .putFrontierState(STATE)
    .dequeue({ classKey: 'site.test', directive: 3, precedence: 0, ordinal: number });
  for (const one of found) batch.enqueue(one);
  await batch.commit({ lazy: true });
}

/** Registers the tests: a store that passes them can be a Gatherer's. */
export function testGathererStore({ test, name, open, restore }: GathererStoreConformance): void {
  let places = 0;
  const newPlace = (): string => String(++places);
  const check = (
    what: string,
    run: (store: GathererStore, place: string, directory: string) => Promise<void>,
  ): void => {
    test(`${name}: ${what}`, async () => {
      const place = newPlace();
      const directory = await mkdtemp(join(tmpdir(), 'gatherer-store-'));
      try {
        await using store = await open(place);
        await run(store, place, directory);
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    });
  };

  check('everything about a page is one change, and there again after an opening', async (store, place) => {
    await store
      .batch()
      .enqueue(entry('site.test', 1, 'http://site.test/1'))
      .commit();
    await writePage(store, 1, ['http://site.test/2', 'http://other.test/', 'http://site.test/2']);
    const before = await contentsOf(store);
    assert.equal(before.count, 1);
    assert.deepEqual(
      before.queues.map(({ uri }) => uri.url),
      ['http://site.test/2', 'http://other.test/', 'http://site.test/2'],
    );
    assert.equal(before.pairs[0]?.length, 4, 'R-12: each target once');
    await store.close();
    await using again = await open(place);
    assert.deepEqual(await contentsOf(again), before);
  });

  check('batches that are committed at once name a URL with one ID', async (store) => {
    const links = ['http://common.test/', 'http://site.test/common'];
    await Promise.all(Array.from({ length: 30 }, (_, i) => writePage(store, i + 1, links)));
    const references = await flat(store.links.documents());
    assert.equal(references.length, 32);
    assert.equal(new Set(references.map(({ id }) => id)).size, 32);
    assert.equal(store.summaries.count, 30);
    const targets = (await contentsOf(store)).pairs.flatMap((pairs) => pairs.filter((_, i) => i % 2 === 1));
    assert.equal(new Set(targets).size, 2);
  });

  check('GATHERD-4.4, 4.9 an object is replaced, refreshed and deleted', async (store) => {
    const url = 'http://site.test/';
    await store
      .batch()
      .putSummary(summary(url, 10, 'first'))
      .commit();
    await store
      .batch()
      .putSummary(summary(url, 20, 'second'.repeat(300)), 10)
      .commit();
    assert.match(await exported(store.summaries), /second/);
    await store.batch().refreshSummary(url, { updateTime: 30, lastModificationTime: 5 }, 20).commit();
    assert.deepEqual(
      (await flat(store.summaries.iterate())).map(({ updateTime, contentTime }) => [updateTime, contentTime]),
      [[30, 20]],
    );
    await store.batch().deleteSummary(url, 30, { deletedAt: 40 }).commit();
    assert.equal(store.summaries.count, 0);
    assert.deepEqual(
      (await flat(store.tombstones.since(0))).map((one) => [one.url, one.deletionTime]),
      [[url, 40]],
    );
    await store
      .batch()
      .putSummary(summary(url, 50, 'again'))
      .commit();
    assert.deepEqual([store.summaries.count, store.tombstones.count], [1, 0]);
  });

  check('CRAWL-3.8 a URI is seen in the change that queues it', async (store, place) => {
    const seen = await store.openSeenFilter();
    const uris = ['http://a.test/', 'http://b.test/'];
    assert.deepEqual([...(await seen.add(uris))], [1, 1]);
    const { rows, written } = seen.takeChanges();
    await store
      .batch()
      .putSeen(rows)
      .enqueue(entry('a.test', 1, uris[0]!))
      .commit();
    written();
    await seen.close();
    await store.close();
    await using again = await open(place);
    const filter = await again.openSeenFilter();
    assert.deepEqual([...(await filter.add([...uris, 'http://new.test/']))], [0, 0, 1]);
    assert.equal(filter.count, 3);
    await filter.close();
  });

  check('another crawl begins without queues, and keeps objects and documents', async (store) => {
    await writePage(store, 1, ['http://site.test/2']);
    await store.clearFrontier();
    const { queues, records, state, documents, count } = await contentsOf(store);
    assert.deepEqual([queues, records, state], [[], [], undefined]);
    assert.deepEqual([documents.length, count], [1, 1]);
  });

  check('DESIGN 4: a generation has what was committed, and stays as it is', async (store, _, directory) => {
    for (let i = 1; i <= 20; i++) await writePage(store, i, [`http://site.test/link${i}`]);
    await store.batch().deleteSummary('http://site.test/3', undefined, { deletedAt: 3000 }).commit();
    const generations = join(directory, 'generations');
    await store.publish(generations);
    const before = await contentsOf(store);
    await store
      .batch()
      .putSummary(summary('http://site.test/later', 5000, 'later'))
      .commit();
    await using snapshot = await new Generations(generations).open();
    assert.equal(await exported(snapshot), before.objects);
    assert.equal(snapshot.count, 19);
    assert.deepEqual(
      (await flat(snapshot.deletionsSince(0))).map(({ url }) => url),
      ['http://site.test/3'],
    );
    assert.equal(snapshot.numbered?.sequence, 21);
    const changes = await flat(snapshot.numbered!.after(0));
    assert.equal(changes.length, 20);
  });

  check('CRAWL-17.3.1, G-81 a copy has everything, logins too', async (store, _, directory) => {
    const url = 'http://user:secret@site.test/private';
    for (let i = 1; i <= 5; i++) await writePage(store, i, [url, `http://site.test/link${i}`]);
    await store.batch().putMeta('run', url).commit();
    const copy = join(directory, 'copy');
    await store.clone(copy);
    const before = await contentsOf(store);
    assert.equal(before.run, url);
    await writePage(store, 6, []);
    await using copied = await GathererStore.open(copy);
    assert.deepEqual(await contentsOf(copied), before);
    await copied.close();
    if (restore === undefined) return;
    const place = newPlace();
    await restore(copy, place);
    await using restored = await open(place);
    assert.deepEqual(await contentsOf(restored), before);
    await writePage(restored, 7, ['http://site.test/link1']);
    assert.equal(restored.summaries.count, 6);
  });

  if (restore === undefined) return;

  check('a store with other content is replaced by a copy', async (store, place, directory) => {
    await writePage(store, 1, ['http://site.test/2']);
    const copy = join(directory, 'copy');
    await store.clone(copy);
    const before = await contentsOf(store);
    for (let i = 2; i < 10; i++) await writePage(store, i, [`http://site.test/${i}`]);
    await restore(copy, place);
    await assert.rejects(writePage(store, 11, []), StorageError, 'its owner is another one now');
    await using restored = await open(place);
    assert.deepEqual(await contentsOf(restored), before);
  });

  check('a former owner writes nothing', async (store, place) => {
    await writePage(store, 1, ['http://site.test/2']);
    await using later = await open(place);
    const before = await contentsOf(later);
    await assert.rejects(writePage(store, 2, []), /another process has opened the store/);
    await assert.rejects(store.clearFrontier(), /another process has opened the store/);
    assert.deepEqual(await contentsOf(later), before);
    await writePage(later, 3, []);
    assert.equal(later.summaries.count, 2);
  });
}
