// A store of blobs in a directory, such as one on a network disk: a file for each blob.
import { randomBytes } from 'node:crypto';
import { link, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { errorCode, messageOf, StorageError } from '../../protocols/errors.js';
import { makeDirectory } from '../files/make-directory.js';
import { readFully } from '../files/read-fully.js';
import { openRegular } from '../files/regular-file.js';
import { syncPath } from '../files/sync-path.js';
import { writeFully } from '../files/write-fully.js';
import {
  type BlobInfo,
  type BlobListOptions,
  type BlobReadOptions,
  type BlobRequestOptions,
  type BlobSource,
  type BlobStore,
  isKey,
  missingBlob,
  requireKey,
} from './contract.js';
import { bytesSource } from './sources.js';

const PIECE_BYTES = 256 * 1024;
const PAGE_BLOBS = 1000;
/** Blobs that are being written: a tilde is in no key. */
const DRAFTS = '~drafts';

/** Blobs as files below a directory, which is made by the first write. */
export class DirectoryBlobs implements BlobStore {
  readonly address: string;
  readonly #root: string;

  constructor(directory: string) {
    this.#root = resolve(directory);
    this.address = this.#root;
  }

  async put(key: string, source: BlobSource, options: BlobRequestOptions = {}): Promise<void> {
    await this.#write(key, source, options, (draft, path) => rename(draft, path));
  }

  async putIfAbsent(key: string, content: Uint8Array, options: BlobRequestOptions = {}): Promise<boolean> {
    let isTaken = false;
    await this.#write(key, bytesSource(content), options, async (draft, path) => {
      try {
        await link(draft, path);
      } catch (error) {
        if (errorCode(error) !== 'EEXIST') throw error;
        isTaken = true;
      }
      await rm(draft);
    });
    return !isTaken;
  }

  async *read(key: string, options: BlobReadOptions = {}): AsyncGenerator<Uint8Array, void, undefined> {
    const path = join(this.#root, requireKey(key));
    options.signal?.throwIfAborted();
    await using file = await openRegular(path).catch((error: unknown) => {
      throw errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR'
        ? missingBlob(this.address, key)
        : error;
    });
    const { size } = await file.stat();
    const end = Math.min(options.end ?? size, size);
    for (let at = options.start ?? 0; at < end; ) {
      options.signal?.throwIfAborted();
      const piece = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, end - at));
      const length = await readFully(file, piece, at);
      if (length < piece.length) throw new StorageError(`${path} ends early`);
      yield piece;
      at += length;
    }
  }

  async head(key: string, options: BlobRequestOptions = {}): Promise<BlobInfo | undefined> {
    options.signal?.throwIfAborted();
    return await this.#info(requireKey(key));
  }

  async *list(
    prefix: string,
    options: BlobListOptions = {},
  ): AsyncGenerator<readonly BlobInfo[], void, undefined> {
    // Only what is below the directories of the prefix is read.
    const parent = prefix.slice(0, Math.max(0, prefix.lastIndexOf('/')));
    const keys = await this.#keysBelow(isKey(parent) ? parent : '');
    const selected = keys.filter(
      (key) => key.startsWith(prefix) && (options.after === undefined || key > options.after),
    );
    selected.sort();
    for (let at = 0; at < selected.length; at += PAGE_BLOBS) {
      options.signal?.throwIfAborted();
      const page: BlobInfo[] = [];
      for (const key of selected.slice(at, at + PAGE_BLOBS)) {
        const info = await this.#info(key);
        if (info !== undefined) page.push(info);
      }
      yield page;
    }
  }

  async delete(key: string, options: BlobRequestOptions = {}): Promise<void> {
    options.signal?.throwIfAborted();
    await rm(join(this.#root, requireKey(key)), { force: true });
  }

  async close(): Promise<void> {
    // Files are open only during a call.
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #info(key: string): Promise<BlobInfo | undefined> {
    const found = await stat(join(this.#root, key)).catch(() => undefined);
    if (found?.isFile() !== true) return undefined;
    return { key, size: found.size, ageSeconds: Math.max(0, (Date.now() - found.mtimeMs) / 1000) };
  }

  async #keysBelow(directory: string): Promise<string[]> {
    const entries = await readdir(join(this.#root, directory), { withFileTypes: true }).catch(
      (error: unknown) => {
        if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return [];
        throw new StorageError(`${this.address} cannot be read: ${messageOf(error)}`, { cause: error });
      },
    );
    const keys: string[] = [];
    for (const entry of entries) {
      const key = directory === '' ? entry.name : `${directory}/${entry.name}`;
      if (!isKey(key)) continue;
      if (entry.isDirectory()) for (const below of await this.#keysBelow(key)) keys.push(below);
      else if (entry.isFile()) keys.push(key);
    }
    return keys;
  }

  /** Writes a draft, flushes it and gives it its name. */
  async #write(
    key: string,
    source: BlobSource,
    { signal }: BlobRequestOptions,
    place: (draft: string, path: string) => Promise<void>,
  ): Promise<void> {
    const path = join(this.#root, requireKey(key));
    const drafts = join(this.#root, DRAFTS);
    const draft = join(drafts, randomBytes(12).toString('hex'));
    try {
      await makeDirectory(drafts);
      await makeDirectory(dirname(path));
      let size = 0;
      {
        await using file = await open(draft, 'wx');
        for await (const piece of source.open(0, source.size)) {
          signal?.throwIfAborted();
          await writeFully(file, piece);
          size += piece.length;
        }
        await file.sync();
      }
      if (size !== source.size)
        throw new StorageError(`${key} has ${size} bytes instead of ${source.size}: it changed meanwhile`);
      signal?.throwIfAborted();
      await place(draft, path);
      await syncPath(dirname(path));
    } catch (error) {
      await rm(draft, { force: true }).catch(() => undefined);
      if (error instanceof StorageError || signal?.aborted === true) throw error;
      throw new StorageError(`${path} cannot be written: ${messageOf(error)}`, { cause: error });
    }
  }
}
