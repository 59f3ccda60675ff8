import { open } from 'node:fs/promises';

/** Flushes a file's content or a directory's names to the disk. */
export async function syncPath(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
