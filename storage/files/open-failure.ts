// Why a library cannot open a file that it writes: SQLite tells only that it cannot.
import { closeSync, existsSync, openSync, rmSync, writeSync } from 'node:fs';

/** Bytes of a page, which a journal begins with. */
const PROBE = new Uint8Array(4096);

/**
 * Opens a file for writing if it exists, and makes a new one next to it, as a database makes a journal. Both
 * stay as they were.
 *
 * @returns the system's error, e.g. with the code `EIO`, `ENOSPC`, `EMFILE` or `EROFS`; undefined if it can be
 *   opened now
 */
export function openFailure(file: string): Error | undefined {
  const probe = `${file}.probe-${process.pid}`;
  let opened: number | undefined;
  try {
    if (existsSync(file)) closeSync(openSync(file, 'r+'));
    opened = openSync(probe, 'wx');
    writeSync(opened, PROBE);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    if (opened !== undefined) closeSync(opened);
    rmSync(probe, { force: true });
  }
}

/**
 * Whether an error of SQLite says that it cannot open the file. libsql gives the number of SQLite's code alone
 * if it cannot create it.
 */
export function isUnopened(message: string, code: string | undefined): boolean {
  return code?.startsWith('SQLITE_CANTOPEN') === true || /^ConnectionFailed.*: 14"\)$/.test(message);
}
