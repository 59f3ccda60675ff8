// Paths of the daemon's files in a Gatherer's data directory (GATHERD-10.1).
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { errorCode, messageOf, StorageError } from '../../protocols/errors.js';
import type { Logger } from '../host/logger.js';

/** Names of the daemon's files (GATHERD-10.1), relative to the directory. */
export interface GatherdFileNames {
  /** Directory of the generations. Default `generations`. */
  readonly database?: string | undefined;
  /** Default `gatherd.cf`. */
  readonly access?: string | undefined;
  /** Default `gatherd.pid`. */
  readonly pid?: string | undefined;
  /** Default `gatherd.log`. */
  readonly log?: string | undefined;
}

/** Absolute paths of the daemon's files. */
export interface GatherdFiles {
  readonly directory: string;
  readonly database: string;
  readonly access: string;
  readonly pid: string;
  readonly log: string;
}

/**
 * Returns the paths of the files in a Gatherer's data directory.
 *
 * @throws StorageError when the directory does not exist, or the database is a file
 */
export async function gatherdFiles(directory: string, names: GatherdFileNames = {}): Promise<GatherdFiles> {
  const root = resolve(directory);
  const kind = await kindOf(root);
  if (kind === undefined) throw new StorageError(`${directory}: no such directory`);
  if (kind === 'file') throw new StorageError(`${directory} is not a directory`);
  const database = resolve(root, names.database ?? 'generations');
  if ((await kindOf(database)) === 'file') {
    throw new StorageError(
      `${database} is a file, but generations are a directory (\`harvest folddb ${root}\` creates them from PRODUCTION.gdbm)`,
    );
  }
  return {
    directory: root,
    database,
    access: resolve(root, names.access ?? 'gatherd.cf'),
    pid: resolve(root, names.pid ?? 'gatherd.pid'),
    log: resolve(root, names.log ?? 'gatherd.log'),
  };
}

/** Files that an original Gatherer leaves in its data directory (GATHERD-10.1). */
const ORIGINAL_FILES = ['PRODUCTION.gdbm', 'All-Templates.gz'];

/**
 * Reports if the database is empty, and names the original files that are not read.
 * @param complain gets the sentence about original files
 */
export async function reportDatabase(
  { directory, database }: GatherdFiles,
  log: Logger,
  complain: (sentence: string) => void,
): Promise<void> {
  // Programs that only name the files need no store.
  const { Generations } = await import('../../storage/generations/generations.js');
  if ((await new Generations(database).current()) !== undefined) return;
  log.warn(`nothing is published in ${database} yet: the database is empty`);
  for (const name of ORIGINAL_FILES) {
    if ((await kindOf(join(directory, name))) === undefined) continue;
    complain(`${name} is not read: \`harvest folddb ${directory}\` creates a generation from it`);
    return;
  }
}

async function kindOf(path: string): Promise<'directory' | 'file' | undefined> {
  try {
    return (await stat(path)).isDirectory() ? 'directory' : 'file';
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT' || errorCode(cause) === 'ENOTDIR') {
      return undefined;
    }
    const why = messageOf(cause);
    throw new StorageError(`${path}: ${why}`, { cause });
  }
}
