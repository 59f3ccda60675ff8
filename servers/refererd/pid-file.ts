import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf, StorageError } from '../../protocols/errors.js';

/** The process number and nothing else: `kill -HUP $(cat FILE)` is what it is for (9.2). Whole or not there. */
export function writePidFile(file: string, pid: number): void {
  const draft = `${file}.${pid}.tmp`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(draft, `${pid}\n`, { flag: 'w', mode: 0o644 });
    renameSync(draft, file);
  } catch (cause) {
    const why = messageOf(cause);
    throw new StorageError(`the pid file ${file} cannot be written: ${why}`, { cause });
  }
}

/** Removes the file if it names that process. Without the permission it stays. */
export function removePidFile(file: string, pid: number): void {
  try {
    if (readFileSync(file, 'latin1').trim() === String(pid)) rmSync(file, { force: true });
  } catch {
    // Not there, or not ours to remove: the parent process, which keeps its user, tries as well.
  }
}
