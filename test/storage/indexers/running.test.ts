import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, writeSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { parseQuery } from '../../../protocols/broker/index.js';
import { StateError, StorageError } from '../../../protocols/errors.js';
import { encodeSoif } from '../../../protocols/soif/index.js';
import type { Hit, SearchResults } from '../../../storage/indexers/index.js';
import { openIndexFile } from '../../../storage/indexers/index-file.js';
import { PLAIN_NODE } from '../../helpers/plain-node.js';
import { Base, openIndexer, PLAIN, soifOf, type TestObject } from './support.js';

function expressionOf(query: string) {
  const expression = parseQuery(query);
  if (expression.kind === 'all') throw new Error('#allb');
  return expression;
}

async function collected(results: SearchResults): Promise<number[]> {
  const oids: number[] = [];
  for await (const { oid } of results) oids.push(oid);
  return oids;
}

/** Objects that all match `common` and have a line that is expensive for regular expressions and spelling errors. */
function hardObjects(count: number): TestObject[] {
  const line = `${'a'.repeat(2000)}b ${'abcdefgh '.repeat(200)}\n`;
  return Array.from({ length: count }, (_, i) => ({
    url: `http://h/${i}`,
    Title: `common n${i}`,
    Body: line.repeat(4),
  }));
}

t.test('BRK-8.2 add() replaces an object, remove() deletes it, clear() empties the index', async (t) => {
  await using base = await Base.open();
  const { indexer } = base;
  await t.rejects(indexer.add(1, new Uint8Array()), StateError, 'changes require a run');
  t.equal(indexer.watermark, 0);
  await base.put({ Title: 'one apple' }, { Title: 'two apples' });
  t.equal(indexer.watermark, base.store.lastSequence);
  t.same(await base.oids('apple', { matchWord: true }), [1]);
  await base.putSoif([soifOf({ url: 'http://h/1', Title: 'one pear' }, 2)]);
  t.same(await base.oids('apple', { matchWord: true }), []);
  t.same(await base.oids('pear', { matchWord: true }), [1]);
  t.same(await base.oids('pea'), [1], 'as a part of a word too');
  await indexer.remove(1);
  await indexer.remove(4_000_000_000);
  await indexer.flush(9);
  t.same(await base.oids('pear'), []);
  await base.reopen();
  t.equal(base.indexer.watermark, 9, 'kept');
  t.same(await base.oids('two'), [2]);
  await base.indexer.clear();
  t.equal(base.indexer.watermark, 0);
  t.same(await base.oids('two'), []);
  await base.catchUp();
  t.same(await base.oids('one or two'), [1, 2], 'indexed again from the start');
  await t.rejects(base.indexer.add(-1, new Uint8Array()), RangeError);
});

t.test('words of any length are found by their parts', async (t) => {
  await using base = await Base.open({ maxPattern: 20_000 });
  const long = Array.from({ length: 3000 }, (_, i) => `é${i}`).join('');
  await base.put(
    { Body: `x ${long} y` },
    { Body: `${'a'.repeat(9000)}z${'b'.repeat(9000)}` },
    { Body: '😀\0nul' },
  );
  t.same(await base.oids(long.slice(5000, 5100)), [1]);
  t.same(await base.oids(long, { matchWord: true }), [1]);
  t.same(await base.oids(long.slice(0, 2000)), [1]);
  t.same(await base.oids(`${'a'.repeat(50)}z${'b'.repeat(50)}`), [2]);
  t.same(await base.oids(`"${'b'.repeat(1500)}"`), [2]);
  t.same(await base.oids('nul', { matchWord: true, ignoreCase: true, wantLines: false }), [3]);
});

