import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** A process that is over but that its parent has not asked about yet. */
const ZOMBIE = /^Z/;

/**
 * What distinguishes a process from every other one that has, had or will get the same number: when it was started.
 * `undefined` when there is no such process, or when the system does not tell.
 */
export async function processIdentity(pid: number): Promise<string | undefined> {
  return process.platform === 'linux' ? fromProc(pid) : fromPs(pid);
}

/** Clock ticks since boot, and which boot: after a restart the same number can begin at the same tick. */
async function fromProc(pid: number): Promise<string | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
    // The second field is the program's name in parentheses and may hold anything; the rest is counted behind it.
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
