import { ClassicLevel } from 'classic-level';
import { StorageError } from '../../../protocols/errors.js';
import { distinctName, namePartsOf } from './file-names.js';

/** What a mirror knows of a document. */
export interface MirrorEntry {
  readonly url: string;
  /** Below the mirror's directory, components separated by `/`. */
  readonly path: string;
  /** The run that met it last. */
  readonly run: number;
  /** Bytes of the file; -1: none was written yet. */
  readonly size: number;
  /** The server said that it is gone (404, 410) in that run. */
  readonly gone: boolean;
}

/** Who has a name in a directory. */
interface Claim {
  readonly name: string;
  readonly directory: boolean;
  readonly owner: string;
}

const RUN = 'm!run';
const STATE = 'm!state';
const DOUBTS = 'm!doubts';

/**
 * Which URL lies in which file, and which run met it last, in a LevelDB of its own. A URL keeps its file for ever; no two URLs
 * share one, also on file systems that do not tell upper from lower case.
 */
export class MirrorIndex implements AsyncDisposable {
  readonly #level: ClassicLevel<string, string>;
  /** Names are given one at a time: two URLs may want the same one. */
  #turn: Promise<unknown> = Promise.resolve();
  #run: number;
  #doubts: number;

  private constructor(level: ClassicLevel<string, string>, run: number, doubts: number) {
    this.#level = level;
    this.#run = run;
    this.#doubts = doubts;
  }

  /** @throws StorageError when another process has it open */
  static async open(directory: string): Promise<MirrorIndex> {
    const level = new ClassicLevel<string, string>(directory);
    try {
      await level.open();
    } catch (cause) {
      throw new StorageError(`${directory} cannot be opened; does another mirror run there?`, { cause });
    }
    const [run, doubts] = await Promise.all([level.get(RUN), level.get(DOUBTS)]);
    return new MirrorIndex(level, Number(run ?? 0), Number(doubts ?? 0));
  }

  /** Begins a run, or goes on with one that was not ended. */
  async begin(): Promise<void> {
    if ((await this.#level.get(STATE)) === 'running') return;
    this.#run += 1;
    this.#doubts = 0;
    await this.#level.batch([
      { type: 'put', key: RUN, value: String(this.#run) },
      { type: 'put', key: STATE, value: 'running' },
      { type: 'put', key: DOUBTS, value: '0' },
    ]);
  }

  async end(): Promise<void> {
    await this.#level.put(STATE, 'done');
  }

  /** Something could not be looked at: what this run did not meet may be there all the same. */
  async doubt(): Promise<void> {
    this.#doubts += 1;
    await this.#level.put(DOUBTS, String(this.#doubts));
  }

  /** Whether this run has seen everything there is. */
  get isComplete(): boolean {
    return this.#doubts === 0;
  }

  async get(url: string): Promise<MirrorEntry | undefined> {
    const value = await this.#level.get(`u!${url}`);
    return value === undefined ? undefined : entryOf(url, value);
  }

  /** The entry of a URL, with a file name of its own; a new one gets it now. */
  async entryFor(url: string): Promise<MirrorEntry> {
    const known = await this.get(url);
    if (known !== undefined) return known;
    const assigned = this.#turn.then(() => this.#assign(url));
    this.#turn = assigned.catch(() => undefined);
    return { url, path: await assigned, run: 0, size: -1, gone: false };
  }

  /** The run has met a document; `size` when a file was written. */
  async met(entry: MirrorEntry, size = entry.size): Promise<void> {
    await this.#put({ ...entry, run: this.#run, size, gone: false });
  }

  /** The server says that there is no such document any more. */
  async gone(entry: MirrorEntry): Promise<void> {
    await this.#put({ ...entry, run: this.#run, gone: true });
  }

  /** What a page needs besides itself, as it was when it was fetched. */
  async requisites(url: string): Promise<readonly string[]> {
    const value = await this.#level.get(`r!${url}`);
    return value === undefined ? [] : (JSON.parse(value) as string[]);
  }

  async setRequisites(url: string, urls: readonly string[]): Promise<void> {
    if (urls.length === 0) await this.#level.del(`r!${url}`);
    else await this.#level.put(`r!${url}`, JSON.stringify(urls));
  }

  /** All entries that have a file, in the order of their URLs. */
  async *files(): AsyncGenerator<MirrorEntry> {
    for await (const [key, value] of this.#level.iterator({ gt: 'u!', lt: 'u"' })) {
      const entry = entryOf(key.slice(2), value);
      if (entry.size >= 0) yield entry;
    }
  }

  /** Whether there is reason to delete its file: the server said so, or a run that saw everything did not meet it. */
  isStale(entry: MirrorEntry): boolean {
    return entry.gone || (this.isComplete && entry.run < this.#run);
  }

  /** Forgets the file of a URL, not its name: if the document comes back it lies there again. */
  async forget(entry: MirrorEntry): Promise<void> {
    await this.#put({ ...entry, size: -1 });
  }

  async close(): Promise<void> {
    await this.#level.close();
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

  async #claim(parent: string, wanted: Claim): Promise<string> {
    const { name: plain, directory, owner } = wanted;
    for (const digits of [0, 8, 32]) {
      const name = digits === 0 ? plain : distinctName(plain, owner, digits);
      const key = `n!${`${parent}/${name}`.toLowerCase()}`;
      const value = await this.#level.get(key);
      if (value === undefined) {
        await this.#level.put(key, JSON.stringify([name, directory, owner]));
        return name;
      }
      const [taken, isDirectory, by] = JSON.parse(value) as [string, boolean, string];
      if (isDirectory === directory && by === owner) return taken;
    }
    throw new StorageError(`no file name is free for ${owner}`);
  }
}

function entryOf(url: string, value: string): MirrorEntry {
  const [path, run, size, gone] = JSON.parse(value) as [string, number, number, boolean];
  return { url, path, run, size, gone };
}