t.test('BRK-8.13, 8.16 a query ends at its lifetime with a partial result', async (t) => {
  await using base = await Base.open();
  await base.put(...hardObjects(150));
  const results = base.indexer.query(expressionOf('"(a|b|ab)*(b|c)*(X|Y)"'), { ...PLAIN, lifetimeMs: 30 });
  await collected(results);
  t.same(await results.outcome, { complete: false, reason: 'lifetime', warnings: [] });
  const slow = base.indexer.query(expressionOf('common'), { ...PLAIN, lifetimeMs: 400 });
  let hits = 0;
  for await (const _ of slow) {
    hits++;
    if (hits === 1) await new Promise((resolve) => setTimeout(resolve, 450));
  }
  t.ok(hits >= 1 && hits < 150, 'the partial result');
  t.equal((await slow.outcome).reason, 'lifetime');
});

t.test('an expensive query does not block a concurrent cheap one', async (t) => {
  await using base = await Base.open();
  await base.put(...hardObjects(100));
  const hard = [
    base.indexer.query(expressionOf('body regexp "^(a+)+$"'), PLAIN),
    base.indexer.query(expressionOf('abcdefghijklmnop'), { ...PLAIN, errors: 8 }),
    base.indexer.query(expressionOf('body regexp "(a|b|ab|ba)*(b|c)*(x|y)"'), PLAIN),
  ];
  let ended = 0;
  const running = hard.map((results) =>
    collected(results).finally(() => {
      ended++;
    }),
  );
  t.equal((await base.search('n7', { matchWord: true })).length, 1);
  t.ok(ended < 3, 'the cheap query was answered while others were running');
  const [none, near] = await Promise.all(running);
  t.equal(none?.length, 0);
  t.equal(near?.length, 100, 'abcdefgh is 8 insertions away');
  for (const results of hard) t.ok((await results.outcome).complete);
});

t.test('a query stops on break, abort and close', async (t) => {
  await using base = await Base.open();
  await base.put(...hardObjects(150));
  const expression = expressionOf('common');

  const left = base.indexer.query(expression, PLAIN);
  for await (const _ of left) break;
  t.same(await left.outcome, { complete: false, reason: 'aborted', warnings: [] }, 'break');

  const abort = new AbortController();
  const aborted = base.indexer.query(expression, { ...PLAIN, signal: abort.signal });
  const seen: Hit[] = [];
  for await (const hit of aborted) {
    seen.push(hit);
    if (seen.length === 3) abort.abort();
  }
  t.equal(seen.length, 3, 'no hits after the abort');
  t.equal((await aborted.outcome).reason, 'aborted');

  const never = base.indexer.query(expression, { ...PLAIN, signal: AbortSignal.abort() });
  t.same(await collected(never), [], 'aborted before it began');
  const waiting = base.indexer.query(expressionOf('body regexp "(a|b|ab)*(b|c)*(X|Y)"'), PLAIN);
  const pending = collected(waiting);
  t.throws(() => waiting[Symbol.asyncIterator](), StateError, 'iterated once');
  await base.indexer.close();
  t.same(await pending, [], 'closed while it ran');
  t.equal((await waiting.outcome).reason, 'aborted');
  t.throws(() => base.indexer.query(expression, PLAIN), StateError);
});

t.test('hits wait for their reader', async (t) => {
  await using base = await Base.open();
  await base.put(...hardObjects(150));
  let reads = 0;
  const results = base.indexer.query(expressionOf('common'), PLAIN);
  for await (const _ of results) {
    reads++;
    // A second query runs to its end while this one rests between two hits.
    if (reads === 1) t.equal((await base.search('common')).length, 150);
  }
  t.equal(reads, 150);
});

