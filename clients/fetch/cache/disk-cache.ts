// The Gatherer's disk cache (G-91 to G-98).
import { createHash, randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { lstat, mkdir, open, readdir, rename, stat, unlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { errorCode, messageOf, StorageError } from '../../../protocols/errors.js';
import { Mutex } from '../../../protocols/mutex.js';
import { MAX_AHEAD } from '../../../protocols/time.js';
import type { FetchResult } from '../types.js';
import { decodeEntry, encodeEntry, isCacheable } from './entry.js';
import { CACHE_BYTES, CACHE_TTL, type CacheSettings } from './settings.js';

/** A temporary file of this age belongs to a process that was killed. */
const ABANDONED_MS = 3_600_000;
/** The share of the limit that one process adds before it measures the whole cache again. */
const SWEEP_SHARE = 1 / 32;
/** The share of the limit that a sweep leaves: room for four processes until their next sweeps. */
const KEPT_SHARE = 7 / 8;
/** The share of the limit that one entry may take, so that one huge document does not evict all others. */
const MAX_ENTRY_SHARE = 1 / 2;

interface StoredFile {
  readonly path: string;
  readonly bytes: number;
  readonly fetchedMs: number;
  readonly usedMs: number;
}

/**
 * The Gatherer's disk cache (G-91 to G-98): recent retrievals, so that the run after an aborted one need not
 * repeat them.
 *
 * An entry is a file at `XX/SHA256-OF-THE-URL`. A writer writes a temporary file and renames it, so readers and
 * writers in any number of processes need no lock. A process that is killed leaves only its temporary file,
 * which a later sweep removes. The mtime of a file is the time of the retrieval, its atime the time of its last
 * use.
 */
export class DiskCache {
  readonly directory: string;
  readonly #settings: CacheSettings;
  #added = Number.POSITIVE_INFINITY;
  readonly #sweeping = new Mutex();

  private constructor(directory: string, settings: CacheSettings) {
    this.directory = directory;
    this.#settings = settings;
  }

  /**
   * Opens or creates the cache in its own directory.
   * @throws StorageError if the directory cannot be used or belongs to another user
   */
  static async open(directory: string, settings: Partial<CacheSettings> = {}): Promise<DiskCache> {
    try {
      await makePrivateDirectory(join(directory, 'tmp'));
      const stats = await lstat(directory);
      const user = process.getuid?.();
      if (!stats.isDirectory() || (user !== undefined && stats.uid !== user && user !== 0)) {
        // Below /tmp another user may have created it first.
        throw new StorageError(`${directory}: not a directory of this user`);
      }
    } catch (error) {
      throw error instanceof StorageError ? error : new StorageError(`${directory}: ${messageOf(error)}`);
    }
    return new DiskCache(directory, { maxBytes: CACHE_BYTES, ttl: CACHE_TTL, ...settings });
  }

  /** The document; undefined if it is absent, too old or damaged. */
  async get(url: string): Promise<FetchResult | undefined> {
    const path = this.#pathOf(url);
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
      ignoreMissing,
    );
    if (handle === undefined) return undefined;
    try {
      const { mtimeMs } = await handle.stat();
      if (this.#isExpired(mtimeMs)) return undefined;
      const entry = decodeEntry(await handle.readFile(), url);
      if (entry === undefined) {
        await unlink(path).catch(ignoreMissing);
        return undefined;
      }
      await handle.utimes(Date.now() / 1000, entry.fetched);
      return entry.result;
    } finally {
      await handle.close();
    }
  }

  /**
   * Stores a result if it is cacheable (G-98) and fits.
   * @returns whether it was stored
   * @throws StorageError if it cannot be written
   */
  async put(result: FetchResult): Promise<boolean> {
    if (!isCacheable(result)) return false;
    const pieces = encodeEntry(result);
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
    if (bytes > this.#settings.maxBytes * MAX_ENTRY_SHARE) return false;
    try {
      await this.#makeRoom(bytes);
      await this.#write(this.#pathOf(result.url), pieces, Math.floor(result.endTime / 1000));
    } catch (error) {
      throw new StorageError(`${this.directory}: ${messageOf(error)}`, { cause: error });
    }
    this.#added += bytes;
    return true;
  }

  /** Removes entries that are too old (G-93); returns their number. */
  async expire(): Promise<number> {
    let removed = 0;
    for (const file of await this.#files()) {
      if (this.#isExpired(file.fetchedMs) && (await removeFile(file.path))) removed += 1;
    }
    return removed;
  }

  /** Removes all files of the cache (G-89, G-92) and no others; returns the number of entries. */
  async purge(): Promise<number> {
    let removed = 0;
    for (const { path } of await this.#files()) if (await removeFile(path)) removed += 1;
    await this.#removeTemporaries(0);
    return removed;
  }

  /** The number of entries and their bytes. */
  async size(): Promise<{ entries: number; bytes: number }> {
    const files = await this.#files();
    return { entries: files.length, bytes: files.reduce((sum, file) => sum + file.bytes, 0) };
  }

  #pathOf(url: string): string {
    const name = createHash('sha256').update(url).digest('hex');
    return join(this.directory, name.slice(0, 2), name);
  }

  #isExpired(fetchedMs: number): boolean {
    const now = Date.now();
    // A time far ahead is that of a wrong clock.
    return fetchedMs + this.#settings.ttl * 1000 <= now || fetchedMs > now + MAX_AHEAD * 1000;
  }

  async #write(path: string, pieces: readonly Uint8Array[], fetched: number): Promise<void> {
    const name = `${process.pid}-${randomBytes(8).toString('hex')}`;
    const temporary = join(this.directory, 'tmp', name);
    const handle = await open(temporary, 'wx', 0o600);
    try {
      try {
        for (const piece of pieces) await handle.writeFile(piece);
        await handle.utimes(Date.now() / 1000, fetched);
      } finally {
        await handle.close();
      }
      await rename(temporary, path).catch(async (error: unknown) => {
        if (errorCode(error) !== 'ENOENT') throw error;
        await makePrivateDirectory(dirname(path));
        await rename(temporary, path);
      });
    } catch (error) {
      await unlink(temporary).catch(ignoreMissing);
      throw error;
    }
  }

  async #makeRoom(bytes: number): Promise<void> {
    const isEnough = () => this.#added + bytes <= this.#settings.maxBytes * SWEEP_SHARE;
    if (isEnough()) return;
    await this.#sweeping.runExclusive(async () => {
      // The sweep that this call waited for may have made room.
      if (!isEnough()) await this.#sweep(bytes);
    });
  }

  /** Removes expired entries, then the least recently used ones, until `bytes` more fit. */
  async #sweep(bytes: number): Promise<void> {
    await this.#removeTemporaries(ABANDONED_MS);
    const { maxBytes } = this.#settings;
    const files = await this.#files();
    let total = files.reduce((sum, file) => sum + file.bytes, 0);
    const targetBytes = Math.min(maxBytes * KEPT_SHARE, maxBytes - bytes);
    // An expired entry counts as never used.
    const age = (file: StoredFile) => (this.#isExpired(file.fetchedMs) ? 0 : file.usedMs);
    for (const file of files.sort((a, b) => age(a) - age(b))) {
      if (age(file) > 0 && total <= targetBytes) break;
      await removeFile(file.path);
      total -= file.bytes;
    }
    this.#added = 0;
  }

  async #files(): Promise<StoredFile[]> {
    const files: StoredFile[] = [];
    for (const part of await readdir(this.directory)) {
      if (!/^[0-9a-f]{2}$/.test(part)) continue;
      const names = (await readdir(join(this.directory, part)).catch(ignoreMissing)) ?? [];
      for (const name of names) {
        if (!/^[0-9a-f]{64}$/.test(name)) continue;
        const path = join(this.directory, part, name);
        const stats: Stats | undefined = await stat(path).catch(ignoreMissing);
        if (stats === undefined) continue;
        files.push({ path, bytes: stats.size, fetchedMs: stats.mtimeMs, usedMs: stats.atimeMs });
      }
    }
    return files;
  }

  async #removeTemporaries(olderThanMs: number): Promise<void> {
    const directory = join(this.directory, 'tmp');
    for (const name of await readdir(directory)) {
      if (!/^\d+-[0-9a-f]{16}$/.test(name)) continue;
      const path = join(directory, name);
      const stats = await stat(path).catch(ignoreMissing);
      // ctime: the mtime is set to the time of retrieval.
      if (stats !== undefined && stats.ctimeMs + olderThanMs <= Date.now()) await removeFile(path);
    }
  }
}

