// Makes the written batches of an open database durable.
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../protocols/errors.js';

/**
 * Flushes the logs of a database to the disk, the oldest first. LevelDB's own flush includes only the newest log: batches in the one
 * before it, whose table is being written, would be lost although later ones are kept.
 */
export async function flushLogs(directory: string): Promise<void> {
  const logs = (await readdir(directory)).filter((name) => /^\d+\.log$/.test(name));
  for (const name of logs.sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))) {
    try {
      const file = await open(join(directory, name), 'r');
      try {
        await file.datasync();
      } finally {
        await file.close();
      }
    } catch (error) {
      // The table that replaces the log is complete and flushed.
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  }
}