t.test('BRK-8.3 after a crash the watermark is correct', { timeout: 60_000 }, async (t) => {
  await using base = await Base.open();
  await base.indexer.close();
  const script = fileURLToPath(new URL('./crash-child.js', import.meta.url));
  let told = 0;
  for (let round = 1; round <= 2; round++) {
    const child = spawn('env', [...PLAIN_NODE, script, base.file, `${base.directory}/child`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    for await (const line of createInterface({ input: child.stdout })) {
      told = Number(line);
      if (told >= round * 60) break;
    }
    child.kill('SIGKILL');
    await once(child, 'exit');

    base.indexer = await openIndexer(base.directory);
    const mark = base.indexer.watermark;
    t.ok(
      mark >= told && told >= round * 60,
      `round ${round}: every change reported as durable is in the index`,
    );
    const wordsOnly = { ignoreCase: true, matchWord: true, wantLines: false };
    const latest = Array.from({ length: Math.min(50, mark) }, (_, i) => mark - i);
    for (const change of latest) {
      const oid = (change % 50) + 1;
      const found = await base.oids(`v${change}`, wordsOnly);
      // A later change that was not flushed may have replaced it already; it will be applied again.
      const replaced = await base.oids(`v${change + 50}`, wordsOnly);
      t.same(found.length === 1 ? found : replaced, [oid], `change ${change}`);
    }
    await base.indexer.close();
  }
  base.indexer = await openIndexer(base.directory);
});

t.test('a failure ends the run and does not change the watermark', async (t) => {
  await using base = await Base.open();
  await base.put({ Title: 'apple' });
  const before = base.indexer.watermark;
  // Another writer holds the file's lock for longer than the update thread waits.
  const other = openIndexFile(base.file);
  other.exec('BEGIN IMMEDIATE');
  await base.reopen({ busyTimeoutMs: 50 });
  await base.indexer.beginUpdate();
  await base.indexer.add(2, encodeSoif(soifOf({ Title: 'pear' })));
  await t.rejects(base.indexer.flush(99), StorageError);
  await t.rejects(base.indexer.flush(100), StateError, 'the run is over');
  t.equal(base.indexer.watermark, before);
  other.exec('ROLLBACK');
  other.close();
  await base.put({ Title: 'pear', url: 'http://h/2' });
  t.same(await base.oids('pear'), [2], 'a new run continues after the watermark');
});

t.test('a damaged or foreign index is refused, or rebuilt on request', async (t) => {
  await using base = await Base.open();
  await base.put({ Title: 'apple' });
  await base.indexer.close();
  await writeFile(base.file, 'no database at all '.repeat(500));
  await t.rejects(openIndexer(base.directory), StorageError);
  base.indexer = await openIndexer(base.directory, { rebuildOnError: true });
  t.equal(base.indexer.watermark, 0, 'empty');
  await base.catchUp();
  t.same(await base.oids('apple'), [1]);
  await base.indexer.close();

  // Overwrites every page except the first one: the damage shows when the words are read.
  const file = openSync(base.file, 'r+');
  for (let page = 1; page < 12; page++)
    writeSync(file, new Uint8Array(4096).fill(0xa5), 0, 4096, page * 4096);
  closeSync(file);
  await t.rejects(openIndexer(base.directory), StorageError);
  base.indexer = await openIndexer(base.directory, { rebuildOnError: true });
  await base.catchUp();
  t.same(await base.oids('apple'), [1]);

  await t.rejects(openIndexer(`${base.directory}/nowhere`), StorageError, 'no store');
});

t.test('an object that is not SOIF or was removed from the store is not a hit', async (t) => {
  await using base = await Base.open();
  await base.put({ Title: 'apple' }, { Title: 'apple tree' });
  await base.indexer.add(1, Buffer.from('garbage'));
  await base.indexer.add(77, encodeSoif(soifOf({ Title: 'apple' })));
  await base.indexer.flush(base.indexer.watermark);
  t.same(await base.oids('apple'), [2]);
});

t.test(
  'parts of words are found among more than 20 000 objects with a cached vocabulary',
  { timeout: 120_000 },
  async (t) => {
    await using base = await Base.open();
    const count = 20_011;
    for (let at = 0; at < count; at += 2000) {
      const objects = Array.from({ length: Math.min(2000, count - at) }, (_, i) =>
        soifOf({ url: `http://h/${at + i}`, Title: `word${at + i}` }),
      );
      await base.putSoif(objects);
    }
    // The second search counts the objects that are newer than the cached vocabulary.
    t.equal((await base.oids('ord20010', { ignoreCase: true, wantLines: false })).length, 1);
    t.equal((await base.oids('ord1999', { ignoreCase: true, wantLines: false })).length, 11);
  },
);
