import { copyFile, link, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StorageError } from '../../protocols/errors.js';
import { writeSums } from '../files/checksums.js';
import { makeDirectory } from '../files/make-directory.js';
import { syncPath } from '../files/sync-path.js';
import { beginGeneration, placeGeneration, unpublishedPath } from '../generations/directory.js';
import { FILE, type Manifest } from './format.js';

/** A subdirectory of the generation's directory, removed at publication. */
const SCRATCH = 'scratch';

/** The fields of the MANIFEST that are known only when all files are written. */
export type ManifestCounts = Omit<Manifest, 'format' | 'version' | 'files'>;

/**
 * A generation that is being built in `N.tmp`. Two renames make it visible to readers (DESIGN 4). After a crash
 * at any point the previous generation is current. There must be one publisher at a time: a second one removes
 * the temporary files of the first.
 */
export class Publication implements AsyncDisposable {
  readonly directory: string;
  /** The directory for temporary files, which are not published. */
  readonly scratch: string;
  readonly #generations: string;
  #done = false;

  private constructor(
    generations: string,
    readonly generation: number,
  ) {
    this.#generations = generations;
    this.directory = unpublishedPath(generations, generation);
    this.scratch = join(this.directory, SCRATCH);
  }

  /** @param generations the generations directory, created if it is missing */
  static async begin(generations: string): Promise<Publication> {
    const publication = new Publication(generations, await beginGeneration(generations));
    await makeDirectory(publication.scratch);
    return publication;
  }

  /** Links a file of another generation into this one. Published files never change. */
  async linkFile(from: string, name: string): Promise<void> {
    const target = join(this.directory, name);
    // On a file system without hard links the file is copied.
    await link(join(from, name), target).catch(() => copyFile(join(from, name), target));
  }

  /**
   * Writes the MANIFEST and publishes.
   *
   * @param keepGenerations the number of generations to keep, including the new one; default 2
   */
  async publish(counts: ManifestCounts, keepGenerations?: number): Promise<void> {
    await rm(this.scratch, { recursive: true, force: true });
    const names = (await readdir(this.directory)).sort();
    const files: Record<string, number> = {};
    for (const name of names) files[name] = (await stat(join(this.directory, name))).size;
    const manifest: Manifest = { format: 'harvest-references', version: 1, ...counts, files };
    const text = `${JSON.stringify(manifest, undefined, 1)}\n`;
    await writeFile(join(this.directory, FILE.manifest), text, { flag: 'wx' });
    for (const name of [...names, FILE.manifest]) await syncPath(join(this.directory, name));
    await writeSums(this.directory, [...names, FILE.manifest]);
    await placeGeneration(this.#generations, this.generation, keepGenerations);
    this.#done = true;
  }

  /** Removes the temporary directory if the generation was not published. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#done) return;
    this.#done = true;
    await rm(this.directory, { recursive: true, force: true });
  }
}

/**
 * Returns a StorageError that names the failed operation for a system error; returns any other error unchanged.
 */
export function storageError(failure: string, cause: unknown): unknown {
  if (!(cause instanceof Error) || !('syscall' in cause)) return cause;
  return new StorageError(`${failure}: ${cause.message}`, { cause });
}
