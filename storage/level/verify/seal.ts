// The seal of a database: written when it is closed in good order, removed before it is opened. It tells a log
// that a power failure cut, which LevelDB may shorten, from a log that lost its end later, whose rows were
// safe.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { errorCode } from '../../../protocols/errors.js';
import { type FileSums, isFileSums } from '../../files/checksums.js';
import { readRegular } from '../../files/regular-file.js';
import { replaceContent } from '../../files/replace-file.js';
import { syncPath } from '../../files/sync-path.js';
import { forgetLengths } from './log-lengths.js';

/** LevelDB leaves files alone whose names are not its own. */
const SEAL_FILE = 'SEAL';

export interface Seal {
  /**
   * The MANIFEST that CURRENT named. Every opening makes a new one, so another name means that the seal is old.
   */
  readonly manifest: string;
  readonly files: FileSums;
}

/** Files that may grow, and that no other file describes. */
const SEALED = /^(?:MANIFEST-\d+|\d+\.log)$/;

/** The seal of a directory; undefined if there is no readable one. */
export async function readSeal(directory: string): Promise<Seal | undefined> {
  try {
    const text = (await readRegular(join(directory, SEAL_FILE))).toString('utf8');
    const { manifest, files } = (JSON.parse(text) ?? {}) as { manifest?: unknown; files?: unknown };
    return typeof manifest === 'string' && isFileSums(files) ? { manifest, files } : undefined;
  } catch (error) {
    // A damaged seal seals nothing. The files that it named are then checked as after a crash.
    if (error instanceof SyntaxError || errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
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
  const files: Record<string, { size: number; crc32: number }> = {};
  for (const name of names.filter((name) => SEALED.test(name))) {
    const path = join(directory, name);
    await syncPath(path);
    const bytes = await readRegular(path);
    files[name] = { size: bytes.length, crc32: crc32(bytes) };
  }
  const manifest = (await readRegular(join(directory, 'CURRENT'))).toString('latin1').trimEnd();
  const seal: Seal = { manifest, files };
  await replaceContent(join(directory, SEAL_FILE), `${JSON.stringify(seal)}\n`);
  await forgetLengths(directory);
}

export async function breakSeal(directory: string): Promise<void> {
  await rm(join(directory, SEAL_FILE), { force: true });
}
