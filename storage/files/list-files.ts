// Finds and sums the files of a data directory for its list (file-list.ts), and compares them with it.
import type { BigIntStats } from 'node:fs';
import { lstat, opendir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, messageOf } from '../../protocols/errors.js';
import { ifPresent } from './exists.js';
import {
  growsInLevel,
  isEdited,
  isFinal,
  isForeign,
  isIgnored,
  isKey,
  isUnlisted,
  kindOf,
  LIST_FILE,
  mayGrow,
  Units,
} from './file-kinds.js';
import {
  type FileFacts,
  type FileList,
  type FoundFiles,
  isUntouched,
  type ListedFile,
  type ListedFiles,
  type ListNotes,
} from './file-list.js';
import { crcOfFile } from './file-sum.js';
import { LostFiles, type ReadLiveFiles } from './lost-files.js';

/** A file that is not as it was listed. */
export interface ChangedFile {
  /** Its path within the directory. */
  readonly name: string;
  /** A clause: `is missing`. */
  readonly problem: string;
}

/** A clause about a file that was not as it was listed, and is so again, or that its store does not need any more. */
export const WHOLE = 'is whole again';

/** A clause about a file that is listed. */
export const MISSING = 'is missing';

/** A clause about a file that no program of the kit wrote. */
export const ADDED = 'was added: it is not in the list of files';

const OTHER_CONTENT = 'is not as it was written';

/** Bytes that are read at the end of a program, the smallest files first: larger ones have checksums of their own. */
const MAX_SUMMED_BYTES = 1 << 30;
/** Files up to this size are always read, before a program starts, too. */
const SMALL_BYTES = 64 << 10;
/** Of the small files that never change so many are read before a program starts: an archive may have many. */
const MAX_FINAL_FILES = 2000;

/** Entries of a directory that are read at once. */
const ENTRIES = 512;

const NOTHING_LIVE: ReadLiveFiles = () => Promise.resolve(undefined);

/** What a lock of LevelDB is. */
const EMPTY: ListedFile = { size: 0, crc32: 0, mtimeNs: '', inode: '' };

/** The names of the regular files of a directory that a program of the kit would list, without those below it. */
export async function filesOf(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && !isIgnored(entry.name)).map(({ name }) => name);
}

/** The regular files below a directory that belong into its list, in no order. */
export async function findFiles(directory: string, below = ''): Promise<FoundFiles> {
  const found = new Map<string, FileFacts & { readonly device: string }>();
  await findInto(found, directory, below);
  return found;
}

async function findInto(
  found: Map<string, FileFacts & { readonly device: string }>,
  directory: string,
  below: string,
  isDeep = true,
): Promise<void> {
  const opened = await ifPresent(opendir(join(directory, below), { bufferSize: ENTRIES }));
  if (opened === undefined) return;
  for await (const entry of opened) {
    const name = below === '' ? entry.name : `${below}/${entry.name}`;
    if (isIgnored(entry.name) || isUnlisted(name)) continue;
    if (entry.isDirectory()) {
      if (isDeep) await findInto(found, directory, name);
    } else if (entry.isFile()) {
      const status = await ifPresent(stat(join(directory, name), { bigint: true }));
      if (status !== undefined) found.set(name, { ...factsOf(status), device: String(status.dev) });
    }
  }
}

/** The regular files of a directory, without those below it, that belong into its list. */
export async function findTopFiles(directory: string): Promise<FoundFiles> {
  const found = new Map<string, FileFacts & { readonly device: string }>();
  await findInto(found, directory, '', false);
  return found;
}

/**
 * Lists the files of a directory that no program changes meanwhile.
 *
 * @param former a list of the directory: the sums of its unchanged files are taken over
 */
export async function listFiles(directory: string, former: ListedFiles): Promise<Map<string, ListedFile>> {
  const found = [...(await findFiles(directory))];
  found.sort(([, a], [, b]) => a.size - b.size);
  const files = new Map<string, ListedFile>();
  /** Links to a file are read once. */
  const sums = new Map<string, number | undefined>();
  let bytes = 0;
  for (const [name, { device, ...file }] of found) {
    const known = former.get(name);
    const identity = `${device}:${file.inode}`;
    if (known?.crc32 !== undefined && isUntouched(known, file)) sums.set(identity, known.crc32);
    if (!sums.has(identity)) {
      bytes += file.size;
      sums.set(identity, bytes > MAX_SUMMED_BYTES ? undefined : await crcOfFile(join(directory, name)));
    }
    files.set(name, { ...file, crc32: sums.get(identity) });
  }
  return files;
}

export interface CompareOptions {
  /**
   * Before a program starts: files that are opened by a reader that compares their checksums are not read, unless they
   * were touched, and files that people edit are not compared. Default false.
   */
  readonly quick?: boolean;
  readonly onRead?: (bytes: number) => void;
  readonly signal?: AbortSignal | undefined;
  /** Of an open list: without it the files of stores are not missed. */
  readonly readLive?: ReadLiveFiles | undefined;
}

/** Compares the files of a directory with its list. */
export async function compareFiles(
  directory: string,
  list: FileList,
  options: CompareOptions = {},
): Promise<ChangedFile[]> {
  const comparison = new Comparison(directory, list, await findFiles(directory), options);
  return list.state === 'closed' ? await comparison.closed() : await comparison.opened();
}

