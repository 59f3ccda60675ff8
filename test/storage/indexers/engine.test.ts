// The embedded engine at work: changes, lifetimes, concurrent queries, aborts, crashes, failures and damaged
// files.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, writeSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { StateError, StorageError } from '../../../protocols/errors.js';
import { encodeSoif } from '../../../protocols/soif/index.js';
import { openIndexFile } from '../../../storage/indexers/embedded/index/index-file.js';
import type { Hit, SearchResults } from '../../../storage/indexers/index.js';
import {
  EmbeddedFixture,
  expressionOf,
  type ObjectAttributes,
  objectOf,
  openIndexer,
  PLAIN_SEARCH,
} from './embedded-fixture.js';

/** Returns the OIDs of all hits. */
async function oidsOf(results: SearchResults): Promise<number[]> {
  const oids: number[] = [];
  for await (const { oid } of results) oids.push(oid);
  return oids;
}

/**
 * Objects that all match `common` and have a line that is expensive for regular expressions and spelling
 * errors.
 */
function hardObjects(count: number): ObjectAttributes[] {
  const line = `${'a'.repeat(2000)}b ${'abcdefgh '.repeat(200)}\n`;
  return Array.from({ length: count }, (_, i) => ({
    url: `http://h/${i}`,
    Title: `common n${i}`,
    Body: line.repeat(4),
  }));
}

t.test('BRK-8.2 add() replaces an object, remove() deletes it, clear() empties the index', async (t) => {
  await using fixture = await EmbeddedFixture.open();
  const { indexer } = fixture;
  await t.rejects(indexer.add(1, new Uint8Array()), StateError, 'changes require a run');
  t.equal(indexer.watermark, 0);
  await fixture.put({ Title: 'one apple' }, { Title: 'two apples' });
  t.equal(indexer.watermark, fixture.store.lastSequence);
  t.same(await fixture.oids('apple', { matchWord: true }), [1]);
  await fixture.putSoif([objectOf({ url: 'http://h/1', Title: 'one pear' }, 2)]);
  t.same(await fixture.oids('apple', { matchWord: true }), []);
  t.same(await fixture.oids('pear', { matchWord: true }), [1]);
  t.same(await fixture.oids('pea'), [1], 'a part of the word is found too');
  await indexer.remove(1);
  await indexer.remove(4_000_000_000);
  await indexer.flush(9);
  t.same(await fixture.oids('pear'), []);
  await fixture.reopen();
  t.equal(fixture.indexer.watermark, 9, 'the watermark is kept');
  t.same(await fixture.oids('two'), [2]);
  await fixture.indexer.clear();
  t.equal(fixture.indexer.watermark, 0);
  t.same(await fixture.oids('two'), []);
  await fixture.catchUp();
  t.same(await fixture.oids('one or two'), [1, 2], 'all objects are indexed again');
  await t.rejects(fixture.indexer.add(-1, new Uint8Array()), RangeError);
});

t.test('words of any length are found by their parts', async (t) => {
  await using fixture = await EmbeddedFixture.open({ maxPattern: 20_000 });
  const long = Array.from({ length: 3000 }, (_, i) => `é${i}`).join('');
  await fixture.put(
    { Body: `x ${long} y` },
    { Body: `${'a'.repeat(9000)}z${'b'.repeat(9000)}` },
    { Body: '😀\0nul' },
  );
  t.same(await fixture.oids(long.slice(5000, 5100)), [1]);
  t.same(await fixture.oids(long, { matchWord: true }), [1]);
  t.same(await fixture.oids(long.slice(0, 2000)), [1]);
  t.same(await fixture.oids(`${'a'.repeat(50)}z${'b'.repeat(50)}`), [2]);
  t.same(await fixture.oids(`"${'b'.repeat(1500)}"`), [2]);
  t.same(await fixture.oids('nul', { matchWord: true, ignoreCase: true, wantLines: false }), [3]);
});

t.test('BRK-4.18 a query that is too large is refused before the query thread has it', async (t) => {
  await using fixture = await EmbeddedFixture.open();
  for (const query of [
    Array.from({ length: 200 }, (_, i) => `(not w${i})`).join(' or '),
    `a and ${'x'.repeat(300)}`,
  ]) {
    let refusal: unknown;
    const results = fixture.indexer.query(expressionOf(query), PLAIN_SEARCH)[Symbol.asyncIterator]();
    results.next().catch((error: unknown) => {
      refusal = error;
    });
    // A reply of the thread would be an event.
    await new Promise<void>((resolve) => process.nextTick(() => queueMicrotask(resolve)));
    t.match(refusal, { code: 'ERR_PEER' }, query.slice(0, 40));
  }
});

