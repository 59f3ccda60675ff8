import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { CloseStack } from '../../protocols/close-stack.js';
import { errorCode, messageOf, StorageError } from '../../protocols/errors.js';
import { createDirectory } from '../files/make-directory.js';
import { readRegular } from '../files/regular-file.js';
import { replaceContent } from '../files/replace-file.js';
import { syncPath } from '../files/sync-path.js';
import { ChangeList } from './change-list.js';
import type { SeenOptions } from './contract.js';
import { fingerprintsOf, type KeyWords, sortKeys } from './key-list.js';
import { EMPTY_LOG_BYTES, KeyLog } from './key-log.js';
import { KeyTable } from './key-table.js';
import { RecentKeys } from './recent-keys.js';
import { MANIFEST, mergeRuns, RunFile } from './run-file.js';
import { SerialFilter } from './serial-filter.js';

export interface DiskMergeOptions extends SeenOptions {
  readonly directory: string;
  /** Keys in memory before they become a sorted run on disk. Default 262 144, about 4 MB. */
  readonly pendingKeys?: number;
}

const DEFAULT_PENDING = 1 << 18;
/** Runs of similar size that are merged into one. */
const RUNS_TO_MERGE = 4;
/** Runs are of similar size if the oldest has at most this many times the keys of the youngest. */
const SIZE_RATIO = 3;

const manifestSchema = z.object({
  format: z.literal(1),
  log: z.string().regex(/^log-\d+$/),
  runs: z.array(
    z.object({ file: z.string().regex(/^run-\d+$/), keys: z.int().positive(), crc: z.int().optional() }),
  ),
});
type Manifest = z.infer<typeof manifestSchema>;

/**
 * CRAWL-4.8 DiskFPMerge: fingerprints collect in memory, then become a sorted run on disk; runs of similar size
 * are merged. Unlike the original it answers every call immediately: ten bits for each key in memory recognize
 * most new keys, every other key costs a read, and the keys of one batch share their reads.
 *
 * The manifest names the runs and the log of the keys that no run holds. It is replaced by rename, so a crash
 * leaves the state of the last commit.
 */
export class DiskMergeFilter extends SerialFilter {
  readonly kind = 'disk-merge';
  readonly #recent = new RecentKeys();
  /** Keys that were added and are not in a run yet. */
  readonly #pending = new KeyTable();
  /** Keys that were forgotten and are still in a run. */
  readonly #forgotten = new KeyTable();
  readonly #pendingKeys: number;
  #changes = new ChangeList();
  #runs: RunFile[] = [];
  #log!: KeyLog;
  #nextNumber = 1;
  readonly #options: DiskMergeOptions;

  private constructor(options: DiskMergeOptions) {
    super(options);
    this.#options = options;
    this.#pendingKeys = options.pendingKeys ?? DEFAULT_PENDING;
  }

  /** @throws StorageError if the directory is damaged */
  static async open(options: DiskMergeOptions): Promise<DiskMergeFilter> {
    await createDirectory(options.directory);
    const filter = new DiskMergeFilter(options);
    await filter.#load();
    return filter;
  }

  get count(): number {
    const merged = this.#runs.reduce((sum, run) => sum + run.count, 0);
    return merged + this.#pending.size - this.#forgotten.size;
  }

  get uncommitted(): number {
    return this.#changes.count;
  }

  get memoryBytes(): number {
    const runs = this.#runs.reduce((sum, run) => sum + run.memoryBytes, 0);
    return runs + this.#pending.memoryBytes + this.#forgotten.memoryBytes + this.#recent.memoryBytes;
  }

  protected async addUris(uris: readonly string[]): Promise<Uint8Array> {
    const keys = fingerprintsOf(uris);
    const inRuns = await this.#lookUp(keys);
    const isNew = new Uint8Array(uris.length);
    for (let i = 0; i < isNew.length; i++) {
      const low = keys[2 * i]!;
      const high = keys[2 * i + 1]!;
      const absent = inRuns[i] === 1 ? this.#forgotten.delete(low, high) : this.#pending.add(low, high);
      this.#recent.add(low, high);
      if (!absent) continue;
      isNew[i] = 1;
      this.#changes.push('add', low, high);
    }
    return isNew;
  }

  protected async forgetUris(uris: readonly string[]): Promise<void> {
    const keys = fingerprintsOf(uris);
    const inRuns = await this.#lookUp(keys);
    for (let i = 0; i < inRuns.length; i++) {
      const low = keys[2 * i]!;
      const high = keys[2 * i + 1]!;
      this.#recent.delete(low, high);
      const present = inRuns[i] === 1 ? this.#forgotten.add(low, high) : this.#pending.delete(low, high);
      if (present) this.#changes.push('forget', low, high);
    }
  }

  protected override mustCommit(): boolean {
    return super.mustCommit() || this.#pending.size >= 2 * this.#pendingKeys;
  }

