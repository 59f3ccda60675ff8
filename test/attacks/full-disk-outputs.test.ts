// What is written onto a full disk leaves no half-written output, and its error names the disk:
// `harvest registry export`, the tools that make a database, and the disk cache of the fetcher.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { DiskCache, type FetchResult } from '../../clients/fetch/index.js';
import { decodeSoif } from '../../protocols/soif/index.js';
import { BrokerStore } from '../../storage/index.js';
import { checkRegistry } from '../../storage/original-registry/index.js';
import { cli } from '../helpers/cli.js';
import { smallDisk } from '../helpers/small-disk.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { objectOf } from '../storage/original-registry/takeover.js';

const OBJECTS = 400;
const FULL = /ENOSPC|disk is full|no space left/;
const TEXT = 'x'.repeat(20_000);

function manyObjects(): Buffer[] {
  return Array.from({ length: OBJECTS }, (_, i) => objectOf(i + 1, { Body: TEXT }));
}

async function brokerOf(t: Test): Promise<string> {
  const data = await temporaryDirectory(t);
  mkdirSync(join(data, 'admin'));
  writeFileSync(join(data, 'admin', 'broker.conf'), 'Broker-Port 8501\n');
  await using store = await BrokerStore.open(join(data, 'store'));
  await store.apply(
    manyObjects().map((bytes) => ({ kind: 'update' as const, object: decodeSoif(bytes), bytes })),
  );
  return data;
}

t.test('REG-37: a registry export that finds no space leaves nothing of it', async (t) => {
  const data = await brokerOf(t);
  const disk = await smallDisk(t, 40);
  if (disk === undefined) return;
  const to = join(disk.directory, 'brokers', 'original');
  const run = (...more: string[]) => cli('registry', 'export', '--data', data, '--to', to, ...more);
  for (const free of [4_000_000, 20_000]) {
    await disk.fill(free);
    const { code, stderr, stdout } = await run();
    t.equal(code, 1, stderr);
    t.equal(stdout, '');
    t.match(stderr, FULL);
    t.match(stderr, /^registry export: .*original/, 'the sentence names the directory');
    t.notMatch(stderr, /internal error/);
    t.same(readdirSync(disk.directory), ['filler'], 'no directory, no object file');
    await disk.free();
  }
  t.match(await run(), { code: 0, stdout: /400 objects, 0 skipped, 0 unreferenced, 1 files copied/ });
  t.same(readdirSync(to).sort(), ['admin', 'objects']);

  const registry = readFileSync(join(to, 'admin', 'Registry'));
  await disk.fill(2_000_000);
  t.match(await run('--force'), { code: 1, stderr: FULL });
  t.same(readFileSync(join(to, 'admin', 'Registry')), registry, 'the former export is unchanged');
  t.same(readdirSync(to).sort(), ['admin', 'objects']);
  t.match(await checkRegistry(join(to, 'admin', 'Registry'), {}, to), {
    problems: 0,
    counts: { valid: 400 },
  });
});

t.test('G-138: tools that make a database leave no file if they find no space', async (t) => {
  const disk = await smallDisk(t, 20);
  if (disk === undefined) return;
  const soif = join(await temporaryDirectory(t), 'all.soif');
  writeFileSync(soif, Buffer.concat(manyObjects()));
  const db = join(disk.directory, 'copy.gdbm');
  const tools: Record<string, readonly string[]> = {
    template2db: ['template2db', db, soif],
    consoldb: ['consoldb', db, soif],
    'gdbmutil load': ['gdbmutil', 'load', db, soif],
    'gdbmutil import': ['gdbmutil', 'import', soif, db],
  };
  for (const [name, args] of Object.entries(tools)) {
    for (const free of name === 'template2db' ? [3_000_000, 0] : [16_384]) {
      await disk.fill(free);
      const { code, stderr, stdout } = await cli(...args);
      t.equal(code, 1, `${name}, ${free} bytes free: ${stderr}`);
      t.equal(stdout, '');
      t.match(stderr, FULL);
      t.match(stderr, /copy\.gdbm/);
      t.notMatch(stderr, /\.new-|internal error/);
      t.same(readdirSync(disk.directory), ['filler'], `${name}: no file`);
      await disk.free();
    }
    t.match(await cli(...args), { code: 0, stderr: '' }, name);
    t.equal((await cli('gdbmutil', 'count', db)).stdout, `${OBJECTS}\n`);
    if (name !== 'gdbmutil import') await cli('gdbmutil', 'delete', db, 'http://a/1');
    const before = readFileSync(db);
    await disk.fill(16_384);
    const more = join(await temporaryDirectory(t), 'more.soif');
    writeFileSync(more, objectOf(1000, { Body: 'y'.repeat(3_000_000) }));
    const failed = await cli(...args.map((arg) => (arg === soif ? more : arg)));
    t.match(failed, { code: 1, stderr: FULL }, `${name}: into a database that exists`);
    t.same(readFileSync(db), before, `${name}: it is unchanged`);
    await disk.free();
    rmSync(db);
    t.notOk(existsSync(`${db}-journal`));
  }
});

t.test('G-138: a source with an error leaves no new database', async (t) => {
  const top = await temporaryDirectory(t);
  const bad = join(top, 'bad.soif');
  writeFileSync(
    bad,
    Buffer.concat([objectOf(1), Buffer.from('@FILE { http://a/2\nTitle{999999999999}:\tx')]),
  );
  const db = join(top, 'copy.gdbm');
  const result = await cli('template2db', db, bad, join(top, 'missing.soif'));
  t.equal(result.code, 1, result.stderr);
  t.same(readdirSync(top), ['bad.soif']);
});

function cached(url: string): FetchResult {
  const now = Date.now();
  return {
    url,
    status: 200,
    headers: {},
    contentType: 'text/plain',
    lastModified: 5,
    etag: '"e"',
    body: Buffer.from('text'),
    truncated: false,
    local: false,
    beginTime: now,
    endTime: now,
  };
}

/** The directories that fill the disk. */
function fillers(directory: string): string[] {
  return readdirSync(directory)
    .filter((name) => name.startsWith('filler'))
    .map((name) => join(directory, name));
}

/** Takes all names that the disk has room for. */
function takeNames(directory: string): void {
  for (let i = 0; ; i++) {
    try {
      mkdirSync(join(directory, `filler${i}`));
    } catch {
      // There is no room for another one.
      return;
    }
  }
}

t.test('a disk cache that finds no room for a directory names the full disk', async (t) => {
  const disk = await smallDisk(t, 2);
  if (disk === undefined) return;
  disk.remount('nr_inodes=40');
  const directory = join(disk.directory, 'a', 'cache');
  takeNames(disk.directory);
  await t.rejects(DiskCache.open(directory), {
    name: 'StorageError',
    message: /cache: ENOSPC: no space left/,
  });
  for (const filler of fillers(disk.directory)) rmdirSync(filler);

  const cache = await DiskCache.open(directory);
  takeNames(disk.directory);
  // Room for the temporary file, not for the directory of the entry.
  rmdirSync(fillers(disk.directory)[0] ?? '');
  await t.rejects(cache.put(cached('http://a.example/')), {
    name: 'StorageError',
    message: /cache: ENOSPC: no space left/,
  });
  t.same(readdirSync(join(directory, 'tmp')), [], 'no temporary file remains');
  for (const filler of fillers(disk.directory)) rmdirSync(filler);
  t.equal(await cache.put(cached('http://a.example/')), true);
  t.equal((await cache.get('http://a.example/'))?.status, 200);
});
