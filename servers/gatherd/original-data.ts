// Serves the data directory of an original Gatherer: publishes its database as a generation, again when it is
// replaced (GATHERD-10.1, 10.5).
import { type Stats, unwatchFile, watchFile } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { KitError } from '../../protocols/errors.js';
import {
  GENERATIONS_DIRECTORY,
  locateSource,
  PRODUCTION_FILE,
  TEMPLATES_FILE,
  WORKING_DIRECTORY,
} from '../../storage/databases/file-kind.js';
import type { LookupDatabase, ToolOptions } from '../../storage/databases/index.js';
import type { Logger } from '../host/logger.js';
import type { GatherdFiles } from './files.js';

/** Milliseconds between two looks at the time of the original database. */
const POLL_MS = 2000;

/** Options of {@link OriginalData.serve}. */
export interface OriginalDataOptions {
  readonly log: Logger;
  /** Gets a sentence with the command that prepares the directory when its database cannot be served. */
  readonly complain: (sentence: string) => void;
  /** Called after a later publication. */
  readonly onPublished: () => void;
}

/**
 * The original database of a data directory, `PRODUCTION.gdbm` in GDBM's format or `All-Templates.gz`,
 * published for as long as gatherd runs. The original files are only read. `mkindex` compares with the
 * former publication, so that collectors see the changes.
 */
export class OriginalData implements Disposable {
  readonly #files: GatherdFiles;
  readonly #options: OriginalDataOptions;
  readonly #source: string;
  #publishing = false;

  private constructor(files: GatherdFiles, source: string, options: OriginalDataOptions) {
    this.#files = files;
    this.#source = source;
    this.#options = options;
  }

  /**
   * Publishes the original database of a directory if it is newer than the published generation.
   * @returns undefined if the directory has no original database, or a Gatherer of ours publishes there
   */
  static async serve(files: GatherdFiles, options: OriginalDataOptions): Promise<OriginalData | undefined> {
    const published = await timeOf(join(files.database, 'CURRENT'));
    const source = await originalSource(files, published !== undefined);
    if (source === undefined) return undefined;
    const data = new OriginalData(files, source, options);
    const original = await timeOf(source);
    if (published === undefined || (original !== undefined && original > published)) await data.#publish();
    watchFile(source, { interval: POLL_MS, persistent: false }, data.#onChange);
    return data;
  }

  [Symbol.dispose](): void {
    unwatchFile(this.#source, this.#onChange);
  }

  readonly #onChange = (now: Stats, before: Stats): void => {
    const same = now.mtimeMs === before.mtimeMs && now.ino === before.ino && now.size === before.size;
    if (same || now.nlink === 0 || this.#publishing) return;
    void this.#publish().then((done) => {
      if (done) this.#options.onPublished();
    });
  };

  async #publish(): Promise<boolean> {
    const { log, complain } = this.#options;
    const { directory } = this.#files;
    this.#publishing = true;
    try {
      // The tools of database files need SQLite, which a gatherd over generations does not load.
      const { publishDirectory } = await import('../../storage/databases/index.js');
      log.info(`publishing the original database ${this.#source}`);
      const options = {
        now: Math.floor(Date.now() / 1000),
        onWarning: (message: string) => log.warn(message),
      };
      await using copy = await this.#readObjects(options);
      const { generation, objects } = await publishDirectory(directory, options, copy.database);
      log.info(`generation ${generation}: ${objects} objects of the original database`);
      return true;
    } catch (error) {
      if (!(error instanceof KitError)) throw error;
      complain(
        `${this.#source} is not served: ${error.message}; \`harvest folddb ${directory}\` prepares it for gatherd`,
      );
      return false;
    } finally {
      this.#publishing = false;
    }
  }

  /**
   * Reads the objects of the database; those of its compressed copy if it cannot be read, e.g. without GDBM's
   * program.
   */
  async #readObjects(options: ToolOptions): Promise<LookupDatabase> {
    const { temporaryCopy } = await import('../../storage/databases/index.js');
    const { kind } = await locateSource(this.#source);
    try {
      return await temporaryCopy({ path: this.#source, kind }, options);
    } catch (error) {
      const copy = join(this.#files.directory, TEMPLATES_FILE);
      if (!(error instanceof KitError) || copy === this.#source || (await timeOf(copy)) === undefined)
        throw error;
      this.#options.log.warn(`${error.message}; serving ${TEMPLATES_FILE} instead`);
      return temporaryCopy(await locateSource(copy), options);
    }
  }
}

/**
 * Returns the path of the original database of a directory; undefined if it has none, or a Gatherer of ours
 * works there.
 * @param published whether a generation is published: `All-Templates.gz` may then be a copy of it
 *   (`harvest mkcompressed`)
 */
async function originalSource(
  { directory, database }: GatherdFiles,
  published: boolean,
): Promise<string | undefined> {
  const isPlain = database === join(directory, GENERATIONS_DIRECTORY);
  if (!isPlain || (await timeOf(join(directory, WORKING_DIRECTORY))) !== undefined) return undefined;
  for (const name of published ? [PRODUCTION_FILE] : [PRODUCTION_FILE, TEMPLATES_FILE]) {
    const path = join(directory, name);
    if ((await timeOf(path)) === undefined) continue;
    const { kind } = await locateSource(path);
    return ['gdbm', 'foreign-gdbm', 'gzip'].includes(kind) ? path : undefined;
  }
  return undefined;
}

/** Returns when a file was last changed, in milliseconds since 1970; undefined if it does not exist. */
async function timeOf(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.mtimeMs;
}
