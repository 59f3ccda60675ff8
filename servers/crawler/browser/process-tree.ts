// The processes of a browser, from /proc (Linux).
import { readdir, readFile } from 'node:fs/promises';

interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  /**
   * Pages of resident memory of its own, without those of files and shared ones, which each process of a
   * browser has.
   */
  readonly pages: number;
}

const PAGE_BYTES = 4096;

/** The processes of a tree. */
export interface ProcessTree {
  /** The root first; empty if it has ended, or the system has no /proc. */
  readonly pids: readonly number[];
  /** Sum of the resident memory that they do not share. */
  readonly residentBytes: number;
}

/** Returns a process and all that descend from it. */
export async function processTree(root: number): Promise<ProcessTree> {
  const entries = await readProcesses();
  const children = new Map<number, ProcessEntry[]>();
  for (const entry of entries) {
    const siblings = children.get(entry.parent);
    if (siblings === undefined) children.set(entry.parent, [entry]);
    else siblings.push(entry);
  }
  const found = entries.filter(({ pid }) => pid === root);
  // The list grows while it is walked.
  for (const { pid } of found) found.push(...(children.get(pid) ?? []));
  return {
    pids: found.map(({ pid }) => pid),
    residentBytes: found.reduce((sum, { pages }) => sum + pages * PAGE_BYTES, 0),
  };
}

/** Returns the child of this process with an argument; undefined if no child has it. */
export async function childWithArgument(argument: string): Promise<number | undefined> {
  for (const { pid, parent } of await readProcesses()) {
    if (parent !== process.pid) continue;
    const line = await read(`/proc/${pid}/cmdline`);
    if (line.split(/[\0 ]/).includes(argument)) return pid;
  }
  return undefined;
}

async function readProcesses(): Promise<ProcessEntry[]> {
  const names = await readdir('/proc').catch(() => []);
  const entries = await Promise.all(names.filter((name) => /^\d+$/.test(name)).map(readProcess));
  return entries.filter((entry) => entry !== undefined);
}

/** Reads /proc/PID/stat, whose name, in parentheses, may contain anything, and statm. */
async function readProcess(name: string): Promise<ProcessEntry | undefined> {
  const text = await read(`/proc/${name}/stat`);
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const parent = Number(fields[1]);
  const [, resident = 0, shared = 0] = (await read(`/proc/${name}/statm`)).split(' ').map(Number);
  const pages = resident - shared;
  if (text === '' || Number.isNaN(parent) || Number.isNaN(pages)) return undefined;
  return { pid: Number(name), parent, pages };
}

/** A process that ends meanwhile has no text. */
function read(file: string): Promise<string> {
  return readFile(file, 'latin1').catch(() => '');
}
