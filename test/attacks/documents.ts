// Documents that tests gather onto small disks.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Words that do not compress well. */
function words(seed: number): string {
  let state = seed * 2654435761 + 1;
  const next = (): string => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state.toString(36);
  };
  return Array.from({ length: 250 }, next).join(' ');
}

/** Writes text documents of about two kilobytes. @returns the directory */
export async function writeDocuments(directory: string, count: number): Promise<string> {
  await mkdir(directory, { recursive: true });
  for (let i = 0; i < count; i++)
    await writeFile(join(directory, `d${i}.txt`), `document ${i}\n\n${words(i)}\n`);
  return directory;
}
