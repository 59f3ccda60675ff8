// Tests the disk cache of the fetcher: expiry, damage, eviction, and use by several processes.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { cacheSettings, createFetcher, DiskCache, type FetchResult } from '../../../clients/fetch/index.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { countingSite, textOf } from './scripted.js';

const MEGABYTE = 1024 * 1024;

function page(url: string, body: string | Uint8Array, more: Partial<FetchResult> = {}): FetchResult {
  const now = Date.now();
  return {
    url,
    status: 200,
    headers: { 'x-a': 'ü' },
    contentType: 'text/plain',
    lastModified: 5,
    etag: '"e"',
    body: Buffer.from(body),
    truncated: false,
    local: false,
    beginTime: now,
    endTime: now,
    ...more,
  };
}

function entryFiles(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => /^[0-9a-f]{2}\/[0-9a-f]{64}$/.test(name))
    .map((name) => join(directory, name));
}

t.test('G-93, G-94: the environment sets the time to live and the size', (t) => {
  t.strictSame(cacheSettings({}), { ttl: 604_800, maxBytes: 33_554_432 });
  t.strictSame(cacheSettings({ GATHERER_CACHE_TTL: '86400', HARVEST_MAX_LOCAL_CACHE: '10' }), {
    ttl: 86_400,
    maxBytes: 10_485_760,
  });
  t.match(
    cacheSettings({ GATHERER_CACHE_TTL: '999999999' }),
    { ttl: 604_800 },
    'it only shortens the time to live',
  );
  t.match(cacheSettings({ HARVEST_MAX_LOCAL_CACHE: '65535' }), { maxBytes: 65_535 * MEGABYTE });
  t.match(cacheSettings({ HARVEST_MAX_LOCAL_CACHE: '10485760' }), { maxBytes: 10_485_760 });
  t.throws(() => cacheSettings({ GATHERER_CACHE_TTL: 'a day' }), { code: 'ERR_USAGE' });
  t.end();
});

t.test('G-96, G-98: entries are returned until they expire', async (t) => {
  const directory = await temporaryDirectory(t);
  const cache = await DiskCache.open(directory);
  const url = 'http://h.example/a';
  t.equal(await cache.get(url), undefined);
  t.ok(await cache.put(page(url, 'héllo', { entries: ['a/', 'b'], links: ['news:x'] })));
  t.match(await cache.get(url), {
    url,
    status: 200,
    headers: { 'x-a': 'ü' },
    contentType: 'text/plain',
    lastModified: 5,
    etag: '"e"',
    body: Buffer.from('héllo'),
    entries: ['a/', 'b'],
    links: ['news:x'],
    cached: true,
    truncated: false,
  });
  for (const excluded of [{ status: 404 }, { status: 301 }, { truncated: true }, { local: true }]) {
    t.notOk(await cache.put(page('http://h.example/b', 'x', excluded)), JSON.stringify(excluded));
  }
  const weekAgo = Date.now() - 604_801_000;
  await cache.put(page('http://h.example/old', 'x', { endTime: weekAgo }));
  t.equal(await cache.get('http://h.example/old'), undefined);
  t.equal(await cache.expire(), 1);
  t.match(await cache.size(), { entries: 1 });
  t.equal(statSync(entryFiles(directory)[0]!).mode & 0o077, 0, 'no other user can read it');
});

t.test('G-90: a damaged entry is ignored and removed', async (t) => {
  const directory = await temporaryDirectory(t);
  const cache = await DiskCache.open(directory);
  const url = 'http://h.example/a';
  const damages: ((file: Buffer) => Buffer)[] = [
    (file) => file.subarray(0, file.length - 1),
    (file) => file.subarray(0, 10),
    () => Buffer.alloc(0),
    (file) => Buffer.from(file.toString('latin1').replace('hello', 'hellO'), 'latin1'),
    (file) => Buffer.from(file.toString('latin1').replace('h.example/a', 'h.example/b'), 'latin1'),
    (file) => Buffer.from(file.toString('latin1').replace('CHE 1 ', 'CHE 1 9'), 'latin1'),
  ];
  for (const [i, damage] of damages.entries()) {
    await cache.put(page(url, 'hello'));
    const [file] = entryFiles(directory);
    writeFileSync(file!, damage(readFileSync(file!)));
    t.equal(await cache.get(url), undefined, `damage ${i}`);
    t.strictSame(entryFiles(directory), [], 'the damaged file is removed');
  }
});