class Comparison {
  readonly #directory: string;
  readonly #files: ListedFiles;
  readonly #notes: ListNotes | undefined;
  readonly #found: FoundFiles;
  readonly #options: CompareOptions;
  readonly #changed: ChangedFile[] = [];
  #finalFiles = 0;

  constructor(directory: string, { files, notes }: FileList, found: FoundFiles, options: CompareOptions) {
    this.#directory = directory;
    this.#files = files;
    this.#notes = notes;
    this.#found = found;
    this.#options = options;
  }

  /** No program had the directory since the list was sealed. */
  async closed(): Promise<ChangedFile[]> {
    for (const [name, expected, file] of this.#listed()) {
      if (file === undefined) await this.#miss(name);
      else if (!this.#isSkipped(name, expected, file)) await this.#compare(name, [expected], mayGrow(name));
    }
    for (const name of this.#found.keys())
      if (!this.#files.has(name) && !mayGrow(name) && !this.#isEdited(name)) this.#add(name, ADDED);
    return this.#changed;
  }

  /** A program has the directory, or was killed: what it noted is there. */
  async opened(): Promise<ChangedFile[]> {
    const notes = this.#notes;
    const lost = new LostFiles(
      this.#directory,
      this.#files,
      this.#found,
      this.#options.readLive ?? NOTHING_LIVE,
    );
    if (notes?.torn === true) this.#add(LIST_FILE, 'was cut off within its last line');
    for (const [name, expected, file] of this.#listed()) {
      if (file === undefined) {
        const isMissed = notes === undefined ? isKey(name) : await lost.isLoss(name);
        if (isMissed && !notes?.pending.has(name)) await this.#miss(name);
        continue;
      }
      const versions = this.#versions(name, expected, file);
      if (versions.length === 0 || this.#isSkipped(name, expected, file)) continue;
      await this.#compare(name, versions, kindOf(name) === 'growing' || growsInLevel(name));
    }
    if (notes !== undefined) {
      const units = new Units(this.#files);
      for (const name of this.#found.keys())
        if (!this.#files.has(name) && !notes.pending.has(name) && isForeign(name, units))
          this.#add(name, ADDED);
    }
    return this.#changed;
  }

  *#listed(): Generator<[string, ListedFile, FileFacts | undefined]> {
    for (const [name, expected] of this.#files) {
      this.#options.signal?.throwIfAborted();
      if (!this.#isEdited(name)) yield [name, expected, this.#found.get(name)];
    }
  }

  #isEdited(name: string): boolean {
    return this.#options.quick === true && isEdited(name);
  }

  #isSkipped(name: string, expected: ListedFile, file: FileFacts): boolean {
    if (this.#options.quick !== true || !isUntouched(expected, file)) return false;
    return file.size > SMALL_BYTES || (isFinal(name) && ++this.#finalFiles > MAX_FINAL_FILES);
  }

  /** What a file of an open list may be; nothing if it may be anything. */
  #versions(name: string, expected: ListedFile, file: FileFacts): readonly ListedFile[] {
    const kind = kindOf(name);
    const notes = this.#notes;
    if (notes !== undefined && /\/LOCK$/.test(name)) return [EMPTY];
    if (expected.mtimeNs === '0') return [];
    if (isFinal(name)) return [expected];
    if (notes === undefined) return [];
    // After a power failure the notes may be older than the files.
    if (!notes.sameBoot) return [];
    const pending = notes.pending.get(name);
    if (kind === 'replaced' || notes.replaced.has(name))
      return pending === undefined ? [expected] : [expected, pending];
    if (kind === 'growing' || kind === 'edited' || growsInLevel(name)) return [expected];
    if (kind === 'level' || kind === 'passing') return [];
    // It may have been written after it was found, but not without a new time.
    return file.mtimeNs === expected.mtimeNs && file.inode === expected.inode ? [expected] : [];
  }

  async #miss(name: string): Promise<void> {
    const entry = await lstat(join(this.#directory, name)).catch(() => undefined);
    this.#add(name, entry === undefined ? MISSING : 'is not a regular file');
  }

  async #compare(name: string, versions: readonly ListedFile[], grows: boolean): Promise<void> {
    const path = join(this.#directory, name);
    let problem: string | undefined;
    for (const version of versions) {
      problem = await compareFile(path, version, grows, this.#options.onRead);
      if (problem === undefined) return;
    }
    if (problem !== undefined) this.#add(name, problem);
  }

  #add(name: string, problem: string): void {
    this.#changed.push({ name, problem });
  }
}

/** A clause about a file that is not as it was listed; undefined if it is. @param grows whether it may be longer */
export async function compareFile(
  path: string,
  expected: Pick<ListedFile, 'size' | 'crc32'>,
  grows: boolean,
  onRead?: (bytes: number) => void,
): Promise<string | undefined> {
  try {
    const { size } = await stat(path);
    if (grows ? size < expected.size : size !== expected.size)
      return `has ${size} bytes instead of ${expected.size}`;
    if (expected.crc32 === undefined) return undefined;
    const crc = await crcOfFile(path, { to: expected.size, onRead });
    return crc === expected.crc32 ? undefined : OTHER_CONTENT;
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? MISSING : `cannot be read: ${messageOf(error)}`;
  }
}

function factsOf({ size, mtimeNs, ino }: BigIntStats): FileFacts {
  return { size: Number(size), mtimeNs: String(mtimeNs), inode: String(ino) };
}
