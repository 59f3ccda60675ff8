// Files with the URIs of other crawlers (CRAWL-9.8).

import { type FileHandle, open, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { messageOf, StorageError } from '../../../protocols/errors.js';
import { Mutex } from '../../../protocols/mutex.js';
import { crawlerOf, hostOf, isEnumerable, queueAssignment } from '../../../protocols/urls/index.js';
import { createDirectory } from '../../../storage/files/make-directory.js';
import type { Prepared, PreparedOf } from '../frontier/contract.js';
import { formatJournalLine, type JournalUri } from '../journal/journal-line.js';

/** URIs that were written last, each of which is written once. */
const RECENT_URIS = 65_536;
const OPEN = '.open';

interface OpenFile {
  readonly hour: string;
  readonly name: string;
  readonly handle: FileHandle;
}

/**
 * CRAWL-9.8: one file for each crawler and hour, `HOUR-OWN-to-N.schedule` with lines of a journal, which the
 * action directory of the other crawler carries out. The file of the current hour ends in `.open`. Lines are in
 * the file before their URI is finished, so that a killed process loses none.
 */
export class Diversions implements AsyncDisposable {
  readonly #directory: string;
  readonly #own: number;
  readonly #now: () => number;
  readonly #files = new Map<number, OpenFile>();
  readonly #recent = new LRUCache<string, true>({ max: RECENT_URIS });
  readonly #mutex = new Mutex();

  private constructor(directory: string, own: number, now: () => number) {
    this.#directory = directory;
    this.#own = own;
    this.#now = now;
  }

  /** Opens the directory; finishes the files of a killed process. @throws StorageError */
  static async open(directory: string, own: number, now: () => number = Date.now): Promise<Diversions> {
    const diversions = new Diversions(directory, own, now);
    try {
      await createDirectory(directory);
      for (const name of await readdir(directory)) {
        if (!name.endsWith(OPEN) || !name.includes(`-${own}-to-`)) continue;
        await diversions.#finish(name);
      }
    } catch (cause) {
      throw new StorageError(`${directory}: ${messageOf(cause)}`, { cause });
    }
    return diversions;
  }

  /** Writes URIs for a crawler, except those that were written recently. @throws StorageError */
  async divert(crawler: number, uris: readonly JournalUri[]): Promise<void> {
    const fresh = uris.filter(({ url }) => !this.#recent.has(url));
    if (fresh.length === 0) return;
    const lines = fresh.map((uri) => `${formatJournalLine({ tag: 'F+', ...uri })}\n`).join('');
    await this.#mutex.runExclusive(async () => {
      try {
        const { handle } = await this.#fileOf(crawler);
        await handle.appendFile(lines);
      } catch (cause) {
        throw new StorageError(`${this.#directory}: ${messageOf(cause)}`, { cause });
      }
    });
    for (const { url } of fresh) this.#recent.set(url, true);
  }

  /** Finishes the files. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#mutex.runExclusive(async () => {
      for (const crawler of this.#files.keys()) await this.#close(crawler);
    });
  }

  async #fileOf(crawler: number): Promise<OpenFile> {
    const hour = new Date(this.#now()).toISOString().replace(/\D/g, '').slice(0, 10);
    const current = this.#files.get(crawler);
    if (current?.hour === hour) return current;
    if (current !== undefined) await this.#close(crawler);
    const name = `${hour}-${this.#own}-to-${crawler}.schedule${OPEN}`;
    const file = { hour, name, handle: await open(join(this.#directory, name), 'a') };
    this.#files.set(crawler, file);
    return file;
  }

  async #close(crawler: number): Promise<void> {
    const file = this.#files.get(crawler);
    if (file === undefined) return;
    this.#files.delete(crawler);
    try {
      await file.handle.datasync();
    } finally {
      await file.handle.close();
    }
    await this.#finish(file.name);
  }

  /** Gives a file its final name; a second one of the same hour gets a number. */
  async #finish(name: string): Promise<void> {
    const taken = new Set(await readdir(this.#directory));
    const [stem = ''] = name.split('.schedule');
    let final = `${stem}.schedule`;
    for (let i = 2; taken.has(final); i++) final = `${stem}-${i}.schedule`;
    await rename(join(this.#directory, name), join(this.#directory, final));
  }
}

export interface MapperOptions {
  readonly map: CrawlMap;
  readonly diversions: Diversions;
  /** Computes the class key of a link. */
  readonly prepare: (uri: PreparedOf) => Pick<Prepared, 'classKey'>;
}

export interface CrawlMapOptions {
  /** Number of crawlers. */
  readonly crawlers: number;
  /** The number of this one, from 0. */
  readonly own: number;
  /** `domain`: the registered domain decides; `queue`: the class key of the URI. */
  readonly by: 'domain' | 'queue';
}

/**
 * CRAWL-9.8: which crawler is responsible for a URI: the same for all crawlers of one number and the same
 * settings.
 */
export class CrawlMap {
  readonly #options: CrawlMapOptions;
  readonly #domainOf = queueAssignment({ policy: 'topmost' });

  constructor(options: CrawlMapOptions) {
    this.#options = options;
  }

  /** Returns the number of another crawler; undefined if this one is responsible. */
  foreignCrawler(uri: string, classKey: string): number | undefined {
    const { crawlers, own, by } = this.#options;
    // A `dns:` or file URI belongs to the crawler that has it.
    if (uri.startsWith('file:') || !isEnumerable(uri)) return undefined;
    // All ports and schemes of a host belong together.
    const key = by === 'domain' ? this.#domainOf({ uri: `http://${hostOf(uri)}/` }) : classKey;
    const crawler = crawlerOf(key, crawlers);
    return crawler === own ? undefined : crawler;
  }
}