t.test('G-94: the least recently used entries are evicted; purge removes abandoned files', async (t) => {
  const directory = await temporaryDirectory(t);
  const cache = await DiskCache.open(directory, { maxBytes: 320_000 });
  const url = (n: number) => `http://h.example/${n}`;
  for (let n = 0; n < 10; n++) {
    await cache.put(page(url(n), Buffer.alloc(20_000, n)));
    // The clock may give two puts the same time.
    for (const file of entryFiles(directory)) {
      const { atimeMs, mtimeMs } = statSync(file);
      if (Date.now() - atimeMs < 60_000)
        utimesSync(file, (Date.now() - 3_600_000 + n * 1000) / 1000, mtimeMs / 1000);
    }
  }
  t.ok(await cache.get(url(0)), 'the first entry is used');
  const abandoned = join(directory, 'tmp', `1-${'0'.repeat(16)}`);
  writeFileSync(abandoned, 'x');
  for (let n = 10; n < 40; n++) {
    await cache.put(page(url(n), Buffer.alloc(20_000, n)));
    t.ok((await cache.size()).bytes <= 320_000);
    t.ok(await cache.get(url(0)), 'a used entry is kept');
  }
  t.notOk(await cache.get(url(1)), 'the least recently used entry is evicted');
  t.notOk(
    await cache.put(page(url(99), Buffer.alloc(200_000))),
    'a document that would evict most others is not stored',
  );
  t.ok(existsSync(abandoned), 'an abandoned file is kept for an hour');
  writeFileSync(join(directory, 'mine.txt'), 'x');
  mkdirSync(join(directory, 'ab'), { recursive: true });
  writeFileSync(join(directory, 'ab', 'mine too'), 'x');
  t.ok((await cache.purge()) > 5);
  t.strictSame(await cache.size(), { entries: 0, bytes: 0 });
  t.notOk(existsSync(abandoned));
  t.ok(existsSync(join(directory, 'mine.txt')) && existsSync(join(directory, 'ab', 'mine too')));
});

const WRITER = `
import { DiskCache } from ${JSON.stringify(new URL('../../../clients/fetch/cache/disk-cache.js', import.meta.url).href)};
const cache = await DiskCache.open(process.argv[1], { maxBytes: 2_000_000 });
const seed = Number(process.argv[2]);
let wrong = 0;
for (let n = 0; n < Number(process.argv[3]); n++) {
  const k = (n * 7 + seed) % 40;
  const url = 'http://h.example/' + k;
  const body = Buffer.alloc(10_000 + k * 1000, k);
  const found = await cache.get(url);
  if (found !== undefined && !body.equals(found.body)) wrong++;
  const now = Date.now();
  await cache.put({ url, status: 200, headers: {}, lastModified: 0, etag: '', body, truncated: false, local: false, beginTime: now, endTime: now });
}
console.log('wrong ' + wrong);
`;

function startWriter(directory: string, seed: number, rounds: number): ChildProcess {
  const args = ['--input-type=module', '-e', WRITER, directory, String(seed), String(rounds)];
  return spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH },
  });
}

