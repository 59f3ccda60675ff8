import { createHash } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { messageOf, StorageError } from '../../protocols/errors.js';
import { writeFully } from '../files/write-fully.js';
import type { PublicationPlace, PublishedFile } from './manifest.js';

/**
 * Fetches a published file to a new path, flushed. It is compared with its digest on the way.
 *
 * @throws StorageError if the store fails, the file is damaged there, or the disk is full; nothing is left then
 */
export async function fetchFile(
  { store }: Pick<PublicationPlace, 'store'>,
  { key, size, sha256 }: Omit<PublishedFile, 'name'>,
  path: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const hash = createHash('sha256');
  let fetched = 0;
  try {
    await using file = await open(path, 'wx', 0o600);
    for await (const piece of store.read(key, { signal })) {
      hash.update(piece);
      fetched += piece.length;
      if (fetched > size) break;
      await writeFully(file, piece);
    }
    if (fetched !== size || hash.digest('hex') !== sha256)
      throw new StorageError(`${store.address}/${key} is damaged: it does not match its digest`);
    await file.sync();
  } catch (error) {
    await rm(path, { force: true }).catch(() => undefined);
    if (error instanceof StorageError || signal?.aborted === true) throw error;
    throw new StorageError(`${path} cannot be written: ${messageOf(error)}`, { cause: error });
  }
}
