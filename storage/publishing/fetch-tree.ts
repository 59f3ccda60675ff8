// Brings back a directory that was published as a tree, such as a backup.
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { StorageError } from '../../protocols/errors.js';
import { syncPath } from '../files/sync-path.js';
import { fetchFile } from './fetch-file.js';
import { newestManifest, type PublicationManifest, type PublicationPlace, readManifest } from './manifest.js';
import { inParallel } from './publish-files.js';

export interface FetchTreeOptions {
  readonly signal?: AbortSignal | undefined;
  /** Of the generation. Default: the newest. */
  readonly number?: number | undefined;
  /** Called before each file, with its path. */
  readonly onFile?: (path: string) => void;
}

/**
 * Fetches the files of a tree into a new directory, flushed, each compared with its digest.
 *
 * @param target does not exist
 * @throws StorageError if there is no such tree, the store fails, or a file is damaged: what is in the target is unfinished
 */
export async function fetchTree(
  place: PublicationPlace,
  target: string,
  { signal, number, onFile }: FetchTreeOptions = {},
): Promise<PublicationManifest> {
  const { store, area } = place;
  const manifest =
    number === undefined
      ? await newestManifest(place, 0, { signal })
      : await readManifest(place, number, { signal });
  if (manifest === undefined) {
    const which = number === undefined ? '' : ` with the number ${number}`;
    throw new StorageError(`${store.address}/${area}: there is nothing${which}`);
  }
  await mkdir(target, { mode: 0o700 });
  const directories = manifest.directories ?? [];
  for (const { name } of directories) await mkdir(join(target, name), { mode: 0o700 });
  await inParallel(manifest.files, async (file) => {
    const path = join(target, file.name);
    onFile?.(path);
    await fetchFile(place, file, path, signal);
    if (file.mode !== undefined) await chmod(path, file.mode);
  });
  // The innermost first: a directory may be made unwritable.
  for (const { name, mode } of [...directories].reverse()) {
    await syncPath(join(target, name));
    await chmod(join(target, name), mode);
  }
  await syncPath(target);
  return manifest;
}
