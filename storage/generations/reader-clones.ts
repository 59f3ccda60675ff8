// The names of readers' private clones, and the removal of those that no process uses any more.
import { randomBytes } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../protocols/errors.js';

/**
 * Names of readers' clones: `PID-START-RANDOM`. START is the process's start time if the system reports it
 * (Linux: clock ticks since boot), else 0. It distinguishes a process from a later one with the same number, as
 * in a container where every run is process 1.
 */
const CLONE_NAME = /^(\d+)-(\d+)-[0-9a-f]+$/;

export async function newCloneName(): Promise<string> {
  return `${process.pid}-${await startTime(process.pid)}-${randomBytes(6).toString('hex')}`;
}

/** Removes the clones of processes that have ended. */
export async function removeStaleClones(readersDirectory: string): Promise<void> {
  for (const name of await readdir(readersDirectory)) {
    const [, pid, started] = CLONE_NAME.exec(name) ?? [];
    if (pid === undefined || started === undefined) continue;
    if (await isAlive(Number(pid), started)) continue;
    await rm(join(readersDirectory, name), { recursive: true, force: true });
  }
}

async function isAlive(pid: number, started: string): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (errorCode(error) === 'ESRCH') return false;
  }
  const now = await startTime(pid);
  return started === '0' || now === '0' || now === started;
}

async function startTime(pid: number): Promise<string> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
    // The second field is the program's name in parentheses, which may contain anything; the other fields are
    // counted after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const field = fields[19] ?? '0';
    return /^\d+$/.test(field) ? field : '0';
  } catch {
    return '0';
  }
}
