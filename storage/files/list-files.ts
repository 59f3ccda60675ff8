// Finds and sums the files of a data directory for its list (file-list.ts), and compares them with it.
import type { BigIntStats } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { errorCode, messageOf } from '../../protocols/errors.js';
import { ifPresent } from './exists.js';
import { LIST_FILE, type ListedFile, type ListedFiles, type ListState } from './file-list.js';
import { openRegular } from './regular-file.js';

/** A file that is not as it was listed. */
export interface ChangedFile {
  /** Its path within the directory. */
  readonly name: string;
  /** A clause: `is missing`. */
  readonly problem: string;
}

/** What processes have while they run, private copies of readers, drafts, and what systems and editors leave. */
const IGNORED =
  /^(?:readers|console\.json|lost\+found|Thumbs\.db|desktop\.ini)$|^\.|\.(?:tmp|old|withdrawn|part|new|pid|lock|socket|sock|dbtmp)$|\.sqlite-(?:wal|shm|journal)$|\.(?:repaired|damaged|check|probe)-/;
/** The text logs of LevelDB, which each opening replaces and which nothing reads. */
const LEVEL_LOG = /^(?:.*\/)?(?:store|working|\d+)\/LOG(?:\.old)?$/;
/** Logs, which programs beside the owner of the directory write too: they may have become longer. */
const GROWING = /^(?:[^/]+\/)?(?:[^/]*[^/\d][^/]*\.log|log\.[^/]+|[^/]+\.out|LOG)$/;
/** Configurations and scripts, which people edit. */
const EDITED = /\.(?:cf|conf|xml|sh|css|html?)$|^(?:RunGatherer|RunGatherd|RunBroker)$/;
/** Files that are written once: while the list is open, they are those that are listed, or gone. */
const FINAL =
  /^(?:generations|references)\/\d+\/|^crawl\/checkpoints\/|\.(?:ldb|sst)$|(?:^|\/)LOGIN-KEY$|\.w?arc(?:\.gz|\.zst)?$|\.cp\d+-\d+$/;
/** It is never made again, and nothing else misses it. */
const KEY = /^working\/LOGIN-KEY$/;

/** A clause about a file that is listed. */
export const MISSING = 'is missing';

/** A clause about a file that no program of the kit wrote. */
export const ADDED = 'was added: it is not in the list of files';

const PIECE_BYTES = 1 << 20;
/** Bytes that are read at the end of a program, the smallest files first: larger ones have checksums of their own. */
const MAX_SUMMED_BYTES = 1 << 30;
/** Files up to this size are always read, before a program starts, too. */
const SMALL_BYTES = 64 << 10;

/** The names of the regular files of a directory that a program of the kit would list, without those below it. */
export async function filesOf(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && !IGNORED.test(entry.name)).map(({ name }) => name);
}

interface FoundFile {
  readonly name: string;
  readonly status: BigIntStats;
}

/** The regular files below a directory that belong into its list, in no order. */
async function findFiles(directory: string, below = ''): Promise<FoundFile[]> {
  const found: FoundFile[] = [];
  const entries = (await ifPresent(readdir(join(directory, below), { withFileTypes: true }))) ?? [];
  for (const entry of entries) {
    if (IGNORED.test(entry.name) || (below === '' && entry.name === LIST_FILE)) continue;
    const name = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) found.push(...(await findFiles(directory, name)));
    else if (entry.isFile() && !LEVEL_LOG.test(name)) {
      const status = await ifPresent(stat(join(directory, name), { bigint: true }));
      if (status !== undefined) found.push({ name, status });
    }
  }
  return found;
}

/**
 * Lists the files of a directory that no program changes meanwhile.
 *
 * @param former a list of the directory: the sums of its unchanged files are taken over
 */
