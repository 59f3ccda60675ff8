// The disk cache of the fetcher on a disk without room for another directory: the error names the full disk, and it goes on with space.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { DiskCache, type FetchResult } from '../../clients/fetch/index.js';
import { smallDisk } from '../helpers/small-disk.js';

function page(url: string): FetchResult {
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
  execFileSync('mount', ['-o', 'remount,nr_inodes=40', disk.directory], { stdio: 'ignore' });
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
  await t.rejects(cache.put(page('http://a.example/')), {
    name: 'StorageError',
    message: /cache: ENOSPC: no space left/,
  });
  t.same(readdirSync(join(directory, 'tmp')), [], 'no temporary file remains');
  for (const filler of fillers(disk.directory)) rmdirSync(filler);
  t.equal(await cache.put(page('http://a.example/')), true);
  t.equal((await cache.get('http://a.example/'))?.status, 200);
});
