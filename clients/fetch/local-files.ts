// Reads files and directories of this machine, only below given roots.
import { constants, type Dirent, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, opendir, realpath } from 'node:fs/promises';
import { ConnectionError } from '../../protocols/errors.js';
import { answerOf, type BodyAnswer, bodyAnswer, collect, collectorFor, isSpooled } from './collected-body.js';
import { entryBytes, entryOfBytes } from './entry-names.js';
import { DEFAULT_MAX_BYTES, type FetchRequest } from './types.js';

/** A file or directory that was read, or the reason that it was not. */
export type LocalFile =
  | { readonly kind: 'file'; readonly stats: Stats; readonly content: BodyAnswer }
  | { readonly kind: 'unchanged'; readonly stats: Stats }
  | UnopenedFile;

/** A directory that was read, or the reason that it was not. */
export type UnopenedFile =
  | {
      readonly kind: 'directory';
      readonly stats: Stats;
      readonly entries: string[];
      readonly truncated: boolean;
      /** Hidden entries that are left out. */
      readonly hiddenEntries: number;
    }
  | { readonly kind: 'missing' }
  | {
      readonly kind: 'forbidden';
      /** Why, as words of a log. */
      readonly reason: string;
    };

/** Which files may be read. */
export interface LocalReach {
  /** Directories, and single files; symbolic links to elsewhere are not followed. */
  readonly roots: readonly string[];
  /** Whether hidden names and backups of editors below a root are left out; the root itself may be hidden. */
  readonly withoutHidden?: boolean | undefined;
}

/** Maximum number of names of one directory listing; the others are not read. */
const MAX_ENTRIES = 100_000;
/** Names that are read from the disk at a time. */
const READ_ENTRIES = 1000;
const READ_BYTES = 1024 * 1024;
/** Bytes of a long file that are read at a time. */
const COPY_BYTES = 256 * 1024;

const OUTSIDE = 'outside of the directories that the configuration names';
const HIDDEN = 'hidden, which the configuration leaves out';
/** Why a file is not one of those that a configuration asks for. */
export const OUT_OF_REACH: ReadonlySet<string> = new Set([OUTSIDE, HIDDEN]);
const NO_FILE = 'neither a file nor a directory';

/**
 * Reads the regular file or lists the directory at `path`. With symbolic links resolved it must be within reach. Anything else (devices, pipes, sockets) is forbidden.
 * @param path bytes, because file names need not be UTF-8
 * @param request a file of its `lastModified`, whole seconds, is not read; an older one may be another, or a clock was set back
 * @throws ConnectionError for failures of the disk
 */
export async function readLocal(path: Buffer, reach: LocalReach, request: FetchRequest): Promise<LocalFile> {
  try {
    const real = await realpath(path, { encoding: 'buffer' });
    const reason = await whyOutOfReach(real, reach);
    if (reason !== undefined) return { kind: 'forbidden', reason };
    const stats = await lstat(real);
    if (stats.isDirectory()) return await listDirectory(path, real, stats, reach, request.signal);
    if (!stats.isFile()) return { kind: 'forbidden', reason: NO_FILE };
    return await readRegular(real, request);
  } catch (error) {
    return kindOfError(error);
  }
}

/** An open file of {@link openLocal}, or the reason that it is not open. */
export type OpenedFile =
  | { readonly kind: 'file'; readonly stats: Stats; readonly file: FileHandle }
  | UnopenedFile;

/**
 * Like {@link readLocal}, but opens a regular file, for a reader of a part of it or one that streams. The caller
 * closes it.
 * @throws ConnectionError for failures of the disk
 */
export async function openLocal(path: Buffer, reach: LocalReach): Promise<OpenedFile> {
  try {
    const real = await realpath(path, { encoding: 'buffer' });
    const reason = await whyOutOfReach(real, reach);
    if (reason !== undefined) return { kind: 'forbidden', reason };
    const stats = await lstat(real);
    if (stats.isDirectory()) return await listDirectory(path, real, stats, reach, undefined);
    const file = await openRegular(real);
    return file === undefined
      ? { kind: 'forbidden', reason: NO_FILE }
      : { kind: 'file', stats: await file.stat(), file };
  } catch (error) {
    return kindOfError(error);
  }
}

