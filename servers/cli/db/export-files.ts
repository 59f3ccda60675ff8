import { copyFile, link, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { StorageError } from '../../../protocols/errors.js';
import type { UnixSeconds } from '../../../protocols/time.js';
import { GENERATIONS_DIRECTORY, TEMPLATES_FILE } from '../../../storage/databases/file-kind.js';
import { replaceFile } from '../../../storage/files/replace-file.js';
import { Generations } from '../../../storage/generations/generations.js';
import type { SummarySnapshot } from '../../../storage/generations/snapshot.js';
// Imported directly, because the index would load the whole server.
import { encodeInfo } from '../../gatherd/info.js';

/** File with the statistics of a data directory (GATHERD-10.1). */
const INFO_FILE = 'INFO.soif';
const VERSION = '1.8';
const DEFAULT_PORT = 8500;

/** Opens the newest generation of a data directory. @throws StorageError if nothing was published there. */
export async function openGeneration(directory: string): Promise<SummarySnapshot> {
  const generations = new Generations(join(directory, GENERATIONS_DIRECTORY));
  // Opening creates a directory for readers; a directory without generations must stay as it is.
  if ((await generations.current()) === undefined) {
    throw new StorageError(`no generation was published in ${directory}; mkindex publishes one`);
  }
  return generations.open();
}

/**
 * `mkcompressed` (GATHERD-10.1, 10.2): writes All-Templates.gz, one gzip member with the whole wrapped stream,
 * as gatherd sends it. The generation contains this file already, so a hard link suffices.
 * @returns the number of objects and the length in bytes
 */
export async function writeTemplates(
  directory: string,
  snapshot: SummarySnapshot,
): Promise<{ readonly objects: number; readonly bytes: number }> {
  const generations = new Generations(join(directory, GENERATIONS_DIRECTORY));
  const source = generations.compressedFile(snapshot.generation);
  const target = join(directory, TEMPLATES_FILE);
  await replaceFile(target, (temporary) => linkOrCopy(source, temporary), { force: true });
  return { objects: snapshot.count, bytes: (await stat(target)).size };
}

/** Creates a hard link, or a copy on file systems without hard links. */
async function linkOrCopy(source: string, target: string): Promise<void> {
  await link(source, target).catch(() => copyFile(source, target));
}

/** `mkgathererstats` (GATHERD-8.2, 10.1, G-121): returns the description of the exported objects as SOIF. */
export async function encodeStatistics(snapshot: SummarySnapshot, now: UnixSeconds): Promise<Uint8Array> {
  // The names in the objects take precedence over this identity.
  const identity = { name: '', host: hostname(), port: DEFAULT_PORT, version: VERSION };
  return encodeInfo(identity, await snapshot.info(), now);
}

/** Writes the statistics into the data directory. */
export async function writeStatistics(directory: string, info: Uint8Array): Promise<void> {
  await replaceFile(join(directory, INFO_FILE), (temporary) => writeFile(temporary, info), { force: true });
}

/** Writes the export files of a data directory (GATHERD-10.1): All-Templates.gz and INFO.soif. */
export async function writeExportFiles(directory: string, now: UnixSeconds): Promise<void> {
  await using snapshot = await openGeneration(directory);
  await writeTemplates(directory, snapshot);
  await writeStatistics(directory, await encodeStatistics(snapshot, now));
}
