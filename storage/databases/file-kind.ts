import { open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode, StorageError } from '../../protocols/errors.js';
import { statIfExists } from '../files/exists.js';
import { currentGeneration } from '../generations/directory.js';

/**
 * The kind of a file or directory that is passed to a database tool. The first bytes decide, never the name: a
 * `.gdbm` file of this program is not in GDBM format.
 *
 * - `database`: a database file of this program, or another SQLite file, which `DatabaseFile` rejects
 * - `gdbm`: a database of the original programs (GATHERD-10.1); `foreign-gdbm`: one with another byte order
 * - `gdbm-dump`: the output of `gdbm_dump`
 * - `gzip`, `text`: possibly a SOIF stream
 * - `generations`: a directory with generations; `working`: a Gatherer's working store; `empty`: an empty file
 */
export type FileKind =
  | 'database'
  | 'gdbm'
  | 'foreign-gdbm'
  | 'gdbm-dump'
  | 'gzip'
  | 'text'
  | 'generations'
  | 'working'
  | 'empty';

/** A path and its kind. `path` may differ from the requested one, e.g. the file in a data directory. */
export interface LocatedSource {
  readonly path: string;
  readonly kind: FileKind;
}

/** The exported database of a Gatherer's data directory, and its compressed copy (GATHERD-10.1). */
export const PRODUCTION_FILE = 'PRODUCTION.gdbm';
/** The original name of the database that a run of the Gatherer writes (G-112). */
export const WORKING_FILE = 'WORKING.gdbm';
export const TEMPLATES_FILE = 'All-Templates.gz';
/** The directory of the published generations in a data directory. */
export const GENERATIONS_DIRECTORY = 'generations';
/** The directory of the Gatherer's working store in a data directory. */
export const WORKING_DIRECTORY = 'working';

const DESCRIPTIONS: Readonly<Record<FileKind, string>> = {
  database: 'a database file',
  gdbm: 'an original GDBM database, which tools only read (`harvest gdbmutil import` converts it)',
  'foreign-gdbm':
    'a GDBM database of a machine with another byte order; dump it there with gdbm_dump, the dump can be read here',
  'gdbm-dump': 'the output of gdbm_dump, which is only read (`harvest gdbmutil import` converts it)',
  gzip: 'a gzip file, which is only read (`harvest template2db` converts it to a database)',
  text: 'a text, perhaps a SOIF stream, which is only read (`harvest template2db` converts it to a database)',
  generations: 'a directory of published generations, which is only read',
  working: "a Gatherer's working store, which only the Gatherer writes",
  empty: 'an empty file',
};

/** Returns a description of the kind for error messages. */
export function describeKind(kind: FileKind): string {
  return DESCRIPTIONS[kind];
}

const HEAD_BYTES = 64;
const SQLITE_HEADER = 'SQLite format 3\0';
const ASCII_DUMP = '# GDBM dump file created by ';
const BINARY_DUMP = '!\r\n! GDBM FLAT FILE DUMP';
/**
 * The magic numbers of a GDBM file, its first four bytes: old and standard formats, 32 and 64 bits, with and
 * without numsync.
 */
const GDBM_MAGIC = new Set([0x13579acd, 0x13579ace, 0x13579acf, 0x13579ad0, 0x13579ad1, 0x13579ad2]);
const littleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** Returns the kind of a file with these first bytes. */
export function kindOfHead(head: Buffer): FileKind {
  if (head.length === 0) return 'empty';
  const text = head.toString('latin1');
  if (text.startsWith(SQLITE_HEADER)) return 'database';
  if (text.startsWith(ASCII_DUMP) || text.startsWith(BINARY_DUMP)) return 'gdbm-dump';
  if (head[0] === 0x1f && head[1] === 0x8b) return 'gzip';
  if (head.length >= 4) {
    const [native, foreign] = littleEndian
      ? [head.readUInt32LE(0), head.readUInt32BE(0)]
      : [head.readUInt32BE(0), head.readUInt32LE(0)];
    if (GDBM_MAGIC.has(native)) return 'gdbm';
    if (GDBM_MAGIC.has(foreign)) return 'foreign-gdbm';
  }
  return 'text';
}

/**
 * Resolves a path to a source. The path may name a file of any kind, a generations directory, or a data
 * directory. The source of a data directory is its generations, else its PRODUCTION.gdbm, else its
 * All-Templates.gz. If there is no file of that name, `PRODUCTION.gdbm` means the generations and
 * `WORKING.gdbm` the working store in the same directory, for commands written for the original programs
 * (G-140).
 *
 * @throws StorageError if the path does not exist or the directory has no source
 */
export async function locateSource(path: string): Promise<LocatedSource> {
  const located = (await locateFile(path)) ?? (await locateDirectory(path));
  if (located !== undefined) return located;
  if (basename(path) === PRODUCTION_FILE) {
    const generations = await locateGenerations(join(dirname(path), GENERATIONS_DIRECTORY));
    if (generations !== undefined) return generations;
  }
  const working = join(dirname(path), WORKING_DIRECTORY);
  if (basename(path) === WORKING_FILE && (await statIfExists(working))?.isDirectory() === true) {
    return { path: working, kind: 'working' };
  }
  throw new StorageError(`there is no ${path}`);
}

async function locateFile(path: string): Promise<LocatedSource | undefined> {
  const stats = await statIfExists(path);
  if (stats === undefined || stats.isDirectory()) return undefined;
  // Only a regular file can be read twice: the bytes of a pipe would be lost.
  if (!stats.isFile()) return { path, kind: 'text' };
  return { path, kind: kindOfHead(await readHead(path)) };
}

async function locateDirectory(path: string): Promise<LocatedSource | undefined> {
  const stats = await statIfExists(path);
  if (stats === undefined) return undefined;
  return (
    (await locateGenerations(join(path, GENERATIONS_DIRECTORY))) ??
    (await locateGenerations(path)) ??
    (await locateFile(join(path, PRODUCTION_FILE))) ??
    (await locateFile(join(path, TEMPLATES_FILE))) ??
    throwNoSource(path)
  );
}

async function locateGenerations(path: string): Promise<LocatedSource | undefined> {
  return (await currentGeneration(path)) === undefined ? undefined : { path, kind: 'generations' };
}

function throwNoSource(path: string): never {
  throw new StorageError(
    `${path} is a directory without generations, ${PRODUCTION_FILE} or ${TEMPLATES_FILE}`,
  );
}

async function readHead(path: string): Promise<Buffer> {
  try {
    await using file = await open(path);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } catch (cause) {
    throw new StorageError(`${path} cannot be read: ${errorCode(cause) ?? String(cause)}`, { cause });
  }
}
