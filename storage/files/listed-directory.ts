import { join } from 'node:path';
import { messageOf } from '../../protocols/errors.js';
import { Mutex } from '../../protocols/mutex.js';
import { exists } from './exists.js';
import { LIST_FILE } from './file-kinds.js';
import { type ListedFile, type ListedFiles, readFileList, writeFileList } from './file-list.js';
import { type ChangedFile, compareFiles, listFiles, WHOLE } from './list-files.js';
import type { ReadLiveFiles } from './lost-files.js';
import { WatchedFiles } from './watched-files.js';

/** The file that a sentence is about. */
export interface ReportedFile {
  /** Its path within the directory. */
  readonly name: string;
  /** Whether it is as it was listed again. */
  readonly isWhole: boolean;
}

/** A directory that was deleted in part has many files that are missing. */
const MAX_SENTENCES = 20;
/** Milliseconds between two looks at the files while a program runs. */
const LOOK_MS = 2000;
/** A look is followed by a pause of at least so many times its time; large directories are read more rarely. */
const LOOK_SHARE = 20;

/**
 * The list of the files of a data directory, from the start of the program that owns it to its end: compares the files
 * with it, looks at them while the program runs, and seals it again.
 */
export class ListedDirectory implements AsyncDisposable {
  readonly #directory: string;
  /** As it was read. */
  readonly #listed: ListedFiles;
  /** Without those that were not as they were listed. */
  readonly #files: ListedFiles;
  readonly #report: (sentence: string, file?: ReportedFile) => void;
  readonly #readLive: ReadLiveFiles;
  readonly #mutex = new Mutex();
  #watched: WatchedFiles | undefined;
  #timer: NodeJS.Timeout | undefined;
  #sentences = 0;

  private constructor(
    directory: string,
    listed: ListedFiles,
    files: ListedFiles,
    report: (sentence: string, file?: ReportedFile) => void,
    readLive: ReadLiveFiles,
  ) {
    this.#readLive = readLive;
    this.#directory = directory;
    this.#listed = listed;
    this.#files = files;
    this.#report = report;
  }

  /**
   * Compares the files of a directory with its list, before anything of it is opened. A directory without one gets a
   * list; it was made by an earlier version.
   *
   * @param report receives sentences, also while the program runs
   * @param readLive which files its stores need
   */
  static async open(
    directory: string,
    report: (sentence: string, file?: ReportedFile) => void,
    readLive: ReadLiveFiles,
  ): Promise<ListedDirectory> {
    const list = await readFileList(directory);
    const path = join(directory, LIST_FILE);
    if (list === undefined || typeof list === 'string') {
      const isUsed = await hasStore(directory);
      if (typeof list === 'string') report(`${path} ${list}; it is written again`);
      else if (isUsed)
        report(`${path} is missing, as in the data of an earlier version; it is written again`);
      const files: ListedFiles = new Map();
      await writeFileList(directory, { state: 'active', files }).catch((error: unknown) =>
        report(`${path} cannot be written: ${messageOf(error)}`),
      );
      return new ListedDirectory(directory, files, files, report, readLive);
    }
    const changed = await compareFiles(directory, list, { quick: true, readLive });
    const files = new Map(list.files);
    const opened = new ListedDirectory(directory, list.files, files, report, readLive);
    opened.#say(changed);
    for (const { name } of changed) files.delete(name);
    return opened;
  }

  /**
   * Notes that the files change from now on, and forgets those that were not as they were listed: they were reported.
   * Until then a failure leaves the list as it was. From now on {@link look} is called from time to time.
   */
  async start(): Promise<void> {
    this.#watched = new WatchedFiles(this.#directory, this.#listed, this.#files, this.#readLive);
    await this.look();
    this.#wait(LOOK_MS);
  }

  #wait(ms: number): void {
    this.#timer = setTimeout(async () => {
      const begin = performance.now();
      await this.#look(false);
      if (this.#timer !== undefined) this.#wait(Math.max(LOOK_MS, LOOK_SHARE * (performance.now() - begin)));
    }, ms).unref();
  }

  /** Notes what programs made, and reports what they did not. On a full disk, or without rights, later. */
  look(): Promise<void> {
    return this.#look(true);
  }

  async #look(all: boolean): Promise<void> {
    await this.#mutex.runExclusive(async () => {
      this.#say((await this.#watched?.look(all).catch(() => undefined)) ?? []);
    });
  }

  #say(changed: readonly ChangedFile[]): void {
    for (const { name, problem } of changed) {
      this.#sentences++;
      const file = { name, isWhole: problem === WHOLE };
      if (this.#sentences <= MAX_SENTENCES || file.isWhole)
        this.#report(`${join(this.#directory, name)} ${problem}`, file);
      else if (this.#sentences === MAX_SENTENCES + 1)
        this.#report(`further files of ${this.#directory} are not as they were listed`);
    }
  }

  /**
   * Seals the list. The caller has closed all files. A file that was found to be damaged stays as it was, so that a
   * check names it. On a full disk the list stays open.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.look();
    const watched = this.#watched;
    if (watched !== undefined) await watched.seal((changed) => this.#say(changed)).catch(() => undefined);
  }
}

/** Whether a program has used a directory: logs may be open before its store. */
async function hasStore(directory: string): Promise<boolean> {
  for (const store of ['working/CURRENT', 'working/STORE-URL', 'store/CURRENT'])
    if (await exists(join(directory, store))) return true;
  return false;
}

/** Lists the files of a directory that no program has open. @throws system errors */
export async function sealFiles(
  directory: string,
  former: ReadonlyMap<string, ListedFile> = new Map(),
): Promise<void> {
  await writeFileList(directory, { state: 'closed', files: await listFiles(directory, former) });
}