  protected async writeChanges(): Promise<void> {
    if (this.#changes.count === 0) return;
    if (this.#pending.size >= this.#pendingKeys) {
      await this.#spill();
      return;
    }
    await this.#changes.appendTo(this.#log);
    if (this.#options.sync === true) await this.#log.sync();
    this.#changes = new ChangeList();
  }

  protected async release(): Promise<void> {
    await using files = new CloseStack();
    files.defer(() => this.#log.close());
    for (const run of this.#runs) files.defer(() => run.close());
  }

  /**
   * Sets a 1 for each key that a run holds, forgotten or not. Keys that are pending or in the cache need no
   * read.
   */
  async #lookUp(keys: KeyWords): Promise<Uint8Array> {
    const found = new Uint8Array(keys.length / 2);
    const settled = new Uint8Array(found.length);
    let unknown = 0;
    for (let i = 0; i < found.length; i++) {
      const low = keys[2 * i]!;
      const high = keys[2 * i + 1]!;
      if (this.#pending.has(low, high)) settled[i] = 1;
      else if (this.#recent.has(low, high)) found[i] = 1;
      else unknown++;
    }
    if (unknown === 0) return found;
    for (let i = 0; i < found.length; i++) if (settled[i] === 1) found[i] = 1;
    // The youngest run first: it has the keys that were added last.
    for (const run of [...this.#runs].reverse()) await run.find(keys, found);
    for (let i = 0; i < found.length; i++) if (settled[i] === 1) found[i] = 0;
    return found;
  }

  /** Writes the pending keys as a run, merges runs of similar size, and commits the result. */
  async #spill(): Promise<void> {
    const keys = this.#pending.keys();
    sortKeys(keys);
    const runs = [...this.#runs, await this.#writeRun(keys.length / 2, once(keys))];
    const replaced: RunFile[] = [];
    for (;;) {
      const last = runs.slice(-RUNS_TO_MERGE);
      if (last.length < RUNS_TO_MERGE || last[0]!.count > SIZE_RATIO * last.at(-1)!.count) break;
      const count = last.reduce((sum, run) => sum + run.count, 0);
      const merged = await this.#writeRun(count, mergeRuns(last));
      replaced.push(...runs.splice(-RUNS_TO_MERGE, RUNS_TO_MERGE, merged));
    }
    await this.#replaceState(runs, replaced);
  }

  #writeRun(count: number, pieces: AsyncIterable<KeyWords>): Promise<RunFile> {
    return RunFile.write(join(this.#options.directory, `run-${this.#nextNumber++}`), count, pieces);
  }

  async #replaceState(runs: RunFile[], replaced: readonly RunFile[]): Promise<void> {
    const { directory } = this.#options;
    const name = `log-${this.#nextNumber++}`;
    const log = await KeyLog.open(join(directory, name), () => undefined);
    await log.append('forget', this.#forgotten.keys());
    await log.sync();
    await writeManifest(directory, {
      format: 1,
      log: name,
      runs: runs.map(({ path, count, sum }) => ({
        file: path.slice(directory.length + 1),
        keys: count,
        crc: sum,
      })),
    });
    const oldLog = this.#log;
    this.#runs = runs;
    this.#log = log;
    this.#pending.clear();
    this.#changes = new ChangeList();
    await oldLog.close();
    await rm(oldLog.path, { force: true });
    for (const run of replaced) {
      await run.close();
      await rm(run.path, { force: true });
    }
  }

  async #load(): Promise<void> {
    const { directory } = this.#options;
    const manifest = await readManifest(directory);
    const named = new Set([MANIFEST, manifest.log, ...manifest.runs.map(({ file }) => file)]);
    for (const name of await readdir(directory)) {
      const number = Number(/^(?:run|log)-(\d+)$/.exec(name)?.[1] ?? 0);
      this.#nextNumber = Math.max(this.#nextNumber, number + 1);
      // A file that a crash left before the manifest named it: no commit included it.
      if (!named.has(name) && (number > 0 || name === `${MANIFEST}.new`)) await rm(join(directory, name));
    }
    try {
      for (const { file, keys, crc } of manifest.runs)
        this.#runs.push(await RunFile.open(join(directory, file), keys, crc));
      this.#log = await KeyLog.open(
        join(directory, manifest.log),
        (change, keys) => this.#replay(change, keys),
        true,
      );
    } catch (error) {
      for (const run of this.#runs) await run.close();
      throw error;
    }
    this.#nextNumber = Math.max(this.#nextNumber, Number(manifest.log.slice('log-'.length)) + 1);
  }

  /** The log holds only effective changes, so a key that is not pending is in a run. */
  #replay(change: 'add' | 'forget', keys: KeyWords): void {
    for (let offset = 0; offset < keys.length; offset += 2) {
      const low = keys[offset]!;
      const high = keys[offset + 1]!;
      if (change === 'add') {
        if (!this.#forgotten.delete(low, high)) this.#pending.add(low, high);
      } else if (!this.#pending.delete(low, high)) this.#forgotten.add(low, high);
    }
  }
}

async function* once(keys: KeyWords): AsyncGenerator<KeyWords, void, undefined> {
  yield keys;
}

async function readManifest(directory: string): Promise<Manifest> {
  let text: string;
  try {
    text = (await readRegular(join(directory, MANIFEST))).toString('utf8');
  } catch (error) {
    const path = join(directory, MANIFEST);
    if (errorCode(error) !== 'ENOENT')
      throw new StorageError(`${path} cannot be read: ${messageOf(error)}`, { cause: error });
    // The manifest is the first file with contents: whatever else is there belonged to a lost one, and must not
    // be removed.
    for (const name of await readdir(directory)) {
      const { size } = await stat(join(directory, name));
      if (/^(?:run|log)-\d+$/.test(name) && size > EMPTY_LOG_BYTES)
        throw new StorageError(`${path} is missing, but ${name} is there`);
    }
    const first: Manifest = { format: 1, log: 'log-1', runs: [] };
    const log = await KeyLog.open(join(directory, first.log), () => undefined);
    await log.sync();
    await log.close();
    await writeManifest(directory, first);
    return first;
  }
  try {
    return manifestSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new StorageError(`${join(directory, MANIFEST)} is damaged or of a newer version`, { cause: error });
  }
}

async function writeManifest(directory: string, manifest: Manifest): Promise<void> {
  await replaceContent(join(directory, MANIFEST), JSON.stringify(manifest));
  // With the names of the files that the manifest names.
  await syncPath(directory);
}
