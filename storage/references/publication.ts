import { copyFile, link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { StorageError } from '../../protocols/errors.js';
import { syncPath } from '../files/sync-path.js';
import {
  currentGeneration,
  generationNumbers,
  movePointer,
  removeLeftovers,
  removeOldGenerations,
} from '../generations/directory.js';
import { FILE, type Manifest } from './format.js';

const DEFAULT_KEEP = 2;
/** Beside the generation's own files; gone when it is published. */
const SCRATCH = 'scratch';

/** What is not known before all files are there. */
export type ManifestCounts = Omit<Manifest, 'format' | 'version' | 'files'>;

/**
 * A generation that is being made: `N.tmp`, which is invisible to readers before two renames (DESIGN 4). A crash at any point leaves the former
 * one current. There is one publisher at a time: a second one takes the first one's leftovers away.
 */
export class Publication implements AsyncDisposable {
  readonly directory: string;
  /** For files that are no part of the generation. */
  readonly scratch: string;
  readonly #generations: string;
  #done = false;

  private constructor(
    generations: string,
    readonly generation: number,
  ) {
    this.#generations = generations;
    this.directory = join(generations, `${generation}.tmp`);
    this.scratch = join(this.directory, SCRATCH);
  }

  /** @param generations the generations directory, made when it is missing */
  static async begin(generations: string): Promise<Publication> {
    await mkdir(generations, { recursive: true });
    await removeLeftovers(generations);
    const numbers = await generationNumbers(generations);
    const number = Math.max(0, ...numbers, (await currentGeneration(generations)) ?? 0) + 1;
    const publication = new Publication(generations, number);
    await mkdir(publication.scratch, { recursive: true });
    return publication;
  }

  /** Takes over a file of another generation: they never change. */
  async take(from: string, name: string): Promise<void> {
    const target = join(this.directory, name);
    // Without hard links it is a copy.
    await link(join(from, name), target).catch(() => copyFile(join(from, name), target));
  }

  /**
   * Writes the MANIFEST and publishes.
   *
   * @param keepGenerations the new one included
   */
  async publish(counts: ManifestCounts, keepGenerations = DEFAULT_KEEP): Promise<void> {
    await rm(this.scratch, { recursive: true, force: true });
    const names = (await readdir(this.directory)).sort();
    const files: Record<string, number> = {};
    for (const name of names) files[name] = (await stat(join(this.directory, name))).size;
    const manifest: Manifest = { format: 'harvest-references', version: 1, ...counts, files };
    const file = await open(join(this.directory, FILE.manifest), 'wx');
    try {
      await file.writeFile(`${JSON.stringify(manifest, undefined, 1)}\n`);
    } finally {
      await file.close();
    }
    for (const name of [...names, FILE.manifest]) await syncPath(join(this.directory, name));
    await syncPath(this.directory);
    await rename(this.directory, join(this.#generations, String(this.generation)));
    await syncPath(this.#generations);
    this.#done = true;
    await movePointer(this.#generations, this.generation);
    // Published already: what cannot be removed now is left to the next publication.
    await removeOldGenerations(this.#generations, this.generation, keepGenerations).catch(() => {});
  }

  /** Removes what was not published. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#done) return;
    this.#done = true;
    await rm(this.directory, { recursive: true, force: true });
  }
}

/** An error that tells what failed; ours pass as they are. */
export function storageError(doing: string, cause: unknown): unknown {
  if (!(cause instanceof Error) || !('syscall' in cause)) return cause;
  return new StorageError(`${doing}: ${cause.message}`, { cause });
}
