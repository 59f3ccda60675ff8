import { open } from 'node:fs/promises';

/** Waits until the disk has a file's content or a directory's names. */
export async function syncPath(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
