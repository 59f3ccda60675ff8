// Builds files beside their places in a directory, and moves them there when all of them are complete.
import { copyFile, mkdir, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { errorCode, StorageError } from '../../protocols/errors.js';
import { ifPresent } from './exists.js';
import { makeDirectory } from './make-directory.js';
import { isAlive } from './replace-file.js';
import { syncPath } from './sync-path.js';

const PREFIX = '.new-';

/** Options of {@link withStagedFiles}. */
export interface StagedOptions {
  /** The name of the file that is moved after all others of its directory, because it refers to them. */
  readonly last?: string;
}

/** Files that are complete and wait to be moved. */
export interface StagedFiles {
  /** The directory in which the files are built; its tree is that of the target. */
  readonly path: string;
  /**
   * Moves `name`, a file or a tree, to its place. A file replaces the one that is there; a directory is merged.
   */
  place(name: string): Promise<void>;
}

/**
 * Builds files in a directory inside `target`, so on its file system. After an error nothing is in `target`
 * that was not there before, except new contents of files that had been replaced already. A killed process
 * leaves the hidden directory, which the next call removes.
 *
 * @param build writes the files and flushes them, then moves them by {@link StagedFiles.place}
 * @throws StorageError if the directory cannot be written, e.g. if the disk is full
 */
export async function withStagedFiles<T>(
  target: string,
  build: (staged: StagedFiles) => Promise<T>,
  options: StagedOptions = {},
): Promise<T> {
  const directory = resolve(target);
  const staging = join(directory, `${PREFIX}${process.pid}`);
  const placed: string[] = [];
  let missing: readonly string[] = [];
  try {
    missing = await missingDirectories(directory);
    await makeDirectory(directory);
    await removeLeftovers(directory);
    await mkdir(staging);
    const place = (name: string): Promise<void> =>
      placeTree(join(staging, name), join(directory, name), { placed, ...options });
    const result = await build({ path: staging, place });
    await rm(staging, { recursive: true });
    return result;
  } catch (cause) {
    await rm(staging, { recursive: true, force: true });
    for (const path of placed) await rm(path, { recursive: true, force: true });
    for (const path of missing) await removeEmpty(path);
    if (errorCode(cause)?.startsWith('E') !== true || cause instanceof StorageError) throw cause;
    throw new StorageError(`${directory} cannot be written: ${errorCode(cause)}`, { cause });
  }
}

/** The directories of a path that do not exist, the deepest first. */
async function missingDirectories(path: string): Promise<string[]> {
  const missing: string[] = [];
  for (
    let directory = path;
    (await ifPresent(stat(directory))) === undefined;
    directory = dirname(directory)
  ) {
    missing.push(directory);
    if (dirname(directory) === directory) break;
  }
  return missing;
}

async function removeLeftovers(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const pid = /^\.new-(\d+)$/.exec(name)?.[1];
    if (pid === undefined || (Number(pid) !== process.pid && isAlive(Number(pid)))) continue;
    await rm(join(directory, name), { recursive: true, force: true });
  }
}

interface Placing extends StagedOptions {
  /** Receives the paths that did not exist before. */
  readonly placed: string[];
}

/** Moves a file or a tree. */
async function placeTree(from: string, to: string, placing: Placing): Promise<void> {
  const known = await ifPresent(stat(to));
  if (known === undefined || !known.isDirectory()) {
    if (known === undefined) placing.placed.push(to);
    if (await tryRename(from, to)) return;
    // Another file system: a link or a mounted directory.
    if (!(await stat(from)).isDirectory()) return copyBeside(from, to);
    await mkdir(to);
  }
  const names = await readdir(from);
  const { last } = placing;
  for (const name of [...names.filter((name) => name !== last), ...names.filter((name) => name === last)]) {
    await placeTree(join(from, name), join(to, name), placing);
  }
  await syncPath(to);
}

async function tryRename(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EXDEV') return false;
    throw error;
  }
}

/** Copies a file under a name beside its place, flushes it and renames it. */
async function copyBeside(from: string, to: string): Promise<void> {
  const temporary = `${to}.new`;
  try {
    await copyFile(from, temporary);
    await syncPath(temporary);
    await rename(temporary, to);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Removes a directory that this process has made, unless others have put files into it. */
async function removeEmpty(path: string): Promise<void> {
  try {
    await rmdir(path);
  } catch {
    // It was not made, or is in use.
  }
}
