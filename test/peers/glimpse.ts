import { execFileSync, spawnSync } from 'node:child_process';
import { chmod, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { parseQuery } from '../../protocols/broker/index.js';
import { PeerError, UsageError } from '../../protocols/errors.js';
import { translate } from '../../storage/indexers/glimpse/translate.js';
import { type GlimpseIndexerOptions, type Hit, openGlimpseIndexer } from '../../storage/indexers/index.js';
import { Base, PLAIN, soifOf, type TestObject } from '../storage/indexers/support.js';

const installed = spawnSync('glimpseindex', ['-V']).error === undefined;
const skip = installed ? false : 'glimpse is not installed';

const OBJECTS: readonly TestObject[] = [
  { title: 'Wheat prices', body: 'the wheat is good\nand rye too\nHuman computer interface' },
  { title: 'Rye fields', body: 'only rye here\nwheatfields abound' },
  { title: 'Barley a;b,c', body: 'barley (beer) café x.y*z{q}\ntitle wheat', size: '12' },
  { title: 'Numbers 1234', body: 'abc123 computr wheet human-computer foo_bar', size: '7' },
];

function optionsFor(base: Base, more: Partial<GlimpseIndexerOptions> = {}): GlimpseIndexerOptions {
  return {
    directory: join(base.directory, 'glimpse'),
    objectsDirectory: join(base.directory, 'objects'),
    storeDirectory: base.storeDirectory,
    ...more,
  };
}

/** A base whose engine is Glimpse. */
async function glimpseBase(more: Partial<GlimpseIndexerOptions> = {}): Promise<Base> {
  const base = await Base.open();
  await change(base, more);
  return base;
}

async function change(base: Base, more: Partial<GlimpseIndexerOptions> = {}): Promise<void> {
  await base.indexer.close();
  base.indexer = await openGlimpseIndexer(optionsFor(base, more));
}

/** A server on a port that glimpse accepts. */
async function listener(): Promise<{ port: number; close: () => Promise<void> }> {
  for (let port = 20_000 + (process.pid % 9000); ; port++) {
    const server = createServer();
    const listening = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!listening) continue;
    const close = () => new Promise<void>((resolve) => void server.close(() => resolve()));
    return { port, close };
  }
}

/** Waits until a condition holds; fails after five minutes. */
async function until(what: string, is: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 300_000; !(await is()); ) {
    if (Date.now() > end) throw new Error(`waited too long: ${what}`);
    await sleep(20);
  }
}

/** A program that replaces glimpse. */
async function program(base: Base, name: string, source: string): Promise<string> {
  const path = join(base.directory, name);
  await writeFile(path, `#!${process.execPath}\n${source}\n`);
  await chmod(path, 0o755);
  return path;
}

/** Replaces the last file that glimpse reads with a pipe without a writer, so that it waits there. */
async function blockLastFile(base: Base): Promise<{ file: string; unblock: () => Promise<void> }> {
  const current = (await readFile(join(base.directory, 'glimpse', 'CURRENT'), 'utf8')).trim();
  const names = await readFile(join(base.directory, 'glimpse', current, '.glimpse_filenames'), 'utf8');
  const file = names.trim().split('\n').at(-1) ?? '';
  await rename(file, `${file}.saved`);
  execFileSync('mkfifo', [file]);
  return { file, unblock: () => rename(`${file}.saved`, file) };
}

/** Processes whose command line contains a text, without zombies. */
async function processesWith(text: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (line.includes(text)) found.push(pid);
  }
  return found;
}

const question = (query: string, options: Partial<typeof PLAIN> = {}) => {
  const expression = parseQuery(query);
  if (expression.kind === 'all') throw new Error('not a question');
  return translate(expression, { ...PLAIN, ...options });
};

// Other programs on a busy machine take long; only a hang must fail.
t.setTimeout(600_000);

/** One base for the tests that change nothing. */
let shared: Base | undefined;
const theBase = async (): Promise<Base> => {
  if (shared === undefined) {
    shared = await glimpseBase();
    await shared.put(...OBJECTS);
  }
  return shared;
};
t.teardown(() => shared?.[Symbol.asyncDispose]());