t.test('G-95: ten processes share a cache; kill -9 leaves it intact', async (t) => {
  const directory = await temporaryDirectory(t);
  await DiskCache.open(directory);
  const children = Array.from({ length: 10 }, (_, seed) => startWriter(directory, seed, 30));
  const outputs = await Promise.all(
    children.map(async (child) => {
      let text = '';
      child.stdout?.setEncoding('utf8').on('data', (piece) => {
        text += String(piece);
      });
      const [code] = await once(child, 'close');
      return `${code} ${text}`;
    }),
  );
  t.strictSame(new Set(outputs), new Set(['0 wrong 0\n']));
  const cache = await DiskCache.open(directory, { maxBytes: 2_000_000 });
  t.ok((await cache.size()).bytes < 2_000_000 * 1.35, 'the cache stays near its limit');

  const killed = startWriter(directory, 3, 1_000_000);
  const inodesBefore = new Set(entryFiles(directory).map((file) => statSync(file).ino));
  // Wait for its first write.
  while (
    entryFiles(directory).every((file) =>
      inodesBefore.has(statSync(file, { throwIfNoEntry: false })?.ino ?? 0),
    )
  ) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  killed.kill('SIGKILL');
  await once(killed, 'close');
  for (let k = 0; k < 40; k++) {
    const found = await cache.get(`http://h.example/${k}`);
    if (found !== undefined) t.ok(Buffer.alloc(10_000 + k * 1000, k).equals(found.body));
  }
  t.ok(await cache.put(page('http://h.example/after', 'x')));
});

t.test(
  'G-95: a cache in the directory of another user is refused',
  { skip: process.getuid?.() === 0 ? 'root may use any directory' : false },
  async (t) => {
    await t.rejects(DiskCache.open('/usr'), { code: 'ERR_STORAGE' });
  },
);

t.test('G-91, G-98: a fetcher with a cache requests a page once, and again for reload', async (t) => {
  const cache = await DiskCache.open(await temporaryDirectory(t));
  const { base, requests } = await countingSite(t);
  await using fetcher = createFetcher({ userAgent: 'x', cache });
  t.equal(textOf((await fetcher.fetch({ url: `${base}/` })).body), 'page 1');
  const second = await fetcher.fetch({ url: `${base}/` });
  t.match(second, { cached: true, etag: '"1"' });
  t.equal(textOf(second.body), 'page 1');
  t.match(await fetcher.fetch({ url: `${base}/`, headers: { etag: '"1"' } }), { status: 304 });
  t.match(await fetcher.fetch({ url: `${base}/`, maxBytes: 2 }), {
    truncated: true,
    body: Buffer.from('pa'),
  });
  t.equal(requests(), 1);
  t.equal(textOf((await fetcher.fetch({ url: `${base}/`, reload: true })).body), 'page 2');
  t.equal(textOf((await fetcher.fetch({ url: `${base}/` })).body), 'page 2');
  await fetcher.fetch({ url: `${base}/none` });
  await fetcher.fetch({ url: `${base}/none` });
  t.equal(requests(), 4, 'only successful answers are stored');
  await fetcher.fetch({ url: `${base}/`, extraHeaders: { cookie: 'a=1' } });
  await fetcher.fetch({ url: `${base}/`, extraHeaders: { cookie: 'a=2' } });
  t.equal(requests(), 6, 'a response to a request with cookies may be for one client only');
  t.equal(textOf((await fetcher.fetch({ url: `${base}/` })).body), 'page 2', 'and is not kept');
  const named = base.replace('://', '://joe:secret@');
  await fetcher.fetch({ url: `${base}/`, login: 'joe:secret' });
  await fetcher.fetch({ url: `${named}/` });
  t.equal(requests(), 8, 'neither is an answer to a login');
  const german = { url: `${base}/`, extraHeaders: { 'accept-language': 'de' } };
  t.equal(textOf((await fetcher.fetch(german)).body), 'page 9', 'other headers may have another answer');
  t.match(await fetcher.fetch(german), { cached: true, url: `${base}/`, body: Buffer.from('page 9') });
  t.equal(textOf((await fetcher.fetch({ url: `${base}/` })).body), 'page 2');
  t.equal(
    entryFiles(cache.directory).filter((file) => /secret/.test(readFileSync(file, 'latin1'))).length,
    0,
  );
  await t.rejects(fetcher.fetch({ url: `${base}/`, publicOnly: true }), {
    code: 'ERR_REFUSED',
    message: /G-174/,
  });
  const thisFile = fileURLToPath(import.meta.url);
  t.match(await fetcher.fetch({ url: `file://${thisFile}` }), { local: true, status: 200 });
  t.match(await cache.size(), { entries: 2 }, 'local files are not stored');
});