t.test('BRK-8.13, 8.16 a query ends at its lifetime with a partial result', async (t) => {
  await using fixture = await EmbeddedFixture.open();
  await fixture.put(...hardObjects(150));
  const results = fixture.indexer.query(expressionOf('"(a|b|ab)*(b|c)*(X|Y)"'), {
    ...PLAIN_SEARCH,
    lifetimeMs: 30,
  });
  await oidsOf(results);
  t.same(await results.outcome, { complete: false, reason: 'lifetime', warnings: [] });
  // The first hit must arrive within the lifetime: on a busy machine only within a longer one.
  let hits = 0;
  for (let lifetimeMs = 400; hits === 0; lifetimeMs *= 2) {
    const slow = fixture.indexer.query(expressionOf('common'), { ...PLAIN_SEARCH, lifetimeMs });
    for await (const _ of slow) {
      hits++;
      if (hits === 1) await new Promise((resolve) => setTimeout(resolve, lifetimeMs + 50));
    }
    t.equal((await slow.outcome).reason, 'lifetime');
  }
  t.ok(hits < 150, 'the hits before the end of the lifetime are returned');
});

t.test('an expensive query does not block a concurrent cheap one', async (t) => {
  await using fixture = await EmbeddedFixture.open();
  await fixture.put(...hardObjects(100));
  const hard = [
    fixture.indexer.query(expressionOf('body regexp "^(a+)+$"'), PLAIN_SEARCH),
    fixture.indexer.query(expressionOf('abcdefghijklmnop'), { ...PLAIN_SEARCH, errors: 8 }),
    fixture.indexer.query(expressionOf('body regexp "(a|b|ab|ba)*(b|c)*(x|y)"'), PLAIN_SEARCH),
  ];
  let ended = 0;
  const running = hard.map((results) =>
    oidsOf(results).finally(() => {
      ended++;
    }),
  );
  t.equal((await fixture.search('n7', { matchWord: true })).length, 1);
  t.ok(ended < 3, 'the cheap query was answered while others were running');
  const [none, near] = await Promise.all(running);
  t.equal(none?.length, 0);
  t.equal(near?.length, 100, 'abcdefgh is 8 insertions away');
  for (const results of hard) t.ok((await results.outcome).complete);
});

t.test('a query stops on break, abort and close', async (t) => {
  await using fixture = await EmbeddedFixture.open();
  await fixture.put(...hardObjects(150));
  const expression = expressionOf('common');

  const abandoned = fixture.indexer.query(expression, PLAIN_SEARCH);
  for await (const _ of abandoned) break;
  t.same(await abandoned.outcome, { complete: false, reason: 'aborted', warnings: [] }, 'break ends a query');

  const abort = new AbortController();
  const aborted = fixture.indexer.query(expression, { ...PLAIN_SEARCH, signal: abort.signal });
  const seen: Hit[] = [];
  for await (const hit of aborted) {
    seen.push(hit);
    if (seen.length === 3) abort.abort();
  }
  t.equal(seen.length, 3, 'no hits after the abort');
  t.equal((await aborted.outcome).reason, 'aborted');

  const never = fixture.indexer.query(expression, { ...PLAIN_SEARCH, signal: AbortSignal.abort() });
  t.same(await oidsOf(never), [], 'a query that is aborted before it begins has no hits');
  const waiting = fixture.indexer.query(expressionOf('body regexp "(a|b|ab)*(b|c)*(X|Y)"'), PLAIN_SEARCH);
  const pending = oidsOf(waiting);
  t.throws(() => waiting[Symbol.asyncIterator](), StateError, 'a query can be iterated once');
  await fixture.indexer.close();
  t.same(await pending, [], 'close ends a running query');
  t.equal((await waiting.outcome).reason, 'aborted');
  t.throws(() => fixture.indexer.query(expression, PLAIN_SEARCH), StateError);
});

t.test('a query waits for its reader', async (t) => {
  await using fixture = await EmbeddedFixture.open();
  await fixture.put(...hardObjects(150));
  let reads = 0;
  const results = fixture.indexer.query(expressionOf('common'), PLAIN_SEARCH);
  for await (const _ of results) {
    reads++;
    // A second query runs to its end while this one pauses between two hits.
    if (reads === 1) t.equal((await fixture.search('common')).length, 150);
  }
  t.equal(reads, 150);
});

