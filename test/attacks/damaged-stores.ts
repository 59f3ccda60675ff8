// The child process of the tests of damaged files: damages copies of sound stores and reads everything that is
// left. In a process of its own, because a damaged file may end it. Writes a JSON line before and after each
// case.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cp,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CachingFetcher } from '../../clients/fetch/cache/caching-fetcher.js';
import { DiskCache, type Fetcher } from '../../clients/fetch/index.js';
import { parseQuery } from '../../protocols/broker/index.js';
import { messageOf, StorageError } from '../../protocols/errors.js';
import { readRange, type SoifBytes } from '../../protocols/soif/index.js';
import { IndexKeeper } from '../../servers/broker/admin/index-keeper.js';
import { DatabaseFile } from '../../storage/databases/index.js';
import { BrokerStore, GathererStore, Generations } from '../../storage/index.js';
import { openIndexer } from '../../storage/indexers/index.js';
import { ReferencesReader } from '../../storage/references/index.js';
import { changeOf, GATHERER, put, summary } from '../storage/helpers.js';
import { publishFixture } from '../storage/references/fixture.js';

/** A kind of store: how to make one, and how to read all of it. */
interface Kind {
  make(directory: string): Promise<void>;
  /** Everything that a reader gets, as text. */
  read(directory: string): Promise<string>;
}

const OBJECTS = 300;
const BLOCK_BYTES = 4096;
/** No reader of these small stores takes a hundredth of this. */
const HANG_MS = 30_000;
const NOW = 1_000_000_000;

/** Text that does not compress to nothing. */
function words(i: number): string {
  return createHash('sha256').update(String(i)).digest('hex').repeat(4);
}

const gatherer: Kind = {
  async make(directory) {
    for (let round = 0; round < 2; round++) {
      // Opened again, the rows of the log become a table; those of the second round stay in the log.
      await using store = await GathererStore.open(directory);
      await put(
        store,
        ...Array.from({ length: OBJECTS }, (_, i) => summary(`http://${i}.test/${round}`, NOW + i, words(i))),
      );
    }
  },
  async read(directory) {
    await using store = await GathererStore.open(directory);
    const found: string[] = [];
    for await (const page of store.summaries.iterate())
      for (const { url, soif } of page) found.push(url, text(soif));
    found.push(String(store.summaries.count));
    for (let i = 0; i < OBJECTS; i++)
      found.push(text((await store.summaries.get(`http://${i}.test/1`))?.soif));
    return found.join('\n');
  },
};

const generations: Kind = {
  async make(directory) {
    await using store = await GathererStore.open(join(directory, '..', 'working'));
    for (let round = 0; round < 2; round++) {
      await put(
        store,
        ...Array.from({ length: OBJECTS }, (_, i) => summary(`http://${i}.test/${round}`, NOW + i, words(i))),
      );
      await store.publish(directory);
    }
  },
  async read(directory) {
    await using snapshot = await new Generations(directory).open();
    const found: string[] = [String(snapshot.count)];
    for await (const { bytes } of snapshot.exportSince(0)) found.push(text(bytes));
    for await (const page of snapshot.summariesSince(NOW + 5))
      for (const { soif } of page) found.push(text(soif));
    for (let i = 0; i < OBJECTS; i++) found.push(text(await snapshot.get(`http://${i}.test/1`)));
    return found.join('\n');
  },
};

async function fillBroker(directory: string): Promise<void> {
  for (let round = 0; round < 2; round++) {
    await using store = await BrokerStore.open(join(directory, 'store'), { now: () => NOW });
    const attributes = { ...GATHERER, 'Update-Time': String(NOW) };
    const changes = Array.from({ length: OBJECTS }, (_, i) =>
      changeOf('update', `http://${i}.test/${round}`, { ...attributes, Title: `object ${words(i)}` }),
    );
    await store.apply(changes, { key: 'p', last: NOW });
  }
}

async function wholeOf(bytes: SoifBytes): Promise<Uint8Array> {
  return bytes instanceof Uint8Array ? bytes : readRange(bytes, 0, bytes.length);
}

const broker: Kind = {
  make: fillBroker,
  async read(directory) {
    await using store = await BrokerStore.open(join(directory, 'store'), { now: () => NOW });
    const found: string[] = [String(store.count)];
    for await (const page of store.valid(NOW)) for (const bytes of page) found.push(text(bytes));
    for await (const page of store.stored())
      for (const { entry, bytes } of page) found.push(entry.url, text(await wholeOf(bytes)));
    for (let i = 0; i < OBJECTS; i++) found.push(String((await store.byUrl(`http://${i}.test/1`)).length));
    return found.join('\n');
  },
};

