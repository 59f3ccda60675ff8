// Names the process that has a file locked, by what the system reports. A note that the holder writes can outlive
// it. The file itself is not opened: if this process has it locked, a close of it would release the lock (POSIX).
import { spawnSync } from 'node:child_process';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { hasOpen } from './open-descriptors.js';

const ANOTHER = 'another process';

/** A lock for writing that is held, as /proc/locks reports it: the process, device and inode of the file. */
const LOCK_LINE = /^\d+: \w+ +\w+ +WRITE +(\d+) ([\da-f]+):([\da-f]+):(\d+) /gm;

/** Milliseconds for a program of the system. */
const PROGRAM_MS = 2000;

/**
 * Names the process that has one of the files locked for writing: `process 123 (harvest run)`, or `this
 * process`. Returns `another process` if the system does not tell.
 */
export function lockHolder(...paths: readonly string[]): string {
  return nameHolder(process.platform === 'linux' ? paths.flatMap(pidsOfLocks) : listOpenFiles(paths));
}

/** Names the first of the processes, as {@link lockHolder} does. */
export function nameHolder(pids: readonly number[]): string {
  const [pid] = pids;
  if (pid === undefined) return ANOTHER;
  if (pid === process.pid) return 'this process';
  const program = programOf(pid);
  return program === undefined ? `process ${pid}` : `process ${pid} (${program})`;
}

/** Processes that have files or sockets open, by `lsof` with these arguments; none without the program. */
export function listOpenFiles(args: readonly string[]): number[] {
  const { stdout } = spawnSync('lsof', ['-t', ...args], { encoding: 'utf8', timeout: PROGRAM_MS });
  return (stdout ?? '')
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid);
}

function pidsOfLocks(path: string): number[] {
  try {
    const real = realpathSync(path);
    const { dev, ino } = statSync(real);
    const locks = [...readFileSync('/proc/locks', 'latin1').matchAll(LOCK_LINE)];
    return locks
      .filter(([, , , , inode]) => Number(inode) === ino)
      .filter(
        // Some file systems report another device in stat(2).
        ([, pid, major, minor]) =>
          deviceOf(Number.parseInt(major!, 16), Number.parseInt(minor!, 16)) === dev ||
          hasOpen(Number(pid), real),
      )
      .map(([, pid]) => Number(pid))
      .filter((pid) => pid > 0);
  } catch {
    return [];
  }
}

/** The device number of stat(2). */
function deviceOf(major: number, minor: number): number {
  return ((minor & 0xff) | ((major & 0xfff) << 8) | ((minor & ~0xff) << 12)) >>> 0;
}

/** Options of Node after which a program follows instead of its file. */
const EVALUATES = /^(?:-e|-p|-pe|--eval|--print)$/;

/** A name that needs no escapes. */
const PLAIN = /^[\w.+-]{1,64}$/;

/** The name of a process's program, and of its command if it is this kit; undefined if it is not known. */
function programOf(pid: number): string | undefined {
  const [command = '', ...args] = commandLine(pid);
  let name = basename(command);
  if (/^node(?:js)?$/.test(name)) {
    const script = args.findIndex((arg) => !arg.startsWith('-'));
    if (script >= 0 && !args.slice(0, script).some((option) => EVALUATES.test(option))) {
      name = basename(args[script]!).replace(/\.[cm]?js$/, '');
      const action = args[script + 1] ?? '';
      if (name === 'bootstrap' || name === 'harvest-kit') name = 'harvest';
      if (name === 'harvest' && /^[a-z][a-z.-]*$/.test(action)) return `${name} ${action}`;
    }
  }
  return PLAIN.test(name) ? name : undefined;
}

function commandLine(pid: number): string[] {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
  const { stdout } = spawnSync('ps', ['-o', 'command=', '-p', String(pid)], {
    encoding: 'utf8',
    timeout: PROGRAM_MS,
  });
  return (stdout ?? '').trim().split(/\s+/);
}
