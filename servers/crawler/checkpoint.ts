import { createHash } from 'node:crypto';
import { copyFile, mkdtemp, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { errorCode, messageOf, StorageError, UsageError } from '../../protocols/errors.js';
import { Mutex } from '../../protocols/mutex.js';
import { exists, ifPresent } from '../../storage/files/exists.js';
import { createDirectory, makeDirectory } from '../../storage/files/make-directory.js';
import { openRegular, readRegular } from '../../storage/files/regular-file.js';
import { GathererStore, isStoreInUse, placeOf } from '../../storage/index.js';
import { saveComponents } from './component-state.js';
import type { CheckpointInfo } from './control.js';

/*
 * A directory of checkpoints:
 *
 *     cp00007-20261121183000/       a complete checkpoint
 *         store/                    a copy of the working store: its table files are hard links
 *         seen/                     the seen filters with their own files, if there are any
 *         components.json           state of the other components: servers, statistics
 *         manifest.json             every file with its length and digest
 *         valid                     written last: 14 digits, the time
 *     cp00008-....tmp/              an incomplete checkpoint, of this or a killed process
 *     cp00007-....probe-XXXXXX/     a copy for verification, of this or a killed process
 */

export interface CheckpointsOptions {
  readonly store: GathererStore;
  /** The directory of seen filters with their own files; absent if the filter is in the store. */
  readonly seenDirectory?: string;
  /** Number of checkpoints to keep; older ones are removed. */
  readonly kept: number;
  /** CRAWL-17.3.1: runs work while nothing is scheduled or returned and all earlier writes are on disk. */
  readonly atRest: <T>(work: () => Promise<T>) => Promise<T>;
  /** State of the other components; `frontier` has the counts of the manifest. */
  readonly components: () => { readonly frontier: FrontierFigures } & Readonly<Record<string, unknown>>;
  /** CRAWL-17.2.1: rotates logs and journal; the rotated files get this suffix. */
  readonly rotate: (suffix: string) => Promise<void>;
}

interface FrontierFigures {
  readonly queued: number;
  readonly succeeded: number;
  readonly bytes: number;
}

const NAME = /^cp(\d{5,9})-(\d{14})$/;
/** Leftovers of a process that was killed while it took or verified a checkpoint. */
const LEFTOVER = /^cp\d{5,9}-\d{14}\.(?:tmp|probe-\w{6}|tmp\.probe-\w{6})$/;

const manifestSchema = z.object({
  version: z.literal(1),
  time: z.number(),
  queued: z.number(),
  succeeded: z.number(),
  bytes: z.number(),
  files: z.array(z.object({ name: z.string(), length: z.number(), sha256: z.string() })),
});
type Manifest = z.output<typeof manifestSchema>;

/**
 * CRAWL-17.3: takes the checkpoints of a running crawl. Workers wait only while the store's files are linked. A
 * URI in process is the head of its queue in the checkpoint, so no URI is lost and only URIs in process are
 * fetched twice. A checkpoint gets its final name after it is verified. It is never changed, and can be
 * restored any number of times (CRAWL-17.3.2).
 */
export class Checkpoints {
  readonly #options: CheckpointsOptions;
  #next: number;
  /** Name of the newest checkpoint; empty before the first checkpoint. */
  newest: string;
  readonly #mutex = new Mutex();
  /**
   * Digests of the last checkpoint's files by name, inode, size and time, so that a table that is linked again
   * is not read again.
   */
  #digests: ReadonlyMap<string, string> = new Map();

  private constructor(
    readonly directory: string,
    options: CheckpointsOptions,
    names: readonly string[],
  ) {
    this.#options = options;
    this.newest = names.at(-1) ?? '';
    this.#next = numberOf(this.newest) + 1;
  }

  /** Removes leftovers of a killed process. Only the owner of the store may take checkpoints. */
  static async open(directory: string, options: CheckpointsOptions): Promise<Checkpoints> {
    for (const name of await readNames(directory))
      if (LEFTOVER.test(name)) await rm(join(directory, name), { recursive: true, force: true });
    return new Checkpoints(directory, options, await listCheckpoints(directory));
  }

  /**
   * Takes a checkpoint, one at a time. A failure does not affect the crawl or earlier checkpoints.
   * @throws StorageError when it cannot be written or verified; also when it is complete but the logs could not
   *   be rotated
   */
  take(): Promise<CheckpointInfo> {
    return this.#mutex.runExclusive(() => this.#take());
  }

  /** Waits until no checkpoint is being taken. The store must stay open until then. */
  settled(): Promise<void> {
    return this.#mutex.runExclusive(() => undefined);
  }

  async #take(): Promise<CheckpointInfo> {
    const time = Date.now();
    const name = `cp${String(this.#next++).padStart(5, '0')}-${fourteenDigits(time)}`;
    const temporary = join(this.directory, `${name}.tmp`);
    try {
      await makeDirectory(temporary);
      await this.#write(temporary, time);
      await verifyCheckpoint(temporary);
      await syncTree(temporary);
      await rename(temporary, join(this.directory, name));
      await syncOne(this.directory);
    } catch (cause) {
      await rm(temporary, { recursive: true, force: true });
      throw new StorageError(`checkpoint ${name}: ${messageOf(cause)}`, { cause });
    }
    this.newest = name;
    await this.#removeOld();
    await this.#options.rotate(name).catch((cause: unknown) => {
      throw new StorageError(
        `checkpoint ${name} is taken, but the logs are not rotated: ${messageOf(cause)}`,
        {
          cause,
        },
      );
    });
    return readCheckpointInfo(this.directory, name);
  }

  async #write(temporary: string, time: number): Promise<void> {
    const { store, seenDirectory, atRest, components } = this.#options;
    const kept = await atRest(async () => {
      await store.clone(join(temporary, 'store'));
      if (seenDirectory !== undefined) await copyTree(seenDirectory, join(temporary, 'seen'));
      return components();
    });
    await writeFile(join(temporary, 'components.json'), JSON.stringify(kept));
    const { queued, succeeded, bytes } = kept.frontier;
    const files: Manifest['files'] = [];
    const digests = new Map<string, string>();
    for (const file of await listTree(temporary)) {
      const { size, ino, mtimeMs } = await stat(join(temporary, file));
      const key = `${basename(file)} ${ino} ${size} ${mtimeMs}`;
      const sha256 = this.#digests.get(key) ?? (await digestOf(join(temporary, file)));
      digests.set(key, sha256);
      files.push({ name: file, length: size, sha256 });
    }
    this.#digests = digests;
    const manifest: Manifest = { version: 1, time, queued, succeeded, bytes, files };
    await writeFile(join(temporary, 'manifest.json'), JSON.stringify(manifest));
    await writeFile(join(temporary, 'valid'), `${fourteenDigits(time)}\n`);
  }

  /** Removes old checkpoints; one that cannot be removed now is removed after the next checkpoint. */
  async #removeOld(): Promise<void> {
    const names = await listCheckpoints(this.directory);
    for (const name of names.slice(0, -this.#options.kept)) {
      // Renamed first, so that a partly removed checkpoint does not look complete.
      const renamed = join(this.directory, `${name}.tmp`);
      await rename(join(this.directory, name), renamed)
        .then(() => rm(renamed, { recursive: true, force: true }))
        .catch(() => undefined);
    }
  }
}

