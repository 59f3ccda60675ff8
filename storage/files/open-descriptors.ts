// What the processes of this machine have open, by /proc (Linux). Without permission a process has nothing open.
import { readdirSync, readlinkSync } from 'node:fs';

/** Whether a process has a file open. @param target its path without symbolic links, or `socket:[INODE]` */
export function hasOpen(pid: number, target: string): boolean {
  const directory = `/proc/${pid}/fd`;
  return namesIn(directory).some((name) => {
    try {
      return readlinkSync(`${directory}/${name}`) === target;
    } catch {
      // It was closed meanwhile.
      return false;
    }
  });
}

/** The ids of the running processes, in ascending order. */
export function processIds(): number[] {
  return namesIn('/proc')
    .map(Number)
    .filter((pid) => pid > 0)
    .sort((a, b) => a - b);
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