const index: Kind = {
  async make(directory) {
    await fillBroker(directory);
    await this.read(directory);
  },
  async read(directory) {
    const storeDirectory = join(directory, 'store');
    await using store = await BrokerStore.open(storeDirectory, { now: () => NOW });
    await using indexer = await openIndexer({ type: 'embedded', brokerDirectory: directory, storeDirectory });
    await IndexKeeper.open(store, indexer);
    const found: string[] = [];
    for (const query of ['object', `"${words(7)}"`, words(8).slice(0, 20)]) {
      const hits = indexer.query(parseQuery(query) as never, {
        ignoreCase: true,
        matchWord: query === 'object',
        errors: 0,
        wantLines: false,
        lifetimeMs: 60_000,
      });
      const oids: number[] = [];
      for await (const { oid } of hits) oids.push(oid);
      found.push(oids.sort((a, b) => a - b).join());
    }
    return found.join('\n');
  },
};

const references: Kind = {
  async make(directory) {
    await publishFixture(directory);
  },
  async read(directory) {
    await using reader = await ReferencesReader.openCurrent(directory);
    const found: string[] = [];
    for (const kind of ['refs', 'hubs', 'siterefs', 'sitehubs'] as const) {
      for (const id of reader.keys(kind))
        found.push(`${kind} ${id}: ${[...(reader.links(kind, id)?.page(0, 100) ?? [])]}`);
    }
    for (const id of [10, 11, 12, 20, 21]) found.push(JSON.stringify(reader.document(id)));
    return found.join('\n');
  },
};

const URLS = Array.from({ length: 6 }, (_, i) => `http://${i}.test/`);

/** The Gatherer's disk cache with a fetcher behind it: what cannot be read is fetched again. */
const cache: Kind = {
  async make(directory) {
    await this.read(directory);
  },
  async read(directory) {
    const found: string[] = [];
    for (let round = 0; round < 2; round++) {
      await using fetcher = new CachingFetcher(SITE, await DiskCache.open(join(directory, 'cache')));
      for (const url of URLS) found.push(text((await fetcher.fetch({ url })).body));
    }
    return found.join('\n');
  },
};

const SITE: Fetcher = {
  async fetch({ url }) {
    const now = Date.now();
    const body = Buffer.from(words(URLS.indexOf(url)));
    const times = { lastModified: 5, beginTime: now, endTime: now };
    return { url, status: 200, headers: {}, etag: '"e"', body, truncated: false, local: false, ...times };
  },
  async close() {},
  async [Symbol.asyncDispose]() {},
};

const database: Kind = {
  async make(directory) {
    await mkdir(directory, { recursive: true });
    using file = DatabaseFile.open(join(directory, 'PRODUCTION.gdbm'), { create: true });
    for (let i = 0; i < OBJECTS; i++) file.put(summary(`http://${i}.test/`, NOW + i, words(i)));
  },
  async read(directory) {
    using file = DatabaseFile.open(join(directory, 'PRODUCTION.gdbm'));
    const found = [String(file.count), ...[...file.urls()].flat()];
    for (const { soif } of file.entries()) found.push(text(soif));
    for (let i = 0; i < OBJECTS; i++) found.push(text(file.get(`http://${i}.test/`)?.soif));
    return found.join('\n');
  },
};

const KINDS = {
  cache,
  database,
  gatherer,
  generations,
  broker,
  index,
  references,
};

function text(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? 'MISSING' : Buffer.from(bytes).toString('latin1');
}

/** Numbers from a seed, so that a failure can be repeated. */
function* random(seed: number): Generator<number, never, undefined> {
  for (let i = 0; ; i++) yield createHash('sha256').update(`${seed} ${i}`).digest().readUInt32BE(0);
}

/** The files whose damage is tried. A clone of a reader and the notes of LevelDB are of no account. */
async function filesOf(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !/^(LOG|LOG\.old|LOCK)$|-(shm|wal)$/.test(entry.name))
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)))
    .filter((name) => !name.startsWith('readers') && !name.startsWith('1/'))
    .sort();
}

