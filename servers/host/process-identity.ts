// Identifies a process by its start time, because process ids are reused.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** State of a process that has ended and whose parent has not waited for it yet. */
const ZOMBIE = /^Z/;

/**
 * Returns the start time of a process, which distinguishes it from all others that had or will get the same
 * number. Undefined if there is no such process, or if the system does not report it.
 */
export async function processIdentity(pid: number): Promise<string | undefined> {
  return process.platform === 'linux' ? fromProc(pid) : fromPs(pid);
}

/** Clock ticks since boot, and the boot: after a restart the same number may begin at the same tick. */
async function fromProc(pid: number): Promise<string | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
    // The second field is the program's name in parentheses, which may contain anything; the others follow it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state = '', started] = [fields[0], fields[19]];
    if (ZOMBIE.test(state) || started === undefined) return undefined;
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'latin1').catch(() => '');
    return `${started}@${boot.trim()}`;
  } catch {
    return undefined;
  }
}

async function fromPs(pid: number): Promise<string | undefined> {
  try {
    const environment = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
    const { stdout } = await promisify(execFile)('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      env: environment,
    });
    const [state = '', ...started] = stdout.trim().split(/\s+/);
    return ZOMBIE.test(state) || started.length === 0 ? undefined : started.join('-');
  } catch {
    return undefined;
  }
}