export async function listFiles(directory: string, former: ListedFiles): Promise<ListedFiles> {
  const found = await findFiles(directory);
  found.sort((a, b) => Number(a.status.size - b.status.size));
  const files = new Map<string, ListedFile>();
  /** Links to a file are read once. */
  const sums = new Map<string, number | undefined>();
  let bytes = 0;
  for (const { name, status } of found) {
    const file = factsOf(status);
    const known = former.get(name);
    const identity = `${status.dev}:${file.inode}`;
    if (known !== undefined && isUntouched(known, file)) sums.set(identity, known.crc32);
    if (!sums.has(identity)) {
      bytes += file.size;
      sums.set(identity, bytes > MAX_SUMMED_BYTES ? undefined : await crcOf(join(directory, name)));
    }
    files.set(name, { ...file, crc32: sums.get(identity) });
  }
  return files;
}

export interface CompareOptions {
  readonly state: ListState;
  /**
   * Before a program starts: files that are opened by a reader that compares their checksums are not read, unless they
   * were touched, and files that people edit are not compared. Default false.
   */
  readonly quick?: boolean;
  readonly onRead?: (bytes: number) => void;
  readonly signal?: AbortSignal | undefined;
}

/** Compares the files of a directory with its list. */
export async function compareFiles(
  directory: string,
  listed: ListedFiles,
  { state, quick = false, onRead, signal }: CompareOptions,
): Promise<ChangedFile[]> {
  const found = new Map((await findFiles(directory)).map(({ name, status }) => [name, factsOf(status)]));
  const changed: ChangedFile[] = [];
  const isClosed = state === 'closed';
  for (const [name, expected] of listed) {
    signal?.throwIfAborted();
    if (quick && EDITED.test(name)) continue;
    const file = found.get(name);
    if (file === undefined) {
      if (isClosed || KEY.test(name)) changed.push({ name, problem: MISSING });
      continue;
    }
    if (!isClosed && !FINAL.test(name)) continue;
    if (quick && isUntouched(expected, file) && file.size > SMALL_BYTES) continue;
    const problem = await compareFile(join(directory, name), expected, file, GROWING.test(name), onRead);
    if (problem !== undefined) changed.push({ name, problem });
  }
  if (isClosed) {
    for (const name of found.keys())
      if (!listed.has(name) && !GROWING.test(name) && !(quick && EDITED.test(name)))
        changed.push({ name, problem: ADDED });
  }
  return changed;
}

async function compareFile(
  path: string,
  expected: ListedFile,
  { size }: Pick<ListedFile, 'size'>,
  mayGrow: boolean,
  onRead?: (bytes: number) => void,
): Promise<string | undefined> {
  if (mayGrow ? size < expected.size : size !== expected.size)
    return `has ${size} bytes instead of ${expected.size}`;
  if (expected.crc32 === undefined) return undefined;
  try {
    const crc = await crcOf(path, expected.size, onRead);
    return crc === expected.crc32 ? undefined : 'is not as it was when the program ended';
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? MISSING : `cannot be read: ${messageOf(error)}`;
  }
}

function factsOf({ size, mtimeNs, ino }: BigIntStats): Omit<ListedFile, 'crc32'> {
  return { size: Number(size), mtimeNs: String(mtimeNs), inode: String(ino) };
}

function isUntouched(listed: ListedFile, file: Omit<ListedFile, 'crc32'>): boolean {
  return listed.size === file.size && listed.mtimeNs === file.mtimeNs && listed.inode === file.inode;
}

/** CRC-32 of the first bytes of a file. */
async function crcOf(path: string, length = Number.POSITIVE_INFINITY, onRead?: (bytes: number) => void) {
  await using file = await openRegular(path);
  const piece = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, Math.max(1, length)));
  let crc = 0;
  for (let done = 0; done < length; ) {
    const { bytesRead } = await file.read(piece, 0, Math.min(piece.length, length - done), done);
    if (bytesRead === 0) break;
    crc = crc32(piece.subarray(0, bytesRead), crc);
    done += bytesRead;
    onRead?.(bytesRead);
  }
  return crc;
}
