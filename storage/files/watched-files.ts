// The files of a data directory while its program runs: what it makes is noted in the list, and what is lost, changed
// or added by others is found.
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  growsInLevel,
  isFinal,
  isForeign,
  isIgnored,
  isIndexSums,
  isTable,
  kindOf,
  LIST_FILE,
  mayGrow,
  Units,
} from './file-kinds.js';
import {
  appendNotes,
  type FileFacts,
  type FoundFiles,
  formatNote,
  formatRemoval,
  isEqual,
  isUntouched,
  type ListedFile,
  type ListedFiles,
  NoteReader,
  readFileList,
  stateInFile,
  writeFileList,
} from './file-list.js';
import { crcOfFile } from './file-sum.js';
import {
  ADDED,
  type ChangedFile,
  compareFile,
  findFiles,
  findTopFiles,
  listFiles,
  MISSING,
  WHOLE,
} from './list-files.js';
import { LostFiles, type ReadLiveFiles } from './lost-files.js';
import { Pace } from './pace.js';

/** Larger files are compared by their size, and by their own checksums. */
const MAX_SUMMED_BYTES = 16 << 20;
/** Notes after which the list is written anew. */
const MAX_NOTES_BYTES = 256 << 10;
/** A directory is read again after this many times the time that it took. */
const ROOM_SHARE = 200;

export class WatchedFiles {
  readonly #directory: string;
  readonly #now: () => number;
  readonly #readLive: ReadLiveFiles;
  readonly #files: Map<string, ListedFile>;
  /** The list as it was read before the first look. */
  readonly #listed: ListedFiles;
  /** As they were listed, of files that were found to be missing or changed; undefined for those that were added. */
  readonly #damaged = new Map<string, ListedFile | undefined>();
  /** What they were when they were compared last. */
  readonly #compared = new Map<string, FileFacts | undefined>();
  /** Files that were found once, and not summed yet. */
  readonly #drafts = new Map<string, FileFacts>();
  readonly #reader: NoteReader;
  /** Bytes of the list that were read. */
  #read = 0;
  /** Bytes of the list when it was written; 0 before. */
  #written = 0;
  /** Where its notes begin. */
  #notes = 0;
  #isFirst = true;
  /** When the directories within are read again; milliseconds. */
  readonly #due = new Map<string, number>();

  /**
   * @param listed the list as it was read
   * @param files the same without what is not as it was listed
   * @param now milliseconds
   */
  constructor(
    directory: string,
    listed: ListedFiles,
    files: ListedFiles,
    readLive: ReadLiveFiles,
    now = () => performance.now(),
  ) {
    this.#readLive = readLive;
    this.#now = now;
    this.#directory = directory;
    this.#listed = listed;
    this.#files = new Map(files);
    this.#reader = new NoteReader(this.#files);
  }

