import { join } from 'node:path';
import { messageOf } from '../../protocols/errors.js';
import { exists } from './exists.js';
import { LIST_FILE, type ListedFile, type ListedFiles, readFileList, writeFileList } from './file-list.js';
import { compareFiles, listFiles } from './list-files.js';

/** A directory that was deleted in part has many files that are missing. */
const MAX_SENTENCES = 20;

/**
 * The list of the files of a data directory, from the start of the program that owns it to its end: compares the files
 * with it, notes that they change, and seals it again.
 */
export class ListedDirectory implements AsyncDisposable {
  readonly #directory: string;
  readonly #files: Map<string, ListedFile>;
  #started = false;

  private constructor(directory: string, files: ListedFiles) {
    this.#directory = directory;
    this.#files = new Map(files);
  }

  /**
   * Compares the files of a directory with its list, before anything of it is opened. A directory without one gets a
   * list; it was made by an earlier version.
   *
   * @param report receives sentences
   */
  static async open(directory: string, report: (sentence: string) => void): Promise<ListedDirectory> {
    const list = await readFileList(directory);
    const path = join(directory, LIST_FILE);
    if (list === undefined || typeof list === 'string') {
      const isUsed = await hasStore(directory);
      if (typeof list === 'string') report(`${path} ${list}; it is written again`);
      else if (isUsed)
        report(`${path} is missing, as in the data of an earlier version; it is written again`);
      const files: ListedFiles = new Map();
      await writeFileList(directory, { state: 'opened', files }).catch((error: unknown) =>
        report(`${path} cannot be written: ${messageOf(error)}`),
      );
      return new ListedDirectory(directory, files);
    }
    const { state, files } = list;
    const changed = await compareFiles(directory, files, { state, quick: true });
    for (const { name, problem } of changed.slice(0, MAX_SENTENCES))
      report(`${join(directory, name)} ${problem}`);
    if (changed.length > MAX_SENTENCES)
      report(`${changed.length - MAX_SENTENCES} further files of ${directory} are not as they were listed`);
    const opened = new ListedDirectory(directory, files);
    for (const { name } of changed) opened.#files.delete(name);
    return opened;
  }

  /**
   * Notes that the files change from now on, and forgets those that were not as they were listed: they were reported.
   * Until then a failure leaves the list as it was.
   */
  async start(): Promise<void> {
    this.#started = true;
    await writeFileList(this.#directory, { state: 'opened', files: this.#files }).catch(() => undefined);
  }

  /** Seals the list. The caller has closed all files. On a full disk the list stays open. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#started) await sealFiles(this.#directory, this.#files).catch(() => undefined);
  }
}

/** Whether a program has used a directory: logs may be open before its store. */
async function hasStore(directory: string): Promise<boolean> {
  for (const store of ['working', 'store']) if (await exists(join(directory, store, 'CURRENT'))) return true;
  return false;
}

/** Lists the files of a directory that no program has open. @throws system errors */
export async function sealFiles(directory: string, former: ListedFiles = new Map()): Promise<void> {
  await writeFileList(directory, { state: 'closed', files: await listFiles(directory, former) });
}