t.test('BRK-8.10 glimpse: queries in its pattern syntax', async (t) => {
  const W = ['-W'];
  t.same(question('wheat and rye or oats'), { kind: 'pattern', pattern: '{wheat;{rye,oats}}', flags: W });
  t.same(question('title : wheat'), { kind: 'pattern', pattern: 'wheat', flags: W });
  t.same(question('wheat and not rye'), { kind: 'pattern', pattern: 'wheat', flags: W });
  t.same(question('wheat except rye'), { kind: 'pattern', pattern: 'wheat', flags: W });
  t.same(question('not rye'), { kind: 'all' });
  t.same(question('rye or not wheat'), { kind: 'all' });
  t.same(question('"human computer"'), { kind: 'pattern', pattern: '{human;computer}', flags: W });
  t.same(question('wheat', { ignoreCase: true, matchWord: true }), {
    kind: 'pattern',
    pattern: 'wheat',
    flags: ['-W', '-i', '-w'],
  });
  t.same(question('foo_bar', { matchWord: true }), { kind: 'pattern', pattern: '{foo;bar}', flags: W });
  const parts = { kind: 'pattern', pattern: '{wh,eat}', flags: W };
  t.same(question('wheat', { errors: 1 }), parts, 'one of two parts is spelled well');
  t.same(question('rye', { errors: 1 }), { kind: 'all' }, 'parts of one letter narrow nothing');
  t.same(question('title regexp "wh(ea|e)t pr.*s"'), {
    kind: 'pattern',
    pattern: '{wh;t;pr;s}',
    flags: W,
  });
});

t.test('BRK-2.7 glimpse: nothing of a query is taken for its pattern characters or options', async (t) => {
  for (const query of ['"a;b,c{d}~e"', '"-x $(id) `id`"', '"\\\\;rm -rf"', '"<x>&|!^$"', '"мир"']) {
    const asked = question(query);
    if (asked.kind === 'all') continue;
    t.match(asked.pattern, /^[A-Za-z0-9{};,]+$/, query);
    t.notMatch(asked.pattern.replace(/[{}]/g, ''), /;;|^;|;$/, query);
  }
  t.same(question('"a;b"'), { kind: 'pattern', pattern: '{a;b}', flags: ['-W'] });
});

