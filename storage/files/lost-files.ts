// Which files of an open data directory its programs remove themselves, so that others that are gone were lost.
import { basename, dirname, join } from 'node:path';
import { exists } from './exists.js';
import { isKeptByLevel, isRotated, kindOf, unitOf } from './file-kinds.js';
import type { FoundFiles, ListedFiles } from './file-list.js';
import { readRegular } from './regular-file.js';

/** Tells which files the store in a directory needs now; undefined if that cannot be read. */
export type ReadLiveFiles = (directory: string) => Promise<LiveFiles | undefined>;

export interface LiveFiles {
  /** @param name within the directory of the store */
  needs(name: string): boolean;
}

/** Tells which listed files that were not found were lost. */
export class LostFiles {
  readonly #directory: string;
  readonly #files: ListedFiles;
  readonly #found: FoundFiles;
  /** What the stores need, each read once: after the files were found. */
  readonly #stores = new Map<string, Promise<LiveFiles | undefined>>();
  #byInode: Map<string, string[]> | undefined;

  readonly #readLive: ReadLiveFiles;

  /** @param found all files of the directory, or of those within it that have files that were not found */
  constructor(directory: string, files: ListedFiles, found: FoundFiles, readLive: ReadLiveFiles) {
    this.#readLive = readLive;
    this.#directory = directory;
    this.#files = files;
    this.#found = found;
  }

  async isLoss(name: string): Promise<boolean> {
    const kind = kindOf(name);
    if (kind === 'passing' || isRotated(name)) return false;
    if (kind === 'level') return isKeptByLevel(name) ? !this.#isSealed(name) : await this.isLive(name);
    const unit = unitOf(name);
    if (unit !== undefined && !(await isInUse(this.#directory, unit))) return false;
    return !this.#isMoved(name);
  }

  /** Whether the MANIFEST of an open store names a file. */
  async isLive(name: string): Promise<boolean> {
    const store = dirname(name);
    const live = this.#stores.get(store) ?? this.#readLive(join(this.#directory, store));
    this.#stores.set(store, live);
    return (await live)?.needs(basename(name)) === true;
  }

  /** A store that was closed has a seal instead of the lengths of its logs, and no lock in a copy. */
  #isSealed(name: string): boolean {
    return !/LOGIN-KEY$|CURRENT$/.test(name) && this.#found.has(name.replace(/[^/]*$/, 'SEAL'));
  }

  /** Whether a file has a longer name now: logs are rotated. Or a shorter one: files of an archive lose their `.open`. */
  #isMoved(name: string): boolean {
    const inode = this.#files.get(name)?.inode ?? '';
    return this.#namesOf(inode).some(
      (other) => (other.startsWith(name) || name === `${other}.open`) && !this.#files.has(other),
    );
  }

  #namesOf(inode: string): readonly string[] {
    if (this.#byInode === undefined) {
      this.#byInode = new Map();
      for (const [name, file] of this.#found) {
        const names = this.#byInode.get(file.inode);
        if (names === undefined) this.#byInode.set(file.inode, [name]);
        else names.push(name);
      }
    }
    return this.#byInode.get(inode) ?? [];
  }
}

/** Whether a unit was not removed as a whole. An index that CURRENT does not name may be removed at any time. */
async function isInUse(directory: string, unit: string): Promise<boolean> {
  if (!(await exists(join(directory, unit)))) return false;
  const [, number] = /^index\/(\d+)$/.exec(unit) ?? [];
  if (number === undefined) return true;
  const pointer = await readRegular(join(directory, 'index', 'CURRENT')).then(String, () => undefined);
  return pointer === undefined || !/^\d+\n$/.test(pointer) || pointer.trimEnd() === number;
}