/** Removes a file. @returns false if another process removed it first */
async function removeFile(path: string): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    ignoreMissing(error);
    return false;
  }
}

/** Ignores that a file or directory is missing: other processes remove them at any time. */
function ignoreMissing(error: unknown): undefined {
  if (errorCode(error) !== 'ENOENT') throw error;
  return undefined;
}

/**
 * Creates a directory and those above it, as far as they are missing, with mode 0700. Other processes may
 * create and remove them meanwhile. Node's own recursive creation reports a full disk as ENOENT.
 *
 * @throws the error of the system with its own code: ENOSPC, EROFS, EACCES
 */
export async function makePrivateDirectory(path: string): Promise<void> {
  const directory = resolve(path);
  try {
    await mkdir(directory, { mode: 0o700 });
  } catch (error) {
    if (await isDirectory(directory, error)) return;
    if (errorCode(error) !== 'ENOENT') throw error;
    await makePrivateDirectory(dirname(directory));
    await mkdir(directory, { mode: 0o700 }).catch(async (again: unknown) => {
      if (!(await isDirectory(directory, again))) throw again;
    });
  }
}

async function isDirectory(path: string, error: unknown): Promise<boolean> {
  return errorCode(error) === 'EEXIST' && (await stat(path)).isDirectory();
}