/** Why a file cannot be used for a Local-Mapping. */
export interface NotMapped {
  readonly kind: 'not-mapped';
  /** The condition of G-75 that failed, as text. */
  readonly reason: string;
}

/**
 * Reads a file for a Local-Mapping. Directories, symbolic links and executables are not used (G-75).
 * @param root the file must be below this directory
 * @returns {@link NotMapped} if the mapping fails and the document has to be requested from the server
 */
export async function readMapped(
  path: string,
  root: string,
  request: FetchRequest,
): Promise<LocalFile | NotMapped> {
  try {
    const stats = await lstat(path);
    if (!stats.isFile()) return notMapped(`is ${describeKind(stats)}, not a regular file (G-75 b)`);
    if ((stats.mode & 0o111) !== 0) return notMapped('has execute bits set (G-75 c)');
    const real = await realpath(path, { encoding: 'buffer' });
    if ((await whyOutOfReach(real, { roots: [root] })) !== undefined)
      return notMapped(`is outside of ${root} (G-76)`);
    return await readRegular(real, request);
  } catch (error) {
    request.signal?.throwIfAborted();
    if (isSystemError(error)) return notMapped(`cannot be opened: ${error.code} (G-75 a)`);
    throw error;
  }
}

function notMapped(reason: string): NotMapped {
  return { kind: 'not-mapped', reason };
}

function describeKind(stats: Stats): string {
  if (stats.isDirectory()) return 'a directory';
  return stats.isSymbolicLink() ? 'a symbolic link' : 'a device, pipe or socket';
}

async function readRegular(path: Buffer, request: FetchRequest): Promise<LocalFile> {
  request.signal?.throwIfAborted();
  const handle = await openRegular(path);
  if (handle === undefined) return { kind: 'forbidden', reason: NO_FILE };
  try {
    const stats = await handle.stat();
    const known = request.headers?.lastModified;
    if (known !== undefined && Math.floor(stats.mtimeMs / 1000) === known)
      return { kind: 'unchanged', stats };
    const { maxBytes = DEFAULT_MAX_BYTES, signal } = request;
    if (stats.size > maxBytes && isSpooled(request))
      return { kind: 'file', stats, content: await copyToDisk(handle, stats.size, request) };
    const body = await readUpTo(handle, Math.min(stats.size, maxBytes), signal);
    return { kind: 'file', stats, content: await answerOf(body, stats.size > maxBytes, request) };
  } finally {
    await handle.close();
  }
}

/**
 * The file may have been replaced since the check: the flags refuse a link and do not wait for a pipe.
 * @returns undefined if it is not a regular file
 */
async function openRegular(path: Buffer): Promise<FileHandle | undefined> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if ((await handle.stat()).isFile()) return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  return undefined;
}

/** Reads a file that is too long for memory: an archive gets a copy, which does not change while it is written. */
async function copyToDisk(handle: FileHandle, size: number, request: FetchRequest): Promise<BodyAnswer> {
  const body = collectorFor(request);
  try {
    for (let at = 0; at < size && !body.truncated; ) {
      request.signal?.throwIfAborted();
      const piece = Buffer.allocUnsafeSlow(Math.min(COPY_BYTES, size - at));
      const { bytesRead } = await handle.read(piece, 0, piece.length, at);
      if (bytesRead === 0) break; // the file became shorter
      await collect(body, piece.subarray(0, bytesRead));
      at += bytesRead;
    }
    return await bodyAnswer(body, request);
  } catch (error) {
    await body.drop();
    throw error;
  }
}

async function readUpTo(
  handle: FileHandle,
  length: number,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  const body = new Uint8Array(length);
  let offset = 0;
  while (offset < length) {
    signal?.throwIfAborted();
    const { bytesRead } = await handle.read(body, offset, Math.min(READ_BYTES, length - offset), offset);
    if (bytesRead === 0) return body.slice(0, offset); // the file became shorter
    offset += bytesRead;
  }
  return body;
}

