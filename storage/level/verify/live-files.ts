// The files that LevelDB needs while it is open: it makes and removes the others at any time.
import { join } from 'node:path';
import { readRegular } from '../../files/regular-file.js';
import { readManifest } from './manifest.js';

/** Whether a database needs a file now. */
class LiveLevelFiles {
  readonly #manifest: string;
  readonly #tables: ReadonlyMap<number, number>;
  readonly #logNumber: number;

  private constructor(manifest: string, tables: ReadonlyMap<number, number>, logNumber: number) {
    this.#manifest = manifest;
    this.#tables = tables;
    this.#logNumber = logNumber;
  }

  /** Reads CURRENT and the MANIFEST that it names; undefined if they are damaged, or are replaced meanwhile. */
  static async read(directory: string): Promise<LiveLevelFiles | undefined> {
    try {
      const manifest = (await readRegular(join(directory, 'CURRENT'))).toString('latin1').trimEnd();
      if (!/^MANIFEST-\d+$/.test(manifest)) return undefined;
      const bytes = await readRegular(join(directory, manifest)).catch(() => undefined);
      if (bytes === undefined) return new LiveLevelFiles(manifest, new Map(), Number.POSITIVE_INFINITY);
      const { tables, logNumber, problems } = readManifest(bytes);
      return problems.length > 0 ? undefined : new LiveLevelFiles(manifest, tables, logNumber);
    } catch {
      return undefined;
    }
  }

  /**
   * Whether a file that was there once must still be there: LevelDB removes a file after the MANIFEST has forgotten it.
   *
   * @param name within the database
   */
  needs(name: string): boolean {
    if (name === this.#manifest) return true;
    const [, number = '', kind] = /^(\d+)\.(log|ldb|sst)$/.exec(name) ?? [];
    if (kind === undefined) return false;
    return kind === 'log' ? Number(number) === this.#logNumber : this.#tables.has(Number(number));
  }
}

/** The files that the LevelDB of a directory needs. */
export const readLiveFiles = (directory: string) => LiveLevelFiles.read(directory);
