// Writes shell scripts for cron and system startup.
import { randomBytes } from 'node:crypto';
import { chmod, lstat, readFile, rename, writeFile } from 'node:fs/promises';
import { errorCode, messageOf, StorageError } from '../../protocols/errors.js';

/** A script with this line may be replaced. */
export const SCRIPT_MARK = '# Written by harvest-kit. Take this line away to keep changes.';

/**
 * Writes an executable shell script, unless a file without {@link SCRIPT_MARK} or with the same text exists.
 * The script appears complete, by a rename: cron may be starting it at this moment.
 *
 * @param text contains the line {@link SCRIPT_MARK}
 * @returns whether it was written
 * @throws StorageError when it cannot be written
 */
export async function writeScript(path: string, text: string): Promise<boolean> {
  try {
    if (!(await mayWrite(path, text))) return false;
    const draft = `${path}.${process.pid}-${randomBytes(4).toString('hex')}`;
    await writeFile(draft, text, { flag: 'wx' });
    await chmod(draft, 0o755);
    await rename(draft, path);
    return true;
  } catch (cause) {
    throw new StorageError(`${path} cannot be written: ${messageOf(cause)}`, { cause });
  }
}

/** Quotes a text as one word of the shell. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

async function mayWrite(path: string, text: string): Promise<boolean> {
  try {
    if (!(await lstat(path)).isFile()) return false;
    const existing = await readFile(path, 'utf8');
    return existing !== text && existing.split('\n').includes(SCRIPT_MARK);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return true;
    throw error;
  }
}
