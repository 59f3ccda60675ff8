import { open, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { StorageError } from '../../../protocols/errors.js';
import type { UnixSeconds } from '../../../protocols/time.js';
import { ChunkCache } from '../../../servers/gatherd/chunk-cache.js';
// Not by the index, which would load the whole server.
import { encodeInfo } from '../../../servers/gatherd/info.js';
import { readyMember } from '../../../servers/gatherd/ready-member.js';
import { GENERATIONS_DIRECTORY, replaceFile, TEMPLATES_FILE } from '../../../storage/databases/index.js';
import { Generations, type SummarySnapshot } from '../../../storage/index.js';

/** Statistics of a data directory (GATHERD-10.1). */
export const INFO_FILE = 'INFO.soif';
const VERSION = '1.8';
const DEFAULT_PORT = 8500;

/** The newest generation of a data directory. @throws StorageError there is none. */
export async function openGeneration(directory: string): Promise<SummarySnapshot> {
  const generations = new Generations(join(directory, GENERATIONS_DIRECTORY));
  // Opening makes a directory for its readers; where nothing was published, nothing is to be left behind.
  if ((await generations.current()) === undefined) {
    throw new StorageError(`no generation was published in ${directory} yet; mkindex does it`);
  }
  return generations.open();
}

/**
 * `mkcompressed` (GATHERD-10.1, 10.2): writes All-Templates.gz, one gzip member with the whole wrapped stream, as gatherd sends it.
 * @returns objects in it, and its length in bytes.
 */
export async function writeTemplates(
  directory: string,
  snapshot: SummarySnapshot,
  signal: AbortSignal,
): Promise<{ readonly objects: number; readonly bytes: number }> {
  const { ready } = snapshot;
  if (ready === undefined) throw new StorageError(`generation ${snapshot.generation} has no compressed copy`);
  const count = { objects: 0, bytes: 0 };
  const build = async (temporary: string): Promise<void> => {
    const file = await open(temporary, 'w');
    try {
      for await (const piece of readyMember(ready, 0, new ChunkCache({ maxBytes: 1 << 20 }), count)) {
        signal.throwIfAborted();
        await file.writeFile(piece);
        count.bytes += piece.length;
      }
    } finally {
      await file.close();
    }
  };
  await replaceFile(join(directory, TEMPLATES_FILE), build, { force: true });
  return count;
}

/** `mkgathererstats` (GATHERD-8.2, 10.1, G-121): the description of what is exported, as SOIF. */
export async function statistics(snapshot: SummarySnapshot, now: UnixSeconds): Promise<Uint8Array> {
  // A directory does not say who gathers; the objects do, and then their word counts.
  const identity = { name: '', host: hostname(), port: DEFAULT_PORT, version: VERSION };
  return encodeInfo(identity, await snapshot.info(), now);
}

/** Writes the statistics beside the database. */
export async function writeStatistics(directory: string, info: Uint8Array): Promise<void> {
  await replaceFile(join(directory, INFO_FILE), (temporary) => writeFile(temporary, info), { force: true });
}
