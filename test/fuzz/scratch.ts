// Files for targets whose readers need a path. Each process has its own directory; the command removes it.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The directory of a process. */
export const scratchOf = (pid: number): string => join(tmpdir(), `harvest-fuzz-${pid}`);

const directory = scratchOf(process.pid);
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));

/** Writes the input to a file of that name. @returns its path */
export function scratchFile(name: string, input: Uint8Array): string {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, name);
  writeFileSync(path, input);
  return path;
}
