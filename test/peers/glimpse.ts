// Tests the Glimpse indexer with the programs of Debian's glimpse. Prints TAP; without them, only the
// translation of queries is tested. The runner installs the package.
import { execFileSync, spawnSync } from 'node:child_process';
import { chmod, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { parseQuery } from '../../protocols/broker/index.js';
import { PeerError, StorageError, UsageError } from '../../protocols/errors.js';
import { translate } from '../../storage/indexers/glimpse/translate.js';
import { type GlimpseIndexerOptions, type Hit, openGlimpseIndexer } from '../../storage/indexers/index.js';
import { waitUntil } from '../helpers/wait-until.js';
import {
  EmbeddedFixture,
  type ObjectAttributes,
  objectOf,
  PLAIN_SEARCH,
} from '../storage/indexers/embedded-fixture.js';

const isInstalled = spawnSync('glimpseindex', ['-V']).error === undefined;
const skip = isInstalled ? false : 'glimpse is not installed';

const OBJECTS: readonly ObjectAttributes[] = [
  { title: 'Wheat prices', body: 'the wheat is good\nand rye too\nHuman computer interface' },
  { title: 'Rye fields', body: 'only rye here\nwheatfields abound' },
  { title: 'Barley a;b,c', body: 'barley (beer) café x.y*z{q}\ntitle wheat', size: '12' },
  { title: 'Numbers 1234', body: 'abc123 computr wheet human-computer foo_bar', size: '7' },
];

function optionsFor(
  base: EmbeddedFixture,
  options: Partial<GlimpseIndexerOptions> = {},
): GlimpseIndexerOptions {
  return {
    directory: join(base.directory, 'glimpse'),
    objectsDirectory: join(base.directory, 'objects'),
    storeDirectory: base.storeDirectory,
    ...options,
  };
}

/** Opens a base with objects whose engine is Glimpse. */
async function openGlimpseBase(options: Partial<GlimpseIndexerOptions> = {}, objects = OBJECTS) {
  const base = await EmbeddedFixture.open();
  await reopen(base, options);
  if (objects.length > 0) await base.put(...objects);
  return base;
}

/** Opens the engine again, with other options. */
async function reopen(base: EmbeddedFixture, options: Partial<GlimpseIndexerOptions> = {}): Promise<void> {
  await base.indexer.close();
  base.indexer = await openGlimpseIndexer(optionsFor(base, options));
}

/** Listens on a port from the range that glimpse accepts. */
async function listenOnFreePort(): Promise<{ port: number; close: () => Promise<void> }> {
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

/** Writes a program that replaces glimpse. Returns its path. */
async function writeProgram(base: EmbeddedFixture, name: string, source: string): Promise<string> {
  const path = join(base.directory, name);
  await writeFile(path, `#!${process.execPath}\n${source}\n`);
  await chmod(path, 0o755);
  return path;
}

/** The directories of the parts of the index in use, in the order of their numbers. */
async function partsOf(base: EmbeddedFixture): Promise<string[]> {
  const current = (await readFile(join(base.directory, 'glimpse', 'CURRENT'), 'utf8')).trim();
  const index = join(base.directory, 'glimpse', current);
  const names = (await readdir(index)).filter((name) => /^\d+$/.test(name));
  return names.sort((a, b) => Number(a) - Number(b)).map((name) => join(index, name));
}

/** The files of objects (REG-34), sorted. */
async function objectFilesOf(base: EmbeddedFixture): Promise<string[]> {
  const names = await readdir(join(base.directory, 'objects'), { recursive: true });
  return names.filter((name) => name.includes('OBJ')).sort();
}

/** Replaces the last file that glimpse reads with a pipe without a writer, so that it waits there. */
async function blockLastFile(base: EmbeddedFixture): Promise<{ file: string; unblock: () => Promise<void> }> {
  const [part = ''] = await partsOf(base);
  const names = await readFile(join(part, '.glimpse_filenames'), 'utf8');
  const file = names.trim().split('\n').at(-1) ?? '';
  await rename(file, `${file}.saved`);
  execFileSync('mkfifo', [file]);
  return { file, unblock: () => rename(`${file}.saved`, file) };
}

/** Finds the ids of processes whose command line contains a text, without zombies. */
async function findProcesses(text: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (line.includes(text)) found.push(pid);
  }
  return found;
}

const translateQuery = (query: string, options: Partial<typeof PLAIN_SEARCH> = {}) =>
  translate(expressionOf(query), { ...PLAIN_SEARCH, ...options });

/** The base of the tests that change nothing. */
let shared: EmbeddedFixture | undefined;
const getSharedBase = async (): Promise<EmbeddedFixture> => {
  shared ??= await openGlimpseBase();
  return shared;
};
t.teardown(() => shared?.[Symbol.asyncDispose]());

t.test('BRK-8.10 glimpse: queries in its pattern syntax', async (t) => {
  const cases: [string, string, Partial<typeof PLAIN_SEARCH>?][] = [
    ['wheat and rye or oats', '{wheat;{rye,oats}}'],
    ['title : wheat', 'wheat'],
    ['wheat and not rye', 'wheat'],
    ['wheat except rye', 'wheat'],
    ['"human computer"', '{human;computer}'],
    ['foo_bar', '{foo;bar}', { matchWord: true }],
    // With one error, one of two parts is correct.
    ['wheat', '{wh,eat}', { errors: 1 }],
    ['title regexp "wh(ea|e)t pr.*s"', '{wh;t;pr;s}'],
  ];
  for (const [query, pattern, options] of cases)
    t.same(translateQuery(query, options), { kind: 'pattern', pattern, flags: ['-W'] }, query);
  const flags = ['-W', '-i', '-w'];
  const inWords = translateQuery('wheat', { ignoreCase: true, matchWord: true });
  t.same(inWords, { kind: 'pattern', pattern: 'wheat', flags });
  t.same(translateQuery('not rye'), { kind: 'all' });
  t.same(translateQuery('rye or not wheat'), { kind: 'all' });
  t.same(translateQuery('rye', { errors: 1 }), { kind: 'all' }, 'parts of one letter do not help');
});

t.test('BRK-2.7 glimpse: no part of a query is interpreted as pattern characters or options', async (t) => {
  for (const query of ['"a;b,c{d}~e"', '"-x $(id) `id`"', '"\\\\;rm -rf"', '"<x>&|!^$"', '"мир"']) {
    const translated = translateQuery(query);
    if (translated.kind === 'all') continue;
    t.match(translated.pattern, /^[A-Za-z0-9{};,]+$/, query);
    t.notMatch(translated.pattern.replace(/[{}]/g, ''), /;;|^;|;$/, query);
  }
  t.same(translateQuery('"a;b"'), { kind: 'pattern', pattern: '{a;b}', flags: ['-W'] });
});

t.test('BRK-8.9 glimpse: each object is a file, and queries find the right objects', { skip }, async (t) => {
  const base = await getSharedBase();
  const file = await readFile(join(base.directory, 'objects', '1', 'OBJ1'), 'utf8');
  t.match(file, /^@FILE \{ http:\/\/h\/1\n/);
  const cases: [string, number[], Partial<typeof PLAIN_SEARCH>?][] = [
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
    ['"human computer"', [1, 4], { ignoreCase: true }],
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
  const line = { attribute: 'title', text: 'title{12}:\tWheat prices', first: true };
  t.same(hit, { oid: 1, lines: [line] });
});

t.test('BRK-8.11 glimpse: limits end the search', { skip }, async (t) => {
  const base = await getSharedBase();
  const files = await base.searchAll('wheat', { maxFiles: 2 });
  t.equal(files.hits.length, 2);
  t.same(files.outcome, { complete: false, reason: 'limit', warnings: [] });
  const lines = await base.searchAll('e', { maxResults: 3 });
  t.equal(lines.hits.flatMap((hit) => hit.lines).length, 3);
  const few = await base.search('e', { maxLines: 1 });
  t.ok(few.length === 4 && few.every((hit) => hit.lines.length === 1));
});

t.test('BRK-8.2 glimpse: changes, removals, and an index that survives its process', { skip }, async (t) => {
  await using base = await openGlimpseBase();
  await base.putSoif([objectOf({ url: 'http://h/2', title: 'Oats', body: 'nothing else' }, 2)]);
  t.same(await base.oids('rye'), [1], 'the changed object is found by its new content');
  t.same(await base.oids('Oats'), [2]);
  await base.put({ url: 'http://h/9', title: 'Late wheat' });
  t.same(await base.oids('wheat'), [1, 3, 5]);
  const { watermark } = base.indexer;
  t.equal(watermark, base.store.lastSequence);
  await base.store.remove([1]);
  t.same(await base.oids('wheat'), [3, 5], 'removed objects are no hits, though in the index');
  await base.catchUp();
  t.ok(base.indexer.watermark > watermark);
  await reopen(base);
  t.equal(base.indexer.watermark, base.store.lastSequence, 'the watermark is read back');
  t.same(await base.oids('wheat'), [3, 5]);
  const indexes = (await readdir(join(base.directory, 'glimpse'))).filter((name) => /^\d+$/.test(name));
  t.equal(indexes.length, 1, 'only the current index remains');
  await reopen(base, { indexOption: '-o' });
  t.equal(base.indexer.watermark, 0, 'an index of another kind is rebuilt');
  await t.rejects(openGlimpseIndexer(optionsFor(base, { indexOption: '-o;id' })), UsageError);
});

t.test('BRK-8.1 glimpse: a full indexing does not stop queries', { skip }, async (t) => {
  await using base = await openGlimpseBase();
  await base.indexer.clear();
  t.same(await base.oids('wheat'), [1, 2, 3], 'the old index answers');
  const objects = await base.store.objects([1, 4]);
  await base.indexer.add(1, objects[0]!);
  await base.indexer.add(4, objects[1]!);
  t.same(await base.oids('wheat'), [1, 2, 3]);
  await base.indexer.flush(4);
  t.same(await base.oids('wheat'), [1]);
  t.same(await base.oids('http'), [1, 4]);
  t.same(await objectFilesOf(base), ['1/OBJ1', '4/OBJ4'], 'files without an object are removed');
  await base.indexer.clear();
  await base.indexer.flush(0);
  t.same(await base.oids('http or not http'), [], 'an empty index finds nothing');
});

t.test('BRK-8.13 glimpse: SIGTERM at the deadline; the hits so far count', { skip }, async (t) => {
  await using base = await openGlimpseBase();
  await blockLastFile(base);
  const { hits, outcome } = await base.searchAll('http', { lifetimeMs: 600 });
  t.equal(hits.length, 3, 'all files are hits except the one that glimpse cannot read');
  t.same(outcome, { complete: false, reason: 'lifetime', warnings: [] });
  await waitUntil(async () => (await findProcesses(base.directory)).length === 0);

  const stopping = new AbortController();
  const results = base.indexer.query(expressionOf('http'), { ...PLAIN_SEARCH, signal: stopping.signal });
  const seen: Hit[] = [];
  for await (const hit of results) {
    seen.push(hit);
    if (seen.length === 3) stopping.abort();
  }
  t.equal((await results.outcome).reason, 'aborted');
  await waitUntil(async () => (await findProcesses(base.directory)).length === 0);
});

t.test('BRK-8.13 glimpse: SIGKILL ends a program that ignores SIGTERM', { skip }, async (t) => {
  await using base = await openGlimpseBase();
  const stubborn = await writeProgram(
    base,
    'stubborn',
    `process.on('SIGTERM', () => console.log('/x/OBJ2'));
     console.log('/x/OBJ1');
     setInterval(() => undefined, 1000);`,
  );
  await reopen(base, { programs: { glimpse: stubborn }, graceMs: 400 });
  const { hits, outcome } = await base.searchAll('wheat', { lifetimeMs: 1500 });
  const oids = hits.map(({ oid }) => oid);
  t.same(oids, [1, 2], 'output after SIGTERM counts too');
  t.equal(outcome.reason, 'lifetime');
  t.same(await findProcesses(stubborn), []);
});

t.test('BRK-4.19 glimpse: its error messages reach the user', { skip }, async (t) => {
  await using base = await openGlimpseBase();
  const failing = await writeProgram(
    base,
    'failing',
    `console.error('There are matches to 1 out of 4 files');
     console.error('glimpse: pattern is too something');
     console.log('/x/OBJ1');`,
  );
  await reopen(base, { programs: { glimpse: failing } });
  const { hits, outcome } = await base.searchAll('wheat');
  t.equal(hits.length, 1);
  t.same(outcome, { complete: true, warnings: ['pattern is too something'] });
});

t.test('BRK-2.19 glimpse: a refusal names the engine', { skip }, async (t) => {
  const base = await getSharedBase();
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

t.test('BRK-8.12 glimpse: glimpseserver runs with the indexer and restarts', { skip }, async (t) => {
  const warnings: string[] = [];
  const listener = await listenOnFreePort();
  const { port } = listener;
  await listener.close();
  const onWarning = (sentence: string) => void warnings.push(sentence);
  await using base = await openGlimpseBase({ server: { port, patienceMs: 1500 }, onWarning }, []);
  const serverProcess = async () =>
    (await findProcesses(join(base.directory, 'glimpse'))).filter((pid) => pid !== '').join();
  t.equal(await serverProcess(), '', 'without objects no server runs');
  await base.put(...OBJECTS);
  const first = await serverProcess();
  t.match(first, /^\d+$/);
  t.same(await base.oids('wheat'), [1, 2, 3]);
  await base.put({ url: 'http://h/9', title: 'Late wheat' });
  const second = await serverProcess();
  t.match(second, /^\d+$/);
  t.not(second, first);
  t.same(await base.oids('wheat'), [1, 2, 3, 5]);

  // A query that the server cannot finish: BRK-8.13 (3).
  const { file, unblock } = await blockLastFile(base);
  const long = base.searchAll('http', { lifetimeMs: 3000 });
  await waitUntil(async () => (await findProcesses(`\0${port}\0-W\0-e\0http`)).length > 0);
  const concurrent = await base.oids('nowhere');
  t.same(concurrent, [], 'a concurrent query is answered');
  const { outcome, hits } = await long;
  t.equal(outcome.reason, 'lifetime');
  t.equal(hits.length, 4);
  await waitUntil(async () => {
    const now = await serverProcess();
    return /^\d+$/.test(now) && now !== second;
  });
  await unblock();
  t.equal((await base.oids('http')).length, 5, file);
  t.same(warnings, []);
  const third = await serverProcess();
  await reopen(base, { server: { port, patienceMs: 1500 }, onWarning });
  t.match(await serverProcess(), /^\d+$/, 'the server starts with the indexer');
  t.not(await serverProcess(), third);
  await base.indexer.close();
  t.equal(await serverProcess(), '', 'the server ends with the indexer');
});

t.test('BRK-8.12 glimpse: if the port is in use, queries work without glimpseserver', { skip }, async (t) => {
  const warnings: string[] = [];
  const taken = await listenOnFreePort();
  const onWarning = (sentence: string) => void warnings.push(sentence);
  await using base = await openGlimpseBase({ server: { port: taken.port }, onWarning });
  t.same(await base.oids('wheat'), [1, 2, 3]);
  t.match(warnings[0], /^glimpseserver does not start: .*in use/);
  await taken.close();
  await t.rejects(openGlimpseIndexer(optionsFor(base, { server: { port: 40_000 } })), {
    message: 'GlimpseServer-Port: glimpse takes 1024 to 30000, not 40000',
  });
});

t.test('BRK-8.3 glimpse: a failed indexing says why, and the next succeeds', { skip }, async (t) => {
  await using base = await openGlimpseBase();
  const { watermark } = base.indexer;
  const failing = await writeProgram(
    base,
    'failing-index',
    `console.log('This is glimpseindex');
     console.error('Using 127100 words as threshold before merge');
     console.error('Cannot find previous glimpseindex files!\\u001b[31m');
     console.error('x'.repeat(100_000));
     process.exitCode = 2;`,
  );
  await reopen(base, { programs: { glimpseindex: failing } });
  const error = await base.put({ url: 'http://h/9', title: 'Late wheat' }).catch((cause: unknown) => cause);
  if (!(error instanceof StorageError)) throw new Error('no StorageError');
  t.match(
    error.message,
    /^glimpseindex failed \(exit status 2\): Using 127100 words as threshold before merge \| Cannot find previous glimpseindex files! \[31m \| x+ \| and \d+ more characters$/,
  );
  t.ok(error.message.length < 20_000, 'the text is bounded');
  t.equal(base.indexer.watermark, watermark);
  t.same(await base.oids('wheat'), [1, 2, 3], 'the former index answers');
  await reopen(base);
  await base.catchUp();
  t.same(await base.oids('wheat'), [1, 2, 3, 5]);
});

t.test('BRK-8.3 glimpse: a killed or hanging glimpseindex is repaired', { skip }, async (t) => {
  await using base = await openGlimpseBase();
  const hanging = await writeProgram(
    base,
    'hanging-index',
    `const [directory] = process.argv.slice(-1);
     require('node:fs').writeFileSync(directory + '/.glimpse_index', 'half an index');
     require('node:child_process').spawn('sleep', ['424242'], { stdio: 'inherit' });
     console.error('sorting');
     setInterval(() => undefined, 1000);`,
  );
  await reopen(base, { programs: { glimpseindex: hanging }, indexSilenceMs: 500, graceMs: 400 });
  await t.rejects(base.put({ url: 'http://h/9', title: 'Late wheat' }), {
    message: 'glimpseindex failed (nothing happened for 0.5 s): sorting',
  });
  t.same(await findProcesses('sleep\u45142'), [], 'the programs that it started end with it');

  await reopen(base, { programs: { glimpseindex: hanging } });
  const killed = t.rejects(base.catchUp(), { message: 'glimpseindex failed (SIGKILL): sorting' });
  await waitUntil(async () => (await findProcesses(hanging)).length > 0);
  await sleep(300);
  for (const pid of await findProcesses(hanging)) process.kill(-Number(pid), 'SIGKILL');
  await killed;
  t.same(await base.oids('wheat'), [1, 2, 3], 'the former index answers');
  await reopen(base);
  t.same(await readdir(join(base.directory, 'glimpse', 'scratch')), []);
  await base.catchUp();
  t.same(await base.oids('wheat'), [1, 2, 3, 5]);
  t.equal(base.indexer.objects, 5);
});

t.test('BRK-8.9 glimpse: lost and damaged files are repaired at the start', { skip }, async (t) => {
  const warnings: string[] = [];
  const onWarning = (sentence: string) => void warnings.push(sentence);
  await using base = await openGlimpseBase();
  await base.store.remove([2]);
  await base.catchUp();
  t.equal(base.indexer.objects, 3);
  await rm(join(base.directory, 'objects'), { recursive: true });
  await reopen(base, { onWarning });
  t.same(await base.oids('wheat'), [1, 3], 'the files are written again');
  t.same(await objectFilesOf(base), ['1/OBJ1', '3/OBJ3', '4/OBJ4']);
  t.equal(base.indexer.objects, 3);
  t.same(warnings, []);

  const [part = ''] = await partsOf(base);
  await truncate(join(part, '.glimpse_index'), 5);
  await t.rejects(base.oids('wheat'), { message: /^cannot use the index: files of .* are damaged$/ });
  await reopen(base, { onWarning });
  t.equal(base.indexer.watermark, 0, 'the owner indexes everything again');
  t.equal(warnings.length, 1);
  await base.catchUp();
  t.same(await base.oids('wheat'), [1, 3]);
});

t.test('BRK-8.9 glimpse: objects that glimpseindex leaves out are found', { skip }, async (t) => {
  const warnings: string[] = [];
  await using base = await openGlimpseBase({}, []);
  const partial = await writeProgram(
    base,
    'partial-index',
    `const { spawnSync } = require('node:child_process');
     const names = require('node:fs').readFileSync(0, 'latin1').split('\\n').filter((name) => !name.endsWith('OBJ3'));
     const { status } = spawnSync('glimpseindex', process.argv.slice(2), { input: names.join('\\n') });
     process.exitCode = status;`,
  );
  const onWarning = (sentence: string) => void warnings.push(sentence);
  await reopen(base, { programs: { glimpseindex: partial }, onWarning });
  await base.put(...OBJECTS);
  t.same(await base.oids('wheat'), [1, 2, 3]);
  t.same(warnings, ['glimpseindex left out 1 of 4 objects, which are read for every query; the first is 3']);
  await reopen(base);
  t.same(await base.oids('wheat'), [1, 2, 3]);
});

t.test('BRK-8.3 glimpse: a glimpse that crashes is a failure, not an empty result', { skip }, async (t) => {
  await using base = await openGlimpseBase();
  const crashing = await writeProgram(base, 'crashing', `process.kill(process.pid, 'SIGSEGV');`);
  await reopen(base, { programs: { glimpse: crashing } });
  await t.rejects(base.search('wheat'), { message: 'cannot use the index: glimpse failed (SIGSEGV)' });

  // It names a candidate and crashes; the next time it finds everything.
  const before = await readdir(base.directory);
  const once = await writeProgram(
    base,
    'once',
    `const { existsSync, writeFileSync } = require('node:fs');
     const { spawnSync } = require('node:child_process');
     const mark = process.argv[1] + '.ran';
     if (existsSync(mark)) process.exit(spawnSync('glimpse', process.argv.slice(2), { stdio: 'inherit' }).status);
     writeFileSync(mark, '');
     process.stdout.write('/x/OBJ1\\n', () => process.kill(process.pid, 'SIGABRT'));`,
  );
  await reopen(base, { programs: { glimpse: once } });
  const expected = await base.oids('wheat', { wantLines: false });
  t.ok((await readdir(base.directory)).length > before.length + 1, 'the first one crashed');
  await reopen(base);
  t.same(await base.oids('wheat', { wantLines: false }), expected, 'no object is missing or named twice');
  t.ok(expected.length > 0);
});

function expressionOf(query: string) {
  const expression = parseQuery(query);
  if (expression.kind === 'all') throw new Error('#allb is not for indexers');
  return expression;
}