/**
 * Returns the names of the complete checkpoints in a directory, the oldest first; empty if the directory does
 * not exist.
 */
export async function listCheckpoints(directory: string): Promise<string[]> {
  const names = (await readNames(directory)).filter((name) => NAME.test(name));
  return names.sort((a, b) => numberOf(a) - numberOf(b));
}

/** Reads the figures of a checkpoint. @throws StorageError when its manifest is damaged */
export async function readCheckpointInfo(directory: string, name: string): Promise<CheckpointInfo> {
  const { time, queued, succeeded, bytes } = await readManifest(join(directory, name));
  return { name, directory: join(directory, name), time, queued, succeeded, bytes };
}

/**
 * CRAWL-17.3.2: verifies that the files are exactly those of the manifest and that the store opens. The store
 * is opened in a copy, so that the checkpoint does not change.
 * @throws StorageError that names the file
 */
export async function verifyCheckpoint(directory: string): Promise<void> {
  await stat(join(directory, 'valid')).catch(() => {
    throw new StorageError(`${join(directory, 'valid')} is missing`);
  });
  const { files, succeeded } = await readManifest(directory);
  const names = new Set(files.map(({ name }) => name));
  for (const name of await listTree(directory))
    if (!names.has(name) && !OWN_FILES.has(name))
      throw new StorageError(`${join(directory, name)} does not belong to this checkpoint`);
  for (const { name, length, sha256 } of files) {
    const path = join(directory, name);
    const found = await stat(path).catch(() => undefined);
    if (found === undefined) throw new StorageError(`${path} is missing`);
    if (found.size !== length) throw new StorageError(`${path} has ${found.size} bytes instead of ${length}`);
    if ((await digestOf(path)) !== sha256) throw new StorageError(`${path} was changed`);
  }
  const probe = await mkdtemp(`${directory}.probe-`);
  try {
    await GathererStore.cloneClosed(join(directory, 'store'), probe);
    await using store = await GathererStore.open(probe);
    const state = await store.frontierState();
    if ((state?.succeeded ?? 0) !== succeeded)
      throw new StorageError(
        `${join(directory, 'store')} and its manifest have different counts of successes`,
      );
  } finally {
    await rm(probe, { recursive: true, force: true });
  }
}

const OWN_FILES: ReadonlySet<string> = new Set(['manifest.json', 'valid']);

