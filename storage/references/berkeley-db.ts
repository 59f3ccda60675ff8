// Real Berkeley DB files: recognized by their first bytes, read through Berkeley DB's own `db_dump`
//
import { copyFile, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type FileReader, readThrough } from '../files/program-output.js';

/** A Berkeley DB file. */
export interface BerkeleyFile {
  /** E.g. `a Berkeley DB file (btree, version 9)`. */
  readonly description: string;
  /** Written by version 1.85, whose files the later programs do not read. */
  readonly is185: boolean;
}

/**
 * The magic numbers of the access methods. Those of 1.85 are the first word of a file, later ones the fourth.
 */
const METHODS: ReadonlyMap<number, string> = new Map([
  [0x053162, 'btree'],
  [0x061561, 'hash'],
  [0x042253, 'queue'],
  [0x074582, 'heap'],
]);
const METHODS_185: ReadonlySet<number> = new Set([0x053162, 0x061561]);

/** Magic number and version are in the first five words. */
const HEAD_BYTES = 20;

/** The programs of Berkeley DB 2 to 6 and of 1.85, by their names in the distributions, the usual one first. */
const DUMP = ['db_dump', 'db5.3_dump', 'db6.0_dump', 'db4.8_dump'] as const;
const UPGRADE = ['db_upgrade', 'db5.3_upgrade', 'db6.0_upgrade', 'db4.8_upgrade'] as const;
const DUMP_185 = ['db_dump185', 'db5.3_dump185', 'db4.8_dump185'] as const;

/**
 * Berkeley DB's number of the message that a file of an older version must be upgraded; older programs have
 * only the name.
 */
const OLD_VERSION = /DB_OLDVERSION|requires a version upgrade/;

/**
 * Returns what a file is if it begins as a Berkeley DB file in either byte order does; undefined for any other
 * file.
 */
export async function berkeleyFile(path: string): Promise<BerkeleyFile | undefined> {
  const head = Buffer.alloc(HEAD_BYTES);
  try {
    await using file = await open(path, 'r');
    if (!(await file.stat()).isFile()) return undefined;
    if ((await file.read(head, 0, HEAD_BYTES, 0)).bytesRead < HEAD_BYTES) return undefined;
  } catch {
    // The reader of the file says why it cannot be read.
    return undefined;
  }
  for (const word of [(at: number) => head.readUInt32LE(at), (at: number) => head.readUInt32BE(at)]) {
    const method = METHODS.get(word(12));
    if (method !== undefined) {
      return { description: `a Berkeley DB file (${method}, version ${word(16)})`, is185: false };
    }
    if (METHODS_185.has(word(0))) {
      const method = METHODS.get(word(0));
      return { description: `a Berkeley DB 1.85 file (${method}, version ${word(4)})`, is185: true };
    }
  }
  return undefined;
}

/**
 * Yields the text of `db_dump` for a Berkeley DB file. A file of an older version is upgraded as a temporary
 * copy; the file itself is only read.
 *
 * @throws StorageError if no such program is installed, or it cannot read the file
 */
export function dumpBerkeleyFile(
  path: string,
  { description, is185 }: BerkeleyFile,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const remedy = is185
    ? '`db_dump185` of Berkeley DB, which reads it, is not installed'
    : '`db_dump` of Berkeley DB, which reads it, is not installed (Debian: db-util or db5.3-util)';
  const notInstalled = `${path} is ${description}, and ${remedy}`;
  const run = (programs: readonly string[], file: string) => ({
    path,
    programs,
    args: [resolve(file)],
    notInstalled,
    signal,
    read: (output: AsyncIterable<Uint8Array>) => output,
  });
  return readThrough({
    ...run(is185 ? DUMP_185 : DUMP, path),
    onFailure: (output) => (OLD_VERSION.test(output) ? dumpUpgraded(path, run) : undefined),
  });
}

/** Upgrades a copy of the file and yields its text. */
async function* dumpUpgraded(
  path: string,
  run: (programs: readonly string[], file: string) => FileReader<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const directory = await mkdtemp(join(tmpdir(), 'harvest-berkeley-'));
  try {
    const copy = join(directory, 'copy.db');
    await copyFile(path, copy);
    // It writes nothing to its standard output.
    yield* readThrough(run(UPGRADE, copy));
    yield* readThrough(run(DUMP, copy));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
