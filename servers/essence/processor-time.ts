// Processor time of processes and threads, in milliseconds. Linux shows it in /proc, by ticks of 10 ms; other
// systems show less.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Milliseconds of a tick: USER_HZ is 100 on all architectures that Node supports. */
const TICK_MS = 10;
/**
 * Fields of /proc/PID/stat after the name: time in user and kernel mode, and that of the children that were
 * waited for.
 */
const USER_TIME = 11;
const CHILDREN_USER_TIME = 13;
const CHILDREN_KERNEL_TIME = 14;

/** Returns the processor time of this process. */
export function processMs(): number {
  return ofUsage(process.cpuUsage());
}

/** Returns the processor time of the programs that this process has run; 0 without /proc. */
export function childrenMs(): number {
  return statMs('/proc/self/stat', CHILDREN_USER_TIME) ?? 0;
}

let ofCallingThread: (() => number) | undefined;

/** Returns the processor time of the calling thread. */
export function callingThreadMs(): number {
  // Node 23.9 and later.
  const usage: unknown = Reflect.get(process, 'threadCpuUsage');
  if (typeof usage === 'function') return ofUsage(usage.call(process));
  ofCallingThread ??= measureThread(threadId());
  return ofCallingThread();
}

/**
 * Returns the number of the calling thread, for {@link measureThread} in another thread of this process;
 * undefined without /proc.
 */
export function threadId(): number | undefined {
  try {
    return Number(readlinkSync('/proc/thread-self').replace(/^.*\//, ''));
  } catch {
    return undefined;
  }
}

/**
 * Returns a function that measures a thread of this process, by its {@link threadId}. Without one the result is
 * too high: in each interval the time of the clock or the processor time of the whole process, whichever is
 * less.
 */
export function measureThread(id: number | undefined): () => number {
  const other = processShare();
  let last = 0;
  return () => {
    if (id === undefined) return other();
    // A thread that has ended has used what it had used before.
    last = statMs(`/proc/self/task/${id}/stat`) ?? last;
    return last;
  };
}

/** Returns the processor time of a process and its descendants; undefined without /proc, or if it has ended. */
export function treeMs(pid: number): number | undefined {
  const own = statMs(`/proc/${pid}/stat`);
  if (own === undefined) return undefined;
  return childrenOf(pid).reduce((sum, child) => sum + (treeMs(child) ?? 0), own);
}

function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
      .flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').split(' '))
      .filter((child) => child.trim() !== '')
      .map(Number);
  } catch {
    // It has just ended.
    return [];
  }
}

function statMs(file: string, firstField = USER_TIME): number | undefined {
  try {
    const text = readFileSync(file, 'latin1');
    // The name of a program may contain blanks and parentheses.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    let ticks = 0;
    for (let field = firstField; field <= CHILDREN_KERNEL_TIME; field++) ticks += Number(fields[field]);
    return Number.isFinite(ticks) ? ticks * TICK_MS : undefined;
  } catch {
    return undefined;
  }
}

function processShare(): () => number {
  let clock = performance.now();
  let processor = processMs();
  let used = 0;
  return () => {
    const [now, processorNow] = [performance.now(), processMs()];
    used += Math.min(now - clock, processorNow - processor);
    [clock, processor] = [now, processorNow];
    return used;
  };
}

function ofUsage({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1000;
}
