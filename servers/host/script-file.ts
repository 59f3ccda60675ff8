import { randomBytes } from 'node:crypto';
import { chmod, lstat, readFile, rename, writeFile } from 'node:fs/promises';
import { errorCode, messageOf, StorageError } from '../../protocols/errors.js';

/** A script with this line is ours to replace. */
export const SCRIPT_MARK = '# Written by harvest-kit. Take this line away to keep changes.';

/**
 * Writes a shell script that anybody may run, where there is none or one that is still ours and says something else. It is
 * there whole or not at all: cron may be starting it just now.
 *
 * @param text holds the line {@link SCRIPT_MARK}
 * @returns whether it was written
 * @throws StorageError when it cannot be
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
    const why = messageOf(cause);
    throw new StorageError(`${path} cannot be written: ${why}`, { cause });
  }
}

/** Whatever a text holds, for the shell it is one word. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

async function mayWrite(path: string, text: string): Promise<boolean> {
  try {
    if (!(await lstat(path)).isFile()) return false;
    const found = await readFile(path, 'utf8');
    return found !== text && found.split('\n').includes(SCRIPT_MARK);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return true;
    throw error;
  }
}
