// Copies a LevelDB that another process may have open, as it is at one moment.
import { constants } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { errorCode, StorageError } from '../../protocols/errors.js';

const TABLE = /^\d+\.(?:ldb|sst)$/;
const LOG = /^\d+\.log$/;
/**
 * Files of a process that has the database open, and lengths of the logs that are those of the present files.
 */
const LEFT_OUT = /^(?:LOCK|LOG|LOG\.old|LENGTHS)$|\.(?:new|dbtmp)$/;
/** Copies of the small files while LevelDB was writing a new table in each of them. */
const MAX_TRIES = 50;
const PAUSE_MS = 20;

/**
 * Copies a database. Tables only grow until the MANIFEST names them, and never change after that. The MANIFEST
 * names them and the oldest log that counts, and it changes whenever that does: logs that are copied between
 * two equal readings of it are what a crash at that moment would have left, which LevelDB reads.
 *
 * @param target does not exist
 * @returns bytes copied
 * @throws StorageError if the database changes too fast
 */
export async function copyLevel(source: string, target: string, signal?: AbortSignal): Promise<number> {
  const { mode } = await stat(source);
  await mkdir(target, { mode: mode & 0o777 });
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    signal?.throwIfAborted();
    const bytes = await tryCopy(source, target, signal);
    if (bytes !== undefined) return bytes;
    await pause(PAUSE_MS, undefined, { signal });
  }
  throw new StorageError(`${source} changes too fast to be copied; try again when less is written`);
}

/**
 * Returns undefined if the database changed meanwhile. Whole tables that were copied are there for the next
 * try.
 */
async function tryCopy(
  source: string,
  target: string,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  await copyTables(source, target, signal);
  const before = await readManifest(source);
  if (before === undefined) return undefined;
  await copyTables(source, target, signal);
  for (const name of await readdir(target)) if (!TABLE.test(name)) await rm(join(target, name));
  for (const name of await readdir(source)) {
    if (TABLE.test(name) || LEFT_OUT.test(name) || /^(?:CURRENT|MANIFEST-\d+)$/.test(name)) continue;
    const copied = await copyIfThere(join(source, name), join(target, name));
    if (!copied && LOG.test(name)) return undefined;
  }
  const after = await readManifest(source);
  if (after === undefined || after.name !== before.name || !after.bytes.equals(before.bytes))
    return undefined;
  await copyIfThere(join(source, 'CURRENT'), join(target, 'CURRENT'));
  await copyIfThere(join(source, before.name), join(target, before.name));
  const last = await readManifest(target);
  if (last === undefined || last.name !== before.name || !last.bytes.equals(before.bytes)) return undefined;
  return await sizeOf(target);
}

async function sizeOf(directory: string): Promise<number> {
  let bytes = 0;
  for (const name of await readdir(directory)) bytes += (await stat(join(directory, name))).size;
  return bytes;
}

/** A table that was copied before it was whole is shorter than its source, and copied again. */
async function copyTables(source: string, target: string, signal: AbortSignal | undefined): Promise<void> {
  for (const name of await readdir(source)) {
    if (!TABLE.test(name)) continue;
    const [from, to] = [join(source, name), join(target, name)];
    const copied = await sizeIfThere(to);
    if (copied !== undefined && copied === (await sizeIfThere(from))) continue;
    signal?.throwIfAborted();
    await copyIfThere(from, to);
  }
}

async function sizeIfThere(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    return undefined;
  }
}

/** Returns false if the file was removed meanwhile. */
async function copyIfThere(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to, constants.COPYFILE_FICLONE);
    return true;
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    await rm(to, { force: true });
    return false;
  }
}

/** The MANIFEST that CURRENT names; undefined if it was replaced meanwhile. */
async function readManifest(directory: string): Promise<{ name: string; bytes: Buffer } | undefined> {
  try {
    const name = (await readFile(join(directory, 'CURRENT'), 'latin1')).trimEnd();
    if (!/^MANIFEST-\d+$/.test(name)) throw new StorageError(`${directory}/CURRENT names no MANIFEST`);
    return { name, bytes: await readFile(join(directory, name)) };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