t.test('BRK-8.9 glimpse: each object is a file, and queries find what they should', { skip }, async (t) => {
  const base = await theBase();
  const file = await readFile(join(base.directory, 'objects', '0', 'OBJ1'), 'utf8');
  t.match(file, /^@FILE \{ http:\/\/h\/1\n/);
  const cases: [string, number[], Partial<typeof PLAIN>?][] = [
    ['wheat', [1, 2, 3]],
    ['wheat', [1, 3], { matchWord: true }],
    ['WHEAT', []],
    ['WHEAT', [1, 2, 3], { ignoreCase: true }],
    ['wheat and rye', [1, 2]],
    ['wheat and not rye', [3]],
    ['not wheat', [4]],
    ['wheat except (rye or barley)', []],
    ['title : Wheat', [1]],
    ['title : wheat', []],
    ['body : wheat and title : Barley', [3]],
    ['"human computer"', [1], { ignoreCase: true }],
    ['human.computer', [1, 4], { ignoreCase: true }],
    ['computer', [1, 4], { errors: 1 }],
    ['wheat', [1, 2, 3, 4], { errors: 1 }],
    ['1234', [4]],
    ['"(beer)"', [3]],
    ['café', [3]],
    ['"a;b,c"', [3]],
    ['foo', [], { matchWord: true }],
    ['size less-than 10', [4]],
    ['title regexp "^W.*s$"', [1]],
    ['title exact "Rye fields"', [2]],
    ['nowhere', []],
  ];
  for (const [query, oids, options] of cases) t.same(await base.oids(query, options), oids, query);

  const [hit] = await base.search('title : Wheat');
  t.same(hit, {
    oid: 1,
    lines: [{ attribute: 'title', text: 'title{12}:\tWheat prices', first: true }],
  });
});

t.test('BRK-8.11 glimpse: limits end the search', { skip }, async (t) => {
  const base = await theBase();
  const files = await base.searchAll('wheat', { maxFiles: 2 });
  t.equal(files.hits.length, 2);
  t.same(files.outcome, { complete: false, reason: 'limit', warnings: [] });
  const lines = await base.searchAll('e', { maxResults: 3 });
  t.equal(
    lines.hits.reduce((sum, hit) => sum + hit.lines.length, 0),
    3,
  );
  const few = await base.search('e', { maxLines: 1 });
  t.ok(few.length === 4 && few.every((hit) => hit.lines.length === 1));
});

t.test('BRK-8.2 glimpse: changes, removals, and an index that survives its process', { skip }, async (t) => {
  await using base = await glimpseBase();
  await base.put(...OBJECTS);
  await base.putSoif([soifOf({ url: 'http://h/2', title: 'Oats', body: 'nothing else' }, 2)]);
  t.same(await base.oids('rye'), [1], 'the changed object is found by what it is now');
  t.same(await base.oids('Oats'), [2]);
  await base.put({ url: 'http://h/9', title: 'Late wheat' });
  t.same(await base.oids('wheat'), [1, 3, 5]);
  const { watermark } = base.indexer;
  t.equal(watermark, base.store.lastSequence);
  await base.store.remove([1]);
  t.same(await base.oids('wheat'), [3, 5], 'gone from the store, not yet from the index');
  await base.catchUp();
  t.ok(base.indexer.watermark > watermark);
  await change(base);
  t.equal(base.indexer.watermark, base.store.lastSequence, 'read back');
  t.same(await base.oids('wheat'), [3, 5]);
  t.same(
    (await readdir(join(base.directory, 'glimpse'))).filter((name) => /^\d+$/.test(name)).length,
    1,
    'one index is left',
  );
  await change(base, { indexOption: '-o' });
  t.equal(base.indexer.watermark, 0, 'an index of another kind is rebuilt');
  await t.rejects(openGlimpseIndexer(optionsFor(base, { indexOption: '-o;id' })), UsageError);
});

t.test('BRK-8.1 glimpse: a full indexing does not stop queries', { skip }, async (t) => {
  await using base = await glimpseBase();
  await base.put(...OBJECTS);
  await base.indexer.clear();
  t.same(await base.oids('wheat'), [1, 2, 3], 'the old index answers');
  const objects = await base.store.objects([1, 4]);
  await base.indexer.add(1, objects[0]!);
  await base.indexer.add(4, objects[1]!);
  t.same(await base.oids('wheat'), [1, 2, 3]);
  await base.indexer.flush(4);
  t.same(await base.oids('wheat'), [1]);
  t.same(await base.oids('http'), [1, 4]);
  t.same(await readdir(join(base.directory, 'objects', '0')), ['OBJ1', 'OBJ4'], 'files of no object go');
  await base.indexer.clear();
  await base.indexer.flush(0);
  t.same(await base.oids('http or not http'), [], 'an empty index');
});

t.test('BRK-8.13 glimpse: SIGTERM at the deadline, what was found is the result', { skip }, async (t) => {
  await using base = await glimpseBase();
  await base.put(...OBJECTS);
  await blockLastFile(base);
  const { hits, outcome } = await base.searchAll('http', { lifetimeMs: 600 });
  t.equal(hits.length, 3, 'all but the one that glimpse could not read');
  t.same(outcome, { complete: false, reason: 'lifetime', warnings: [] });
  await until('glimpse ends', async () => (await processesWith(base.directory)).length === 0);

  const stopping = new AbortController();
  const results = base.indexer.query(expressionOf('http'), { ...PLAIN, signal: stopping.signal });
  const seen: Hit[] = [];
  for await (const hit of results) {
    seen.push(hit);
    if (seen.length === 3) stopping.abort();
  }
  t.equal((await results.outcome).reason, 'aborted');
  await until('glimpse ends', async () => (await processesWith(base.directory)).length === 0);
});

t.test('BRK-8.13 glimpse: SIGKILL for what ignores SIGTERM', { skip }, async (t) => {
  await using base = await glimpseBase();
  await base.put(...OBJECTS);
  const stubborn = await program(
    base,
    'stubborn',
    `process.on('SIGTERM', () => console.log('/x/OBJ2'));
     console.log('/x/OBJ1');
     setInterval(() => undefined, 1000);`,
  );
  await change(base, { programs: { glimpse: stubborn }, graceMs: 400 });
  const { hits, outcome } = await base.searchAll('wheat', { lifetimeMs: 1500 });
  t.same(
    hits.map(({ oid }) => oid),
    [1, 2],
    'also what it said after SIGTERM',
  );
  t.equal(outcome.reason, 'lifetime');
  t.same(await processesWith(stubborn), []);
});

t.test('BRK-4.19 glimpse: its complaints reach the user', { skip }, async (t) => {
  await using base = await glimpseBase();
  await base.put(...OBJECTS);
  const complaining = await program(
    base,
    'complaining',
    `console.error('There are matches to 1 out of 4 files');
     console.error('glimpse: pattern is too something');
     console.log('/x/OBJ1');`,
  );
  await change(base, { programs: { glimpse: complaining } });
  const { hits, outcome } = await base.searchAll('wheat');
  t.equal(hits.length, 1);
  t.same(outcome, { complete: true, warnings: ['pattern is too something'] });
});

t.test('BRK-2.19 glimpse: what is refused is refused in its name', { skip }, async (t) => {
  const base = await theBase();
  for (const [query, text] of [
    ['title regexp "(?=x)"', /^ERROR: glimpse does not support the regular expression/],
    ['" "', /^ERROR: glimpse does not support empty search words/],
  ] as const) {
    const error = await base.search(query).catch((cause: unknown) => cause);
    if (!(error instanceof PeerError)) throw new Error(`${query}: no PeerError`);
    t.equal(error.status, 111);
    t.match(error.message, text);
  }
  await t.rejects(base.search('wheat', { errors: 9 }), { message: /more than 8 spelling errors/ });
});

t.test(
  'BRK-8.12 glimpse: glimpseserver is kept, used, and started again after indexing',
  { skip },
  async (t) => {
    const warnings: string[] = [];
    const free = await listener();
    const { port } = free;
    await free.close();
    const onWarning = (sentence: string) => void warnings.push(sentence);
    await using base = await glimpseBase({ server: { port, patienceMs: 1500 }, onWarning });
    const server = async () =>
      (await processesWith(join(base.directory, 'glimpse'))).filter((pid) => pid !== '').join();
    t.equal(await server(), '', 'nothing to serve yet');
    await base.put(...OBJECTS);
    const first = await server();
    t.match(first, /^\d+$/);
    t.same(await base.oids('wheat'), [1, 2, 3]);
    await base.put({ url: 'http://h/9', title: 'Late wheat' });
    const second = await server();
    t.match(second, /^\d+$/);
    t.not(second, first);
    t.same(await base.oids('wheat'), [1, 2, 3, 5]);

    // A query that the server cannot finish: BRK-8.13 (3).
    const { file, unblock } = await blockLastFile(base);
    const long = base.searchAll('http', { lifetimeMs: 3000 });
    await until('the client runs', async () => (await processesWith(`\0${port}\0-W\0-e\0http`)).length > 0);
    const concurrent = await base.oids('nowhere');
    t.same(concurrent, [], 'a concurrent query is answered');
    const { outcome, hits } = await long;
    t.equal(outcome.reason, 'lifetime');
    t.equal(hits.length, 4);
    await until('a server without answers is replaced', async () => {
      const now = await server();
      return /^\d+$/.test(now) && now !== second;
    });
    await unblock();
    t.equal((await base.oids('http')).length, 5, file);
    t.same(warnings, []);
    const third = await server();
    await change(base, { server: { port, patienceMs: 1500 }, onWarning });
    t.match(await server(), /^\d+$/, 'started with the Broker');
    t.not(await server(), third);
    await base.indexer.close();
    t.equal(await server(), '', 'ended with it');
  },
);

t.test('BRK-8.12 glimpse: without its port glimpseserver is done without', { skip }, async (t) => {
  const warnings: string[] = [];
  const taken = await listener();
  await using base = await glimpseBase({
    server: { port: taken.port },
    onWarning: (sentence) => void warnings.push(sentence),
  });
  await base.put(...OBJECTS);
  t.same(await base.oids('wheat'), [1, 2, 3]);
  t.match(warnings[0], /^glimpseserver does not start: .*in use/);
  await taken.close();
  await t.rejects(openGlimpseIndexer(optionsFor(base, { server: { port: 40_000 } })), {
    message: 'GlimpseServer-Port: glimpse takes 1024 to 30000, not 40000',
  });
});

function expressionOf(query: string) {
  const expression = parseQuery(query);
  if (expression.kind === 'all') throw new Error('not an expression');
  return expression;
}
