import type { ClassicLevel } from 'classic-level';
import { CloseStack } from '../../../protocols/close-stack.js';
import { StorageError } from '../../../protocols/errors.js';
import { Mutex } from '../../../protocols/mutex.js';
import { type OpenDatabase, openDatabase } from '../../../storage/index.js';
import { distinctName, namePartsOf } from './file-names.js';

/** A document's record in a mirror. */
export interface MirrorEntry {
  readonly url: string;
  /** Below the mirror's directory, components separated by `/`. */
  readonly path: string;
  /** The last run that saw it. */
  readonly run: number;
  /** Bytes of the file; -1 if it was never written. */
  readonly size: number;
  /** Whether the server reported in that run that the document is gone (404, 410). */
  readonly gone: boolean;
}

/** The owner of a name in a directory. */
interface Claim {
  readonly name: string;
  readonly directory: boolean;
  readonly owner: string;
}

const RUN = 'm!run';
const STATE = 'm!state';
const MISSES = 'm!doubts';

/**
 * Maps URLs to files and to the last run that saw them, in its own LevelDB. A URL keeps its file forever; no
 * two URLs share one, even on file systems that ignore case.
 */
export class MirrorIndex implements AsyncDisposable {
  readonly #opened: OpenDatabase<string, string>;
  readonly #level: ClassicLevel<string, string>;
  /** Names are assigned one at a time: two URLs may prefer the same one. */
  readonly #assigning = new Mutex();
  #run: number;
  #misses: number;

  private constructor(opened: OpenDatabase<string, string>, run: number, misses: number) {
    this.#opened = opened;
    this.#level = opened.db;
    this.#run = run;
    this.#misses = misses;
  }

  /** @throws StorageError when another process has it open, or it is damaged */
  static async open(directory: string): Promise<MirrorIndex> {
    await using resources = new CloseStack();
    const opened = resources.adopt(await openDatabase<string, string>(directory), (database) =>
      database.close(),
    );
    const { db } = opened;
    const [run, misses] = await Promise.all([db.get(RUN), db.get(MISSES)]);
    resources.move();
    return new MirrorIndex(opened, Number(run ?? 0), Number(misses ?? 0));
  }

  /** Begins a run, or continues one that did not end. */
  async begin(): Promise<void> {
    if ((await this.#level.get(STATE)) === 'running') return;
    this.#run += 1;
    this.#misses = 0;
    await this.#level.batch([
      { type: 'put', key: RUN, value: String(this.#run) },
      { type: 'put', key: STATE, value: 'running' },
      { type: 'put', key: MISSES, value: '0' },
    ]);
  }

  async end(): Promise<void> {
    await this.#level.put(STATE, 'done');
  }

  /** Records that a document could not be fetched: documents that this run did not see may still exist. */
  async markIncomplete(): Promise<void> {
    this.#misses += 1;
    await this.#level.put(MISSES, String(this.#misses));
  }

  /** Whether this run has seen every document that exists. */
  get isComplete(): boolean {
    return this.#misses === 0;
  }

  async get(url: string): Promise<MirrorEntry | undefined> {
    const value = await this.#level.get(`u!${url}`);
    return value === undefined ? undefined : entryOf(url, value);
  }

  /** Returns the entry of a URL; assigns a file name to a new one. */
  async entryFor(url: string): Promise<MirrorEntry> {
    const known = await this.get(url);
    if (known !== undefined) return known;
    const path = await this.#assigning.runExclusive(() => this.#assign(url));
    return { url, path, run: 0, size: -1, gone: false };
  }

  /** Records that this run saw a document; `size` if it wrote the file. */
  async markSeen(entry: MirrorEntry, size = entry.size): Promise<void> {
    await this.#put({ ...entry, run: this.#run, size, gone: false });
  }

  /** Records that the server reports the document as gone. */
  async markGone(entry: MirrorEntry): Promise<void> {
    await this.#put({ ...entry, run: this.#run, gone: true });
  }

  /** Returns the URLs of the images, style sheets and scripts of a page when it was fetched. */
  async requisites(url: string): Promise<readonly string[]> {
    const value = await this.#level.get(`r!${url}`);
    return value === undefined ? [] : (JSON.parse(value) as string[]);
  }

  async setRequisites(url: string, urls: readonly string[]): Promise<void> {
    if (urls.length === 0) await this.#level.del(`r!${url}`);
    else await this.#level.put(`r!${url}`, JSON.stringify(urls));
  }

  /** Yields the entries that have a file, in the order of their URLs. */
  async *files(): AsyncGenerator<MirrorEntry> {
    for await (const [key, value] of this.#level.iterator({ gt: 'u!', lt: 'u"' })) {
      const entry = entryOf(key.slice(2), value);
      if (entry.size >= 0) yield entry;
    }
  }

  /**
   * Whether the document no longer exists: the server reported it as gone, or a complete run did not see it.
   */
  isStale(entry: MirrorEntry): boolean {
    return entry.gone || (this.isComplete && entry.run < this.#run);
  }

  /** Records that the file of a URL was deleted; keeps its name in case the document reappears. */
  async forget(entry: MirrorEntry): Promise<void> {
    await this.#put({ ...entry, size: -1 });
  }

  async close(): Promise<void> {
    await this.#opened.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #put({ url, path, run, size, gone }: MirrorEntry): Promise<void> {
    await this.#level.put(`u!${url}`, JSON.stringify([path, run, size, gone]));
  }

  async #assign(url: string): Promise<string> {
    const parts = namePartsOf(url);
    let path = '';
    for (const [i, { name, owner }] of parts.entries()) {
      const directory = i < parts.length - 1;
      path += `${path === '' ? '' : '/'}${await this.#claim(path, { name, directory, owner })}`;
    }
    return path;
  }

  async #claim(parent: string, claim: Claim): Promise<string> {
    const { name: preferred, directory, owner } = claim;
    for (const digits of [0, 8, 32]) {
      const name = digits === 0 ? preferred : distinctName(preferred, owner, digits);
      const key = `n!${`${parent}/${name}`.toLowerCase()}`;
      const value = await this.#level.get(key);
      if (value === undefined) {
        await this.#level.put(key, JSON.stringify([name, directory, owner]));
        return name;
      }
      const [claimed, isDirectory, claimedBy] = JSON.parse(value) as [string, boolean, string];
      if (isDirectory === directory && claimedBy === owner) return claimed;
    }
    throw new StorageError(`no file name is free for ${owner}`);
  }
}

function entryOf(url: string, value: string): MirrorEntry {
  const [path, run, size, gone] = JSON.parse(value) as [string, number, number, boolean];
  return { url, path, run, size, gone };
}
