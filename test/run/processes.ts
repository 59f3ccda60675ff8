// The processes of a script: their processor time, and those that outlive it. Without /proc there is nothing to
// see.
import { readdirSync, readFileSync } from 'node:fs';

/** Ticks of the processor a second: 100 on every Linux. */
const TICKS_PER_SECOND = 100;

interface ProcessRow {
  readonly parent: number;
  readonly session: number;
  readonly ticks: number;
}

/** Returns the fields after the name of the program, which may contain spaces and parentheses. */
function readStat(pid: string): ProcessRow | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    // utime, stime, and those of the children that were waited for.
    const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0);
    return { parent: Number(fields[1]), session: Number(fields[3]), ticks };
  } catch {
    return undefined;
  }
}

function numericNames(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/**
 * Processor seconds of the processes that live, by the process whose session they belong to or descend from.
 */
export function processorSeconds(roots: readonly number[]): Map<number, number> {
  const rows = new Map<number, ProcessRow>();
  for (const name of numericNames()) {
    const row = readStat(name);
    if (row !== undefined) rows.set(Number(name), row);
  }
  const seconds = new Map(roots.map((root) => [root, 0]));
  for (const [pid, row] of rows) {
    const owner = ownerOf(pid, row, rows, seconds);
    if (owner !== undefined) seconds.set(owner, (seconds.get(owner) ?? 0) + row.ticks / TICKS_PER_SECOND);
  }
  return seconds;
}

function ownerOf(
  pid: number,
  row: ProcessRow,
  rows: ReadonlyMap<number, ProcessRow>,
  roots: ReadonlyMap<number, number>,
): number | undefined {
  if (roots.has(row.session)) return row.session;
  let current = pid;
  while (current > 1) {
    if (roots.has(current)) return current;
    current = rows.get(current)?.parent ?? 0;
  }
  return undefined;
}

/**
 * The processes whose environment has a variable with a value, as those of a script have it that left its
 * session.
 */
export function processesWith(variable: string, value: string): { pid: number; command: string }[] {
  const wanted = `\0${variable}=${value}\0`;
  return numericNames().flatMap((name) => {
    try {
      if (!`\0${readFileSync(`/proc/${name}/environ`, 'latin1')}`.includes(wanted)) return [];
      const command = readFileSync(`/proc/${name}/cmdline`, 'latin1').replaceAll('\0', ' ').trim();
      // A process that ended, but was not waited for, has no command.
      return command === '' ? [] : [{ pid: Number(name), command }];
    } catch {
      return [];
    }
  });
}

/** The places below a folder on which a file system is mounted, the innermost first. */
export function mountsBelow(folder: string): string[] {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .map((line) => line.split(' ')[4] ?? '')
      .filter((path) => path.startsWith(`${folder}/`))
      .reverse();
  } catch {
    return [];
  }
}