  /**
   * Notes what is new. Returns what was found since the last call.
   *
   * @param all also read the directories whose turn has not come; default: as often as they are small
   * @throws system errors
   */
  async look(all = false): Promise<ChangedFile[]> {
    const changed: ChangedFile[] = [];
    if (this.#written === 0) await this.#takeEarlyNotes();
    if (this.#written === 0 || this.#read - this.#written > Math.max(MAX_NOTES_BYTES, this.#written))
      await this.#write();
    const state = await stateInFile(this.#directory);
    if (state !== 'active') {
      // Another program, or a full disk: its changes are not noted.
      if (state === 'opened') await this.#forgetChanged(await findFiles(this.#directory));
      else changed.push({ name: LIST_FILE, problem: state === 'absent' ? MISSING : 'was changed' });
      await this.#write();
    }
    this.#reader.changed.clear();
    const { found, waiting } = await this.#find(all);
    // Whatever was replaced before the files were found has its note.
    await this.#readNotes();
    let notes = '';
    const pace = new Pace();
    const units = new Units(this.#files);
    const lost = new LostFiles(this.#directory, this.#files, found, this.#readLive);
    const isSame = (name: string): boolean =>
      !this.#reader.changed.has(name) && !this.#reader.pending.has(name) && !this.#damaged.has(name);
    for (const name of this.#files.keys()) {
      if (pace.isOver) await pace.yield();
      if (found.has(name) || waiting.some((room) => name.startsWith(room)) || !isSame(name)) continue;
      if (await lost.isLoss(name)) changed.push(this.#damage(name, MISSING));
      else {
        notes += formatRemoval(name);
        this.#files.delete(name);
      }
    }
    for (const [name, { device: _, ...file }] of found) {
      if (pace.isOver) await pace.yield();
      if (!isSame(name)) continue;
      const listed = this.#files.get(name);
      if (listed === undefined && !this.#isFirst && isForeign(name, units)) {
        this.#damaged.set(name, undefined);
        changed.push({ name, problem: ADDED });
        continue;
      }
      const problem = await this.#problemOf(name, listed, file);
      if (problem !== undefined && isSame(name)) changed.push(this.#damage(name, problem));
      else {
        const next = await this.#next(name, listed, file, lost);
        if (next === listed || next === undefined) continue;
        notes += formatNote('=', name, next);
        this.#files.set(name, next);
      }
    }
    for (const name of await this.#repaired(found, waiting, lost)) {
      this.#damaged.delete(name);
      this.#compared.delete(name);
      if (!found.has(name)) {
        notes += formatRemoval(name);
        this.#files.delete(name);
      }
      changed.push({ name, problem: WHOLE });
    }
    this.#isFirst = false;
    if (notes !== '') await appendNotes(this.#directory, notes, this.#notes);
    return changed;
  }

  /**
   * Finds the files, those of a directory with many of them only in a small part of the time.
   *
   * @returns also the beginnings of the names that were left out
   */
  async #find(all: boolean): Promise<{ readonly found: FoundFiles; readonly waiting: readonly string[] }> {
    const found = new Map(await findTopFiles(this.#directory));
    const waiting: string[] = [];
    for (const entry of await readdir(this.#directory, { withFileTypes: true })) {
      const { name } = entry;
      if (!entry.isDirectory() || isIgnored(name)) continue;
      const begin = this.#now();
      if (!all && begin < (this.#due.get(name) ?? 0)) {
        waiting.push(`${name}/`);
        continue;
      }
      const pace = new Pace();
      for (const [path, facts] of await findFiles(this.#directory, name)) {
        if (pace.isOver) await pace.yield();
        found.set(path, facts);
      }
      const end = this.#now();
      this.#due.set(name, end + ROOM_SHARE * (end - begin));
    }
    return { found, waiting };
  }

  /** What this program has noted between the reading of an active list, which a killed one left, and now. */
  async #takeEarlyNotes(): Promise<void> {
    const list = await readFileList(this.#directory);
    if (typeof list !== 'object') return;
    for (const [name, file] of list.files)
      if (!isEqual(file, this.#listed.get(name))) this.#files.set(name, file);
  }

  /** What files are that have changed without a note is found later. */
  async #forgetChanged(found: ReadonlyMap<string, FileFacts>): Promise<void> {
    const pace = new Pace();
    for (const [name, listed] of this.#files) {
      if (pace.isOver) await pace.yield();
      const file = found.get(name);
      if (this.#damaged.has(name)) continue;
      // Of those only this one is removed.
      if (file === undefined && isIndexSums(name)) this.#files.delete(name);
      if (file === undefined || isUntouched(listed, file)) continue;
      this.#files.set(name, { size: 0, crc32: undefined, mtimeNs: '0', inode: file.inode });
    }
  }

  /** The files that are as they were listed again, or that were removed and are not needed. */
  async #repaired(found: FoundFiles, waiting: readonly string[], lost: LostFiles): Promise<string[]> {
    const names: string[] = [];
    for (const [name, listed] of this.#damaged) {
      if (waiting.some((room) => name.startsWith(room))) continue;
      const file = found.get(name);
      if (file === undefined) {
        this.#compared.delete(name);
        if (listed === undefined || (isTable(name) && !(await lost.isLive(name)))) names.push(name);
        continue;
      }
      const former = this.#compared.get(name);
      if (listed === undefined || (former !== undefined && isUntouched(former, file))) continue;
      this.#compared.set(name, file);
      // Of some files only the name is known.
      const isKnown = listed.mtimeNs !== '0';
      const path = join(this.#directory, name);
      if (!isKnown || (await compareFile(path, listed, growsInLevel(name))) === undefined) names.push(name);
    }
    return names;
  }

  #damage(name: string, problem: string): ChangedFile {
    this.#damaged.set(name, this.#files.get(name));
    return { name, problem };
  }

  /** A clause about a file that its program does not change so. */
  async #problemOf(
    name: string,
    listed: ListedFile | undefined,
    file: FileFacts,
  ): Promise<string | undefined> {
    if (listed === undefined || listed.mtimeNs === '0' || isUntouched(listed, file)) return undefined;
    const kind = kindOf(name);
    // LevelDB appends to it.
    if (growsInLevel(name)) {
      const problem = await compareFile(join(this.#directory, name), listed, true);
      return problem === MISSING ? undefined : problem;
    }
    if (kind !== 'replaced' && !isFinal(name) && !this.#reader.replaced.has(name)) return undefined;
    if (kind === 'growing' || (kind === 'level' && !isTable(name))) return undefined;
    const problem = await compareFile(join(this.#directory, name), listed, false);
    return problem === MISSING && kind === 'level' ? undefined : problem;
  }

  /** What the list says of a file from now on. */
  async #next(
    name: string,
    listed: ListedFile | undefined,
    file: FileFacts,
    lost: LostFiles,
  ): Promise<ListedFile | undefined> {
    const kind = kindOf(name);
    const path = join(this.#directory, name);
    if (growsInLevel(name) && (listed === undefined || !isUntouched(listed, file)))
      return await this.#grown(path, listed, file);
    // A table is complete as soon as the MANIFEST names it.
    const isWhole = isTable(name) && (await lost.isLive(name));
    if ((kind === 'level' && !isWhole) || kind === 'passing')
      return listed ?? { size: 0, crc32: undefined, mtimeNs: '0', inode: file.inode };
    if (listed !== undefined && isUntouched(listed, file)) return listed;
    if (kind === 'growing') return await this.#grown(path, listed, file);
    // A file that is being written is compared from the second time on that it is the same.
    const draft = this.#drafts.get(name);
    if (draft === undefined || !isUntouched(draft, file)) {
      this.#drafts.set(name, file);
      return listed?.mtimeNs === '0'
        ? listed
        : { size: 0, crc32: undefined, mtimeNs: '0', inode: file.inode };
    }
    this.#drafts.delete(name);
    return {
      ...file,
      crc32: file.size > MAX_SUMMED_BYTES ? undefined : await crcOfFile(path, { to: file.size }),
    };
  }

  async #grown(path: string, listed: ListedFile | undefined, file: FileFacts): Promise<ListedFile> {
    const isLonger =
      listed !== undefined &&
      listed.mtimeNs !== '0' &&
      listed.inode === file.inode &&
      file.size >= listed.size;
    const from = isLonger && listed.crc32 !== undefined ? listed.size : 0;
    if (file.size - from > MAX_SUMMED_BYTES || (isLonger && listed.crc32 === undefined))
      return { ...file, crc32: undefined };
    const crc = await crcOfFile(path, { from, to: file.size, before: from === 0 ? 0 : (listed?.crc32 ?? 0) });
    return { ...file, crc32: crc };
  }

  async #write(): Promise<void> {
    const { size, notes } = await writeFileList(this.#directory, { state: 'active', files: this.#files });
    this.#written = size;
    this.#notes = notes;
    this.#read = size;
  }

  /** Applies what this process and others noted. */
  async #readNotes(): Promise<void> {
    await using file = await open(join(this.#directory, LIST_FILE), 'r');
    const { size } = await file.stat();
    if (size <= this.#read) return;
    const bytes = Buffer.alloc(size - this.#read);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, this.#read);
    const end = bytes.subarray(0, bytesRead).lastIndexOf(0x0a) + 1;
    this.#reader.push(bytes.toString('utf8', 0, end));
    this.#read += end;
  }

  /** Seals the list; files that were found to be damaged stay as they were listed. @throws system errors */
  async seal(report: (changed: readonly ChangedFile[]) => void): Promise<void> {
    const files = await listFiles(this.#directory, this.#files);
    for (const [name, listed] of this.#files) {
      const file = files.get(name);
      // The beginning of a log is as it was.
      if (!mayGrow(name) || file === undefined || listed.crc32 === undefined || isUntouched(listed, file))
        continue;
      if (this.#damaged.has(name) || file.size < listed.size) continue;
      const problem = await compareFile(join(this.#directory, name), listed, true);
      if (problem === undefined) continue;
      report([{ name, problem }]);
      this.#damaged.set(name, listed);
    }
    const lost = new LostFiles(this.#directory, this.#files, new Map(), this.#readLive);
    for (const [name, listed] of this.#damaged) {
      const isGone = kindOf(name) === 'level' && !files.has(name) && !(await lost.isLive(name));
      if (listed === undefined || isGone) files.delete(name);
      else files.set(name, listed);
    }
    await writeFileList(this.#directory, { state: 'closed', files });
  }
}