t.test('BRK-8.3 after a crash every change up to the watermark is in the index', async (t) => {
  await using fixture = await EmbeddedFixture.open();
  await fixture.indexer.close();
  const script = fileURLToPath(new URL('./crash-child.js', import.meta.url));
  let lastFlushed = 0;
  for (let round = 1; round <= 2; round++) {
    const child = spawn(process.execPath, [script, fixture.file, `${fixture.directory}/child`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    for await (const line of createInterface({ input: child.stdout })) {
      lastFlushed = Number(line);
      if (lastFlushed >= round * 60) break;
    }
    child.kill('SIGKILL');
    await once(child, 'exit');

    fixture.indexer = await openIndexer(fixture.directory);
    const watermark = fixture.indexer.watermark;
    t.ok(
      watermark >= lastFlushed && lastFlushed >= round * 60,
      `round ${round}: every change reported as durable is in the index`,
    );
    const wordsOnly = { ignoreCase: true, matchWord: true, wantLines: false };
    const latest = Array.from({ length: Math.min(50, watermark) }, (_, i) => watermark - i);
    for (const change of latest) {
      const oid = (change % 50) + 1;
      const found = await fixture.oids(`v${change}`, wordsOnly);
      // A later change that was not flushed may have replaced it already; it is applied again.
      const replaced = await fixture.oids(`v${change + 50}`, wordsOnly);
      t.same(found.length === 1 ? found : replaced, [oid], `change ${change}`);
    }
    await fixture.indexer.close();
  }
  fixture.indexer = await openIndexer(fixture.directory);
});

t.test('a failure ends the run and does not change the watermark', async (t) => {
  await using fixture = await EmbeddedFixture.open();
  await fixture.put({ Title: 'apple' });
  const before = fixture.indexer.watermark;
  // Another writer holds the file's lock for longer than the update thread waits.
  const other = openIndexFile(fixture.file);
  other.exec('BEGIN IMMEDIATE');
  await fixture.reopen({ busyTimeoutMs: 50 });
  await fixture.indexer.beginUpdate();
  await fixture.indexer.add(2, encodeSoif(objectOf({ Title: 'pear' })));
  await t.rejects(fixture.indexer.flush(99), StorageError);
  await t.rejects(fixture.indexer.flush(100), StateError, 'the run has ended');
  t.equal(fixture.indexer.watermark, before);
  other.exec('ROLLBACK');
  other.close();
  await fixture.put({ Title: 'pear', url: 'http://h/2' });
  t.same(await fixture.oids('pear'), [2], 'a new run continues after the watermark');
});

t.test('a damaged or foreign index is refused, or rebuilt on request', async (t) => {
  await using fixture = await EmbeddedFixture.open();
  await fixture.put({ Title: 'apple' });
  await fixture.indexer.close();
  await writeFile(fixture.file, 'no database at all '.repeat(500));
  await t.rejects(openIndexer(fixture.directory), StorageError);
  fixture.indexer = await openIndexer(fixture.directory, { rebuildOnError: true });
  t.equal(fixture.indexer.watermark, 0, 'the rebuilt index is empty');
  await fixture.catchUp();
  t.same(await fixture.oids('apple'), [1]);
  await fixture.indexer.close();

  // Overwrites every page except the first one: the damage shows when the words are read.
  const file = openSync(fixture.file, 'r+');
  for (let page = 1; page < 12; page++)
    writeSync(file, new Uint8Array(4096).fill(0xa5), 0, 4096, page * 4096);
  closeSync(file);
  await t.rejects(openIndexer(fixture.directory), StorageError);
  fixture.indexer = await openIndexer(fixture.directory, { rebuildOnError: true });
  await fixture.catchUp();
  t.same(await fixture.oids('apple'), [1]);

  await t.rejects(openIndexer(`${fixture.directory}/nowhere`), StorageError, 'a directory without a store');
});

t.test('an object that is not SOIF or was removed from the store is not a hit', async (t) => {
  await using fixture = await EmbeddedFixture.open();
  await fixture.put({ Title: 'apple' }, { Title: 'apple tree' });
  await fixture.indexer.add(1, Buffer.from('garbage'));
  await fixture.indexer.add(77, encodeSoif(objectOf({ Title: 'apple' })));
  await fixture.indexer.flush(fixture.indexer.watermark);
  t.same(await fixture.oids('apple'), [2]);
});

t.test('parts of words are found among more than 20 000 objects with a cached vocabulary', async (t) => {
  await using fixture = await EmbeddedFixture.open();
  const count = 20_011;
  for (let first = 0; first < count; first += 2000) {
    const objects = Array.from({ length: Math.min(2000, count - first) }, (_, i) =>
      objectOf({ url: `http://h/${first + i}`, Title: `word${first + i}` }),
    );
    await fixture.putSoif(objects);
  }
  // The second search counts the objects that are newer than the cached vocabulary.
  t.equal((await fixture.oids('ord20010', { ignoreCase: true, wantLines: false })).length, 1);
  t.equal((await fixture.oids('ord1999', { ignoreCase: true, wantLines: false })).length, 11);
});
