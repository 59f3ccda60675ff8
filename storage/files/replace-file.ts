import { chmod, chown, readdir, realpath, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode, StorageError } from '../../protocols/errors.js';
import { exists } from './exists.js';
import { renameNoted } from './note-change.js';
import { syncPath } from './sync-path.js';
import { writeAndRename } from './write-and-rename.js';

/** The suffixes of SQLite's files of one database. */
const SUFFIXES = ['', '-journal', '-wal', '-shm'] as const;

/** Options of {@link replaceFile}. */
export interface ReplaceOptions {
  /** Replace an existing file. Default false: it is an error. */
  readonly force?: boolean;
  /**
   * Give the new file the owner, group and mode of the old one: another user may have to read it. An error if
   * that is not permitted. A symbolic link stays, and the file it names is replaced. Default false.
   */
  readonly keepOwner?: boolean;
}

/**
 * Builds a file next to its final path and renames it when it is complete and on the disk (G-116): readers see
 * the old file or the new one. Removes the temporary files of killed processes.
 *
 * @param name the final path
 * @param build writes the file under the name that it receives, and closes it before it resolves
 * @throws StorageError if the file exists and `force` is not set, or the directory cannot be written
 */
export async function replaceFile<T>(
  name: string,
  build: (temporary: string) => Promise<T>,
  options: ReplaceOptions = {},
): Promise<T> {
  const path = options.keepOwner === true ? await realpath(name).catch(() => name) : name;
  const directory = dirname(path);
  const prefix = `.${basename(path)}.new-`;
  if (options.force !== true && (await exists(path))) {
    throw new StorageError(`${path} exists already; --force replaces it`);
  }
  await removeLeftovers(directory, prefix);
  const temporary = join(directory, `${prefix}${process.pid}`);
  try {
    const result = await build(temporary);
    if (options.keepOwner === true) await copyOwner(path, temporary);
    await syncPath(temporary);
    await renameNoted(temporary, path);
    await syncPath(directory);
    return result;
  } catch (cause) {
    if (errorCode(cause)?.startsWith('E') !== true || cause instanceof StorageError) throw cause;
    throw new StorageError(`${path} cannot be written: ${errorCode(cause)}`, { cause });
  } finally {
    await removeDatabaseFile(temporary);
  }
}

/**
 * Replaces a small file of the kit's own: readers see the former content or the new one, also after a crash. The
 * caller flushes the directory if the name must survive a power failure.
 *
 * @throws system errors, which name the file; the former content stays then
 */
export async function replaceContent(
  path: string,
  content: string | Uint8Array,
  mode = 0o666,
): Promise<void> {
  await writeAndRename(path, content, mode, (draft) => renameNoted(draft, path));
}

/**
 * Gives a file the owner, group and mode of another one, if that exists. @throws StorageError if that is not
 * permitted
 */
async function copyOwner(from: string, to: string): Promise<void> {
  const old = await stat(from).catch(() => undefined);
  if (old === undefined) return;
  try {
    const { uid, gid } = await stat(to);
    if (uid !== old.uid || gid !== old.gid) await chown(to, old.uid, old.gid);
    await chmod(to, old.mode & 0o7777);
  } catch (cause) {
    const why = `its owner (${old.uid}, group ${old.gid}) cannot be kept: ${errorCode(cause)}`;
    throw new StorageError(`${from} cannot be replaced: ${why}`, { cause });
  }
}

/** Removes a database file and its journals. */
async function removeDatabaseFile(path: string): Promise<void> {
  for (const suffix of SUFFIXES) await rm(`${path}${suffix}`, { force: true });
}

async function removeLeftovers(directory: string, prefix: string): Promise<void> {
  const names = await readdir(directory).catch((cause: unknown) => {
    throw new StorageError(`${directory} cannot be read: ${errorCode(cause) ?? String(cause)}`, { cause });
  });
  for (const name of names) {
    const pid = name.startsWith(prefix) ? /^(\d+)/.exec(name.slice(prefix.length))?.[1] : undefined;
    if (pid !== undefined && !isAlive(Number(pid))) await rm(join(directory, name), { force: true });
  }
}

/** Whether a process with this id exists. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}