async function listDirectory(
  path: Buffer,
  real: Buffer,
  stats: Stats,
  reach: LocalReach,
  signal: AbortSignal | undefined,
): Promise<UnopenedFile> {
  const entries: string[] = [];
  let hiddenEntries = 0;
  let truncated = false;
  let ancestors: readonly Buffer[] | undefined;
  // A character stands for a byte here; readdir would hold all names, and replace those that are not UTF-8.
  for await (const entry of await opendir(real, { encoding: 'latin1', bufferSize: READ_ENTRIES })) {
    signal?.throwIfAborted();
    truncated = entries.length === MAX_ENTRIES;
    if (truncated) break;
    if (reach.withoutHidden === true && isHidden(entry.name)) {
      hiddenEntries++;
      continue;
    }
    const name = entryOfBytes(Buffer.from(entry.name, 'latin1'));
    if (entry.isSymbolicLink()) ancestors ??= await realAncestors(path);
    const kind = entry.isSymbolicLink()
      ? await kindOfTarget(real, name, reach, ancestors ?? [])
      : kindOf(entry);
    if (kind === 'hidden') hiddenEntries++;
    else if (kind !== undefined) entries.push(kind === 'directory' ? `${name}/` : name);
  }
  entries.sort((a, b) => (a < b ? -1 : 1));
  return { kind: 'directory', stats, entries, truncated, hiddenEntries };
}

function kindOf(entry: Dirent | Stats): 'file' | 'directory' | undefined {
  if (entry.isFile()) return 'file';
  return entry.isDirectory() ? 'directory' : undefined;
}

/** A directory and the directories that its path leads through, with symbolic links resolved. */
async function realAncestors(path: Buffer): Promise<readonly Buffer[]> {
  const found: Buffer[] = [];
  let prefix = path;
  for (;;) {
    found.push(await realpath(prefix.length === 0 ? '/' : prefix, { encoding: 'buffer' }));
    const slash = prefix.lastIndexOf(0x2f);
    if (slash < 0 || prefix.length === 0) return found;
    prefix = prefix.subarray(0, slash);
  }
}

/**
 * The kind of a link's target, if the target may be read. A link to a directory that the path leads through
 * is left out, because it would make the listing endless.
 */
async function kindOfTarget(
  directory: Buffer,
  name: string,
  reach: LocalReach,
  ancestors: readonly Buffer[],
): Promise<'file' | 'directory' | 'hidden' | undefined> {
  try {
    const path = Buffer.concat([directory, Buffer.from('/'), entryBytes(name)]);
    const real = await realpath(path, { encoding: 'buffer' });
    const reason = await whyOutOfReach(real, reach);
    if (reason === HIDDEN) return 'hidden';
    if (reason !== undefined || ancestors.some((ancestor) => ancestor.equals(real))) return undefined;
    return kindOf(await lstat(real));
  } catch (error) {
    if (isSystemError(error)) return undefined; // a dangling link
    throw error;
  }
}

/** Why a path without symbolic links may not be read; undefined if it may, below one of the roots. */
async function whyOutOfReach(
  real: Buffer,
  { roots, withoutHidden }: LocalReach,
): Promise<string | undefined> {
  let reason: string = OUTSIDE;
  for (const root of roots) {
    const realRoot = await realpath(root, { encoding: 'buffer' }).catch(() => undefined);
    if (realRoot === undefined || !isBelow(real, realRoot)) continue;
    if (withoutHidden !== true) return undefined;
    const names = real.toString('latin1', realRoot.length).split('/');
    if (!names.some(isHidden)) return undefined;
    reason = HIDDEN;
  }
  return reason;
}

/** Names of hidden files, and of the copies that editors make. @param name with a character for each byte */
function isHidden(name: string): boolean {
  return (
    name.startsWith('.') ||
    name.endsWith('~') ||
    (name.length > 2 && name.startsWith('#') && name.endsWith('#'))
  );
}

function isBelow(path: Buffer, root: Buffer): boolean {
  if (root.length === 1) return true; // `/`
  if (path.length < root.length || path.compare(root, 0, root.length, 0, root.length) !== 0) return false;
  return path.length === root.length || path[root.length] === 0x2f;
}

const MISSING = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG']);
const FORBIDDEN = new Set(['EACCES', 'EPERM', 'ELOOP', 'ENXIO']);

function kindOfError(error: unknown): UnopenedFile {
  if (!isSystemError(error)) throw error;
  if (MISSING.has(error.code)) return { kind: 'missing' };
  if (FORBIDDEN.has(error.code)) return { kind: 'forbidden', reason: 'permission denied' };
  throw new ConnectionError(`the file cannot be read: ${error.code}`, { cause: error });
}

function isSystemError(error: unknown): error is Error & { code: string } {
  return error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string';
}
