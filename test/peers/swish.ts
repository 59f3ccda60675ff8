// Tests the Swish indexer with Debian's swish-e. Prints TAP; without it, only the translation of queries is
// tested. The runner installs it.
import { spawnSync } from 'node:child_process';
import { readdir, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { parseQuery } from '../../protocols/broker/index.js';
import { PeerError, StorageError } from '../../protocols/errors.js';
import { openSwishIndexer, type SwishIndexerOptions } from '../../storage/indexers/index.js';
import { documentOf, translate } from '../../storage/indexers/swish/translate.js';
import {
  EmbeddedFixture,
  type ObjectAttributes,
  objectOf,
  type PLAIN_SEARCH,
} from '../storage/indexers/embedded-fixture.js';

const skip = spawnSync('swish-e', ['-V']).error === undefined ? false : 'swish-e is not installed';
const OBJECTS: readonly ObjectAttributes[] = [
  { title: 'Wheat prices', body: 'the wheat is good\nand rye too\nHuman computer interface wheat wheat' },
  { title: 'Rye fields', body: 'only rye here\nwheatfields abound' },
  { title: 'Barley', body: 'barley café foo_bar\ntitle wheat zzz' },
  { title: 'Numbers 1234', body: 'not and or мир human-computer' },
];

/** Opens a base with objects whose engine is Swish. */
async function openSwishBase(options: Partial<SwishIndexerOptions> = {}): Promise<EmbeddedFixture> {
  const base = await EmbeddedFixture.open();
  await reopen(base, options);
  await base.put(...OBJECTS);
  return base;
}

/** Opens the engine again, with other options. */
async function reopen(base: EmbeddedFixture, options: Partial<SwishIndexerOptions> = {}): Promise<void> {
  await base.indexer.close();
  const directory = join(base.directory, 'swish');
  base.indexer = await openSwishIndexer({ directory, storeDirectory: base.storeDirectory, ...options });
}

t.test('BRK-8.5 swish: queries in its language', async (t) => {
  const translateQuery = (query: string): string => {
    const expression = parseQuery(query);
    if (expression.kind === 'all') throw new Error('#allb is not for indexers');
    return translate(expression);
  };
  t.equal(translateQuery('Wheat and rye or oats'), '("wheat" and ("rye" or "oats"))');
  t.equal(translateQuery('"and" and "not"'), '("and" and "not")');
  t.equal(translateQuery('wheat except rye'), '"wheat"');
  t.equal(translateQuery('not rye'), '"zzz"', '"not" alone selects every object');
  t.equal(translateQuery('"human-computer"'), '("human" and "computer")');
  t.equal(translateQuery('title : caf\u00e9'), '"cafe"', 'by its letters');
  t.equal(translateQuery('title : \u0436\u00df'), '"ztyzss"', 'letters beyond a-z are encoded by number');
  t.equal(translateQuery('"a) or (b"'), '("a" and "or" and "b")');
  const text = documentOf(objectOf({ url: 'http://h/1', a: 'Caf\u00e9 X_y' }));
  t.match(text, /^zzz http h 1 1 cafe xz2nzy x y(?: |$)/);
});

t.test('BRK-8.5 swish: queries find the right objects, best first', { skip }, async (t) => {
  await using base = await openSwishBase();
  const cases: [string, number[], Partial<typeof PLAIN_SEARCH>?][] = [
    ['wheat', [1, 3]],
    ['Wheat', [1]],
    ['WHEAT', [1, 3], { ignoreCase: true }],
    ['wheat and rye', [1]],
    ['rye and not wheat', [2]],
    ['not rye', [3, 4]],
    ['title : Wheat', [1]],
    ['title : wheat', []],
    ['title exact Barley', [3]],
    ['"human computer"', [1, 4], { ignoreCase: true }],
    ['"and"', [1, 4]],
    ['café', [3]],
    ['мир', [4]],
    ['foo_bar', [3]],
    ['foo', []],
    ['zzz', [3], { ignoreCase: true }],
    ['nowhere', []],
  ];
  for (const [query, oids, options] of cases) t.same(await base.oids(query, options), oids, query);
  const hits = await base.search('wheat', { wantLines: false });
  t.equal(hits[0]?.oid, 1, 'the object with more occurrences is first');
  t.ok((hits[0]?.score ?? 0) > (hits[1]?.score ?? 0));
  const [line] = (await base.search('café'))[0]?.lines ?? [];
  t.same(line, { attribute: 'body', text: 'body{36}:\tbarley café foo_bar', first: true });
});

t.test('BRK-2.19 swish: a refusal names the engine', { skip }, async (t) => {
  await using base = await openSwishBase();
  for (const [query, options, text] of [
    ['wheat', { errors: 1 }, 'spelling errors'],
    ['wh.at', {}, 'pattern characters'],
    ['title regexp x', {}, 'regular expressions'],
    ['size less-than 3', {}, 'less-than'],
  ] as const) {
    const error = await base.search(query, options).catch((cause: unknown) => cause);
    if (!(error instanceof PeerError)) throw new Error(`${query}: no PeerError`);
    t.equal(error.status, 111);
    t.equal(error.message, `ERROR: swish does not support ${text}`);
  }
});

t.test('BRK-8.2 swish: parts of changes are merged, and survive a restart', { skip }, async (t) => {
  await using base = await openSwishBase({ maxParts: 2 });
  const parts = async () => {
    const directory = join(base.directory, 'swish');
    const [current = ''] = (await readdir(directory)).filter((name) => /^\d+$/.test(name));
    return (await readdir(join(directory, current))).filter((name) => name.endsWith('.idx')).sort();
  };
  t.same(await parts(), ['1.idx']);
  await base.putSoif([objectOf({ url: 'http://h/2', title: 'Oats' }, 2)]);
  t.same(await parts(), ['1.idx', '2.idx']);
  t.same(await base.oids('rye'), [1], 'the changed object is found by its new content');
  t.same(await base.oids('Oats'), [2]);
  await base.put({ url: 'http://h/9', title: 'Late wheat' });
  t.same(await parts(), ['4.idx'], 'the parts are merged');
  t.same(await base.oids('wheat'), [1, 3, 5]);
  t.same(await base.oids('Oats'), [2], 'of two versions the later one is kept');
  await base.store.remove([1]);
  await base.catchUp();
  t.same(await base.oids('wheat'), [3, 5]);
  await reopen(base);
  t.equal(base.indexer.watermark, base.store.lastSequence, 'the watermark is read back');
  t.same(await base.oids('wheat'), [3, 5]);
});

t.test('BRK-8.1 swish: a full indexing does not stop queries', { skip }, async (t) => {
  await using base = await openSwishBase();
  await base.indexer.clear();
  const [object] = await base.store.objects([3]);
  await base.indexer.add(3, object!);
  t.same(await base.oids('wheat'), [1, 3], 'the old index answers');
  await base.indexer.flush(4);
  t.same(await base.oids('wheat'), [3]);
  await base.indexer.clear();
  await base.indexer.flush(0);
  t.same(await base.oids('wheat'), [], 'an empty index finds nothing');
});

t.test('BRK-8.3 swish: a failed run keeps the previous index', { skip }, async (t) => {
  await using base = await openSwishBase();
  const { watermark } = base.indexer;
  await reopen(base, { program: '/bin/false' });
  const [object] = await base.store.objects([1]);
  await base.indexer.beginUpdate();
  await base.indexer.add(1, object!);
  await t.rejects(base.indexer.flush(watermark + 1), StorageError);
  t.equal(base.indexer.watermark, watermark);
  await reopen(base);
  t.equal(base.indexer.watermark, watermark);
  t.same(await base.oids('wheat'), [1, 3]);
});

t.test('BRK-8.3 swish: a damaged index fails, and is made again', { skip }, async (t) => {
  const warnings: string[] = [];
  await using base = await openSwishBase();
  const folder = join(base.directory, 'swish');
  const names = await readdir(folder, { recursive: true });
  const part = names.find((name) => name.endsWith('.idx')) ?? '';
  await truncate(join(folder, part), 100);
  await t.rejects(base.oids('wheat'), { message: /^cannot use the index: files of .* are damaged$/ });
  await reopen(base, { onWarning: (sentence) => void warnings.push(sentence) });
  t.equal(base.indexer.watermark, 0);
  t.same(warnings, ['the index of swish-e is damaged, so all objects are indexed again']);
  await base.catchUp();
  t.same(await base.oids('wheat'), [1, 3]);
});