async function main(name: keyof typeof KINDS, root: string, flips: number, seed: number): Promise<void> {
  const kind = KINDS[name];
  const sound = join(root, 'sound');
  await mkdir(sound, { recursive: true });
  await kind.make(sound);
  const expected = digest(await kind.read(await copy(sound, root)));
  const files = (await filesOf(sound)).filter((file) => name !== 'index' || file.startsWith('index'));
  const numbers = random(seed);
  // The index changes its files when it is closed, the stores when they are opened: each case gets a fresh
  // copy.
  const cases: { readonly label: string; readonly damage: (directory: string) => Promise<void> }[] = [];
  for (const file of files) {
    cases.push({ label: `remove ${file}`, damage: (d) => rm(join(d, file)) });
    cases.push({ label: `empty ${file}`, damage: (d) => truncate(join(d, file), 0) });
    cases.push({
      label: `halve ${file}`,
      damage: async (d) => truncate(join(d, file), Math.floor((await stat(join(d, file))).size / 2)),
    });
  }
  const replacements: Readonly<Record<string, (path: string) => unknown>> = {
    directory: (path) => mkdir(path),
    FIFO: (path) => execFileSync('mkfifo', [path]),
    'broken link': (path) => symlink(`${path}.gone`, path),
  };
  for (const [i, file] of files.entries()) {
    for (const [what, make] of Object.entries(replacements)) {
      cases.push({
        label: `${what} instead of ${file}`,
        damage: async (d) => {
          await rm(join(d, file));
          await make(join(d, file));
        },
      });
    }
    cases.push({
      label: `zeros in ${file}`,
      damage: async (d) => zeroBlock(join(d, file), numbers.next().value),
    });
    const other = files[(i + 1) % files.length]!;
    if (other !== file)
      cases.push({ label: `swap ${file} ${other}`, damage: (d) => swap(join(d, file), join(d, other)) });
  }
  for (let i = 0; i < flips; i++) {
    const file = files[numbers.next().value % files.length]!;
    const [at, mask] = [numbers.next().value, 1 + (numbers.next().value % 255)];
    cases.push({ label: `flip ${file} ${at} ${mask}`, damage: (d) => flip(join(d, file), at, mask) });
  }
  for (const { label, damage } of cases) {
    const directory = await copy(sound, root);
    await damage(directory);
    const before = await sizes(directory);
    console.log(JSON.stringify({ begin: label }));
    console.log(JSON.stringify({ label, ...(await outcome(kind, directory, expected, before)) }));
    // A thread of the index may still remove its own files; the test's directory goes at the end in any case.
    await rm(directory, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** `right`, or the error; after an error no file may be missing that was there before. */
async function outcome(kind: Kind, directory: string, expected: string, before: ReadonlyMap<string, number>) {
  try {
    const found = digest(await inTime(kind.read(directory)));
    return { outcome: found === expected ? 'right' : 'wrong' };
  } catch (error) {
    const after = await sizes(directory);
    const deleted = [...before]
      .filter(([file, size]) => size > 0 && after.get(file) !== size)
      .map(([file]) => file);
    return { outcome: error instanceof StorageError ? 'error' : 'other', message: messageOf(error), deleted };
  }
}

async function sizes(directory: string): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const file of await filesOf(directory)) found.set(file, (await stat(join(directory, file))).size);
  return found;
}

let copies = 0;
async function copy(sound: string, root: string): Promise<string> {
  const target = join(root, `copy-${copies++}`, 'data');
  // SQLite removes its shared memory some time after the index is closed.
  await cp(sound, target, { recursive: true, filter: (path) => !path.endsWith('-shm') });
  return target;
}

async function flip(file: string, at: number, mask: number): Promise<void> {
  const bytes = await readFile(file);
  if (bytes.length === 0) return;
  bytes[at % bytes.length]! ^= mask;
  await writeFile(file, bytes);
}

/** Zeros one block, as a disk that lost a write. */
async function zeroBlock(file: string, number: number): Promise<void> {
  const bytes = await readFile(file);
  const block = number % Math.max(1, Math.ceil(bytes.length / BLOCK_BYTES));
  bytes.fill(0, block * BLOCK_BYTES, Math.min(bytes.length, (block + 1) * BLOCK_BYTES));
  await writeFile(file, bytes);
}

async function swap(one: string, other: string): Promise<void> {
  await rename(one, `${one}.moved`);
  await rename(other, one);
  await rename(`${one}.moved`, other);
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  const timer = new AbortController();
  try {
    const late = sleep(HANG_MS, undefined, { signal: timer.signal }).then(() => {
      throw new Error('it hangs');
    });
    return await Promise.race([work, late]);
  } finally {
    timer.abort();
  }
}

function digest(found: string): string {
  return createHash('sha256').update(found).digest('hex');
}

const [name = '', root = '', flips = '0', seed = '1'] = process.argv.slice(2);
await main(name as keyof typeof KINDS, root, Number(flips), Number(seed));
