// The memory of this process and of the processes that it started.
import { readdirSync, readFileSync } from 'node:fs';

const KIB = 1024;

/** The child processes of this one; empty where there is no /proc. */
export function childProcesses(): number[] {
  try {
    return readdirSync('/proc/self/task')
      .flatMap((task) => readFileSync(`/proc/self/task/${task}/children`, 'utf8').split(' '))
      .filter((pid) => pid.trim() !== '')
      .map(Number);
  } catch {
    // Not Linux, or a task that has just ended.
    return [];
  }
}

/** Resident bytes of one process; 0 if it has ended. */
function residentBytes(pid: number | 'self'): number {
  try {
    const kib = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Number(kib ?? 0) * KIB;
  } catch {
    return 0;
  }
}

/** Resident bytes of this process and its children. */
export function treeBytes(): number {
  let bytes = residentBytes('self');
  for (const pid of childProcesses()) bytes += residentBytes(pid);
  return bytes;
}

/** Samples {@link treeBytes} every 20 milliseconds, until it is stopped. */
export class TreeWatch {
  peak = 0;
  readonly #timer: NodeJS.Timeout;

  constructor() {
    this.#timer = setInterval(() => {
      this.peak = Math.max(this.peak, treeBytes());
    }, 20);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