/** The result of {@link restoreCheckpoint}. */
export interface Restored {
  readonly checkpoint: CheckpointInfo;
  /** Paths to which the earlier working store and seen filters were moved. */
  readonly former: readonly string[];
}

/**
 * CRAWL-17.2.2: copies a checkpoint's store to the Gatherer's working store and saves the state of the other
 * components for the next run. The earlier files are moved to other names; what a database has is replaced. The
 * checkpoint does not change.
 * After a crash the restoration can be repeated.
 *
 * @param gatherer the Gatherer's data directory
 * @throws UsageError when there is no such checkpoint; StorageError when it is damaged, or when another process
 *   has the store open
 */
export async function restoreCheckpoint(
  gatherer: string,
  checkpoints: string,
  name: string,
): Promise<Restored> {
  if (!(await listCheckpoints(checkpoints)).includes(name))
    throw new UsageError(`${checkpoints} has no checkpoint ${name}`);
  const checkpoint = join(checkpoints, name);
  const working = join(gatherer, 'working');
  const seen = join(gatherer, 'seen');
  await checkNotInUse(working);
  await verifyCheckpoint(checkpoint);

  await rm(`${working}.new`, { recursive: true, force: true });
  await createDirectory(`${working}.new`);
  await GathererStore.cloneClosed(join(checkpoint, 'store'), `${working}.new`);
  const place = await placeOf(working);
  if (place !== working) await GathererStore.restore(`${working}.new`, place);
  else await syncTree(`${working}.new`);
  await rm(`${seen}.new`, { recursive: true, force: true });
  await copyTree(join(checkpoint, 'seen'), `${seen}.new`);
  if ((await listTree(`${seen}.new`)).length > 0) await syncTree(`${seen}.new`);
  const components: unknown = JSON.parse(String(await readRegular(join(checkpoint, 'components.json'))));

  // With milliseconds, so that repeated restorations have different names.
  const suffix = `.before-${new Date().toISOString().replace(/\D/g, '')}`;
  const former: string[] = [];
  // A database has the content of the checkpoint by now.
  if (place !== working) await rm(`${working}.new`, { recursive: true, force: true });
  for (const directory of place === working ? [seen, working] : [seen]) {
    if (await move(directory, directory + suffix)) former.push(directory + suffix);
    await move(`${directory}.new`, directory);
  }
  await saveComponents(dirname(checkpoints), components);
  await syncOne(gatherer);
  return { checkpoint: await readCheckpointInfo(checkpoints, name), former };
}

/** @throws StorageError when a process has the store open */
async function checkNotInUse(working: string): Promise<void> {
  // The process that has a store in a database loses the right to write it.
  if (!(await exists(join(working, 'CURRENT')))) return;
  try {
    const store = await GathererStore.open(working);
    await store.close();
  } catch (error) {
    // A damaged store does not prevent the restoration of a checkpoint.
    if (isStoreInUse(error)) throw error;
  }
}

/** Renames a file or directory; returns false if it does not exist. */
async function move(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

async function readManifest(directory: string): Promise<Manifest> {
  const path = join(directory, 'manifest.json');
  try {
    return manifestSchema.parse(JSON.parse(String(await readRegular(path))));
  } catch (cause) {
    throw new StorageError(`${path} is ${isMissing(cause) ? 'missing' : 'damaged'}`, { cause });
  }
}

/** Copies a directory; does nothing if it does not exist. */
async function copyTree(source: string, target: string): Promise<void> {
  for (const name of await listTree(source)) {
    await createDirectory(dirname(join(target, name)));
    await copyFile(join(source, name), join(target, name));
  }
}

/** Returns the paths of all files below a directory, sorted. */
async function listTree(directory: string): Promise<string[]> {
  const entries = await ifPresent(readdir(directory, { withFileTypes: true, recursive: true }));
  return (entries ?? [])
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort();
}

async function readNames(directory: string): Promise<string[]> {
  return readdir(directory).catch((error) => {
    if (isMissing(error)) return [];
    throw new StorageError(`${directory} cannot be read: ${messageOf(error)}`, { cause: error });
  });
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await using file = await openRegular(path);
  for await (const chunk of file.createReadStream()) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** Syncs files and directories. LevelDB synced its tables when it wrote them. */
async function syncTree(directory: string): Promise<void> {
  const names = await listTree(directory);
  for (const name of names) if (!name.endsWith('.ldb')) await syncOne(join(directory, name));
  for (const folder of new Set(names.map((name) => dirname(name)))) await syncOne(join(directory, folder));
  await syncOne(directory);
}

async function syncOne(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

function numberOf(name: string): number {
  return Number(NAME.exec(name)?.[1] ?? 0);
}

function fourteenDigits(time: number): string {
  return new Date(time).toISOString().replace(/\D/g, '').slice(0, 14);
}

function isMissing(error: unknown): boolean {
  return errorCode(error) === 'ENOENT';
}
