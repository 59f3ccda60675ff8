import { readdir, stat } from 'node:fs/promises';

/** Returns the names in a directory, sorted; none if it cannot be read. */
export async function namesIn(directory: string | URL): Promise<string[]> {
  try {
    return (await readdir(directory)).sort();
  } catch {
    return [];
  }
}

/** Whether the path is a file that can be examined. */
export async function isFile(file: string): Promise<boolean> {
  try {
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
