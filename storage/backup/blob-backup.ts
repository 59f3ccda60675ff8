// Backups in a store of blobs: a copy is made on this machine, and what the backup before it has is not sent again.
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { StorageError } from '../../protocols/errors.js';
import { openBlobs } from '../blobs/place.js';
import { makeDirectory } from '../files/make-directory.js';
import { syncPath } from '../files/sync-path.js';
import { fetchTree } from '../publishing/fetch-tree.js';
import { publishFiles } from '../publishing/publish-files.js';
import { type BackupOptions, type BackupReport, backUp, namesIn } from './backup.js';

export interface BlobBackupOptions extends BackupOptions {
  /** The directory of the copy, which is removed when it is sent. Default: that of the system for temporary files. */
  readonly scratch?: string | undefined;
  /** Called with the copy before it is sent. */
  readonly onCopy?: (directory: string) => Promise<void>;
  /** Backups that remain, the new one included. Default: all. */
  readonly keep?: number | undefined;
}

export interface BlobRestoreOptions extends BackupOptions {
  /** Default: the newest. */
  readonly number?: number | undefined;
}

/** What was copied and sent. */
export interface BlobBackupReport extends BackupReport {
  /** The number of the backup at its place. */
  readonly number: number;
  readonly sentFiles: number;
  readonly sentBytes: number;
}

const AREA = 'backups';

/**
 * Copies a data directory into a bucket, while its servers run.
 *
 * @param place `s3://BUCKET/PREFIX`
 * @throws StorageError if something cannot be copied or sent; the backups before stay
 */
export async function backUpToBlobs(
  source: string,
  place: string,
  { scratch = tmpdir(), keep, onCopy, ...options }: BlobBackupOptions = {},
): Promise<BlobBackupReport> {
  await using store = await openBlobs(place);
  const staging = await mkdtemp(join(scratch, 'harvest-backup-'));
  try {
    const copy = join(staging, 'copy');
    const report = await backUp(source, copy, options);
    await onCopy?.(copy);
    options.onPath?.(store.address);
    const sent = await publishFiles({ store, area: AREA }, copy, {
      tree: true,
      signal: options.signal,
      keepGenerations: keep ?? Number.POSITIVE_INFINITY,
      holdSeconds: 0,
    });
    return { ...report, number: sent.number, sentFiles: sent.sentFiles, sentBytes: sent.sentBytes };
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/**
 * Puts a backup of a bucket in the place of a data directory, which must not exist or be empty.
 *
 * @throws StorageError as {@link backUpToBlobs}; the directory is as it was then
 */
export async function restoreFromBlobs(
  place: string,
  directory: string,
  { signal, onPath, number }: BlobRestoreOptions = {},
): Promise<BackupReport & { readonly number: number }> {
  const to = resolve(directory);
  const names = await namesIn(to);
  if (names !== undefined && names.length > 0)
    throw new StorageError(`${directory} is not empty: move it away first`);
  await using store = await openBlobs(place);
  await makeDirectory(dirname(to));
  const part = join(dirname(to), `.${basename(to)}.part`);
  await rm(part, { recursive: true, force: true });
  try {
    const found = await fetchTree({ store, area: AREA }, part, {
      signal,
      number,
      ...(onPath === undefined ? {} : { onFile: onPath }),
    });
    if (names !== undefined) await rm(to, { recursive: true });
    await rename(part, to);
    await syncPath(dirname(to));
    const bytes = found.files.reduce((sum, { size }) => sum + size, 0);
    return { number: found.number, databases: 0, files: found.files.length, bytes };
  } catch (error) {
    await rm(part, { recursive: true, force: true });
    throw error;
  }
}
