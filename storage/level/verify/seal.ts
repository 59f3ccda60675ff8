// The seal of a database: written when it is closed in good order, removed before it is opened. It tells a log
// that a power failure cut, which LevelDB may shorten, from a log that lost its end later, whose rows were
// safe.
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { StorageError } from '../../../protocols/errors.js';
import { type FileSums, isFileSums, sumFile } from '../../files/checksums.js';
import { ifPresent } from '../../files/exists.js';
import { hasFileList, openFileList } from '../../files/file-list.js';
import { readRegular } from '../../files/regular-file.js';
import { replaceContent } from '../../files/replace-file.js';
import { syncPath } from '../../files/sync-path.js';
import { clearLengths, forgetLengths } from './log-lengths.js';

/** LevelDB leaves files alone whose names are not its own. */
export const SEAL_FILE = 'SEAL';

export interface Seal {
  /**
   * The MANIFEST that CURRENT named. Every opening makes a new one, so another name means that the seal is old.
   */
  readonly manifest: string;
  readonly files: FileSums;
  /**
   * Whether the directory that contains the database has a list of its files (files/file-list.ts); undefined in the
   * seal of an earlier version.
   */
  readonly listed?: boolean | undefined;
}

/** The files of a database, and the key to its logins. Earlier versions sealed MANIFEST and logs only. */
const SEALED = /^(?:CURRENT|MANIFEST-\d+|\d+\.(?:log|ldb|sst)|LOGIN-KEY)$/;
const TABLE = /\.(?:ldb|sst)$/;

/**
 * The seal of a directory; undefined without one.
 * @throws StorageError for a damaged one: it is written as a whole, so that no crash leaves a part of it
 */
export async function readSeal(directory: string): Promise<Seal | undefined> {
  const text = (await ifPresent(readRegular(join(directory, SEAL_FILE))))?.toString('utf8');
  if (text === undefined) return undefined;
  const [line = '', sum] = text.split('\n');
  try {
    const { manifest, files, listed } = JSON.parse(line) as Partial<Seal>;
    if (typeof manifest === 'string' && isFileSums(files) && (!sum || sum === sumOf(line)))
      return { manifest, files, listed };
  } catch {
    // Not JSON.
  }
  throw new StorageError('it does not match its checksum');
}

function sumOf(line: string): string {
  return crc32(line).toString(16).padStart(8, '0');
}

/** Whether a file is what its seal says. */
export function matchesSeal(seal: Seal, name: string, bytes: Uint8Array): boolean {
  const sealed = seal.files[name];
  return sealed === undefined || (sealed.size === bytes.length && sealed.crc32 === crc32(bytes));
}

/**
 * Seals a database that is closed. Its files are flushed first: a seal must not survive a power failure that
 * its files do not.
 *
 * @param names the names in the directory
 */
export async function writeSeal(directory: string, names: readonly string[]): Promise<void> {
  const files: Record<string, FileSums[string]> = {};
  for (const name of names.filter((name) => SEALED.test(name))) {
    const path = join(directory, name);
    // LevelDB has flushed the tables.
    if (!TABLE.test(name)) await syncPath(path);
    files[name] = await sumFile(path);
  }
  const manifest = (await readRegular(join(directory, 'CURRENT'))).toString('latin1').trimEnd();
  const seal: Seal = { manifest, files, listed: await hasFileList(dirname(directory)) };
  const line = JSON.stringify(seal);
  await replaceContent(join(directory, SEAL_FILE), `${line}\n${sumOf(line)}\n`);
  await forgetLengths(directory);
  // Nothing reads the text logs of LevelDB.
  for (const name of ['LOG', 'LOG.old']) await rm(join(directory, name), { force: true });
}

/** A copy that a check or a repair opens beside a store, which it does not change. */
const COPY = /\.(?:check|probe|repaired)-[^/]*$/;

/** Removes the seal of a database that is to be opened, or the lengths that a killed process left; the list of the directory around it is open from now on. */
export async function breakSeal(directory: string): Promise<void> {
  if (!COPY.test(directory)) await openFileList(dirname(directory));
  await rm(join(directory, SEAL_FILE), { force: true });
  await clearLengths(directory);
}
