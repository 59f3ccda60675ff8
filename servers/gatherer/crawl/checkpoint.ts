import { createHash } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { StorageError, UsageError } from '../../../protocols/errors.js';
import { GathererStore } from '../../../storage/index.js';
import type { CheckpointInfo } from './control.js';

/*
 * A directory of checkpoints:
 *
 *     cp00007-20261121183000/       one that is whole
 *         store/                    the working store as it was: table files are hard links
 *         components.json           what else is to be taken over: servers, statistics
 *         manifest.json             every file with its length; of small ones the digest
 *         valid                     written last: 14 digits, the time
 *     cp00008-....tmp/              one in the making, or what a killed process left
 */

export interface CheckpointsOptions {
  readonly store: GathererStore;
  /** Older ones are removed. */
  readonly kept: number;
  /** What is kept beside the store: `frontier` gives the counts that are shown. */
  readonly components: () => { readonly frontier: FrontierFigures } & Readonly<Record<string, unknown>>;
  /** CRAWL-17.2.1: rotates logs and journal; their old parts get this suffix. */
  readonly rotate: (suffix: string) => Promise<void>;
}

interface FrontierFigures {
  readonly queued: number;
  readonly succeeded: number;
  readonly bytes: number;
}

const NAME = /^cp(\d{5,9})-(\d{14})$/;
/** Files up to this size are digested; tables of LevelDB have checksums of their own. */
const DIGESTED_BYTES = 4 << 20;

const manifestSchema = z.object({
  version: z.literal(1),
  time: z.number(),
  queued: z.number(),
  succeeded: z.number(),
  bytes: z.number(),
  files: z.array(z.object({ name: z.string(), length: z.number(), sha256: z.string().optional() })),
});
type Manifest = z.output<typeof manifestSchema>;

/**
 * CRAWL-17.3: checkpoints without stopping the crawl. The store is closed for the moment that linking its files takes; a URI that is
 * at a worker is the head of its queue there, so nothing is lost and nothing is done twice but what was under way. A checkpoint is
 * verified before it counts, never written again, and can be gone back to any number of times (CRAWL-17.3.2).
 */
export class Checkpoints {
  #next: number;
  #newest: string;
  #taking: Promise<unknown> = Promise.resolve();

  private constructor(
    readonly directory: string,
    private readonly options: CheckpointsOptions,
    names: readonly string[],
  ) {
    this.#newest = names.at(-1) ?? '';
    this.#next = Number(NAME.exec(this.#newest)?.[1] ?? 0) + 1;
  }

  static async open(directory: string, options: CheckpointsOptions): Promise<Checkpoints> {
    const names = await listCheckpoints(directory);
    return new Checkpoints(directory, options, names);
  }

  /** Name of the newest; empty: none. */
  get newest(): string {
    return this.#newest;
  }

  /** Takes one, after those that are being taken. @throws StorageError when it cannot be written or verified */
  take(): Promise<CheckpointInfo> {
    const taken = this.#taking.then(() => this.#take());
    this.#taking = taken.catch(() => undefined);
    return taken;
  }

  async #take(): Promise<CheckpointInfo> {
    const time = Date.now();
    const name = `cp${String(this.#next++).padStart(5, '0')}-${fourteenDigits(time)}`;
    const temporary = join(this.directory, `${name}.tmp`);
    const final = join(this.directory, name);
    try {
      await mkdir(temporary, { recursive: true });
      await this.options.store.clone(join(temporary, 'store'));
      const components = this.options.components();
      await writeFile(join(temporary, 'components.json'), JSON.stringify(components));
      const { queued, succeeded, bytes } = components.frontier;
      const manifest: Manifest = {
        version: 1,
        time,
        queued,
        succeeded,
        bytes,
        files: await filesOf(temporary),
      };
      await writeFile(join(temporary, 'manifest.json'), JSON.stringify(manifest));
      await writeFile(join(temporary, 'valid'), `${fourteenDigits(time)}\n`);
      await verifyCheckpoint(temporary);
      await syncAll(temporary);
      await rename(temporary, final);
      await this.options.rotate(name);
    } catch (cause) {
      await rm(temporary, { recursive: true, force: true });
      throw new StorageError(`checkpoint ${name}: ${reason(cause)}`, { cause });
    }
    this.#newest = name;
    await this.#removeOld();
    return infoOf(this.directory, name);
  }

  async #removeOld(): Promise<void> {
    const names = await listCheckpoints(this.directory);
    for (const name of names.slice(0, -this.options.kept))
      await rm(join(this.directory, name), { recursive: true, force: true });
  }
}

/** Names of the whole checkpoints in a directory, the oldest first. */
export async function listCheckpoints(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch(() => []);
  return names.filter((name) => NAME.test(name)).sort();
}

export async function infoOf(directory: string, name: string): Promise<CheckpointInfo> {
  const { time, queued, succeeded, bytes } = await readManifest(join(directory, name));
  return { name, directory: join(directory, name), time, queued, succeeded, bytes };
}

/**
 * CRAWL-17.3.2: are all files there, as long as they were, and is the store one that opens? It is opened in a copy, so that the
 * checkpoint stays as it is.
 * @throws StorageError that names the file
 */
export async function verifyCheckpoint(directory: string): Promise<void> {
  await stat(join(directory, 'valid')).catch(() => {
    throw new StorageError(`${directory} has no file valid`);
  });
  for (const { name, length, sha256 } of (await readManifest(directory)).files) {
    const path = join(directory, name);
    const found = await stat(path).catch(() => undefined);
    if (found?.size !== length) throw new StorageError(`${path} has not its ${length} bytes`);
    if (sha256 !== undefined && (await digestOf(path)) !== sha256)
      throw new StorageError(`${path} was changed`);
  }
  const probe = `${directory}.probe`;
  await rm(probe, { recursive: true, force: true });
  try {
    await cloneStore(join(directory, 'store'), probe);
    await using store = await GathererStore.open(probe);
    await store.queueRecords.state();
  } finally {
    await rm(probe, { recursive: true, force: true });
  }
}

/**
 * CRAWL-17.2.2: makes a checkpoint's store the Gatherer's working store. The former one is kept beside it.
 * @returns where the former one is; empty: there was none
 * @throws UsageError when there is no such checkpoint; StorageError when it is not whole
 */
export async function restoreCheckpoint(
  gatherer: string,
  checkpoints: string,
  name: string,
): Promise<string> {
  if (!(await listCheckpoints(checkpoints)).includes(name))
    throw new UsageError(`${checkpoints} holds no checkpoint ${name}`);
  const checkpoint = join(checkpoints, name);
  await verifyCheckpoint(checkpoint);
  const working = join(gatherer, 'working');
  const fresh = `${working}.new`;
  await rm(fresh, { recursive: true, force: true });
  await cloneStore(join(checkpoint, 'store'), fresh);
  const former = `${working}.before-${fourteenDigits(Date.now())}`;
  const existed = await rename(working, former).then(
    () => true,
    () => false,
  );
  await rename(fresh, working);
  return existed ? former : '';
}

/** What a checkpoint keeps beside its store. */
export async function readComponents(directory: string): Promise<Readonly<Record<string, unknown>>> {
  const text = await readFile(join(directory, 'components.json'), 'utf8');
  return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
}

async function cloneStore(source: string, target: string): Promise<void> {
  await mkdir(target);
  await GathererStore.cloneClosed(source, target);
}

async function readManifest(directory: string): Promise<Manifest> {
  const path = join(directory, 'manifest.json');
  try {
    return manifestSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (cause) {
    throw new StorageError(`${path} is damaged`, { cause });
  }
}

async function filesOf(directory: string): Promise<Manifest['files']> {
  const files: Manifest['files'] = [];
  for (const name of [
    'components.json',
    ...(await readdir(join(directory, 'store'))).map((n) => `store/${n}`),
  ]) {
    const path = join(directory, name);
    const { size } = await stat(path);
    files.push(
      size > DIGESTED_BYTES ? { name, length: size } : { name, length: size, sha256: await digestOf(path) },
    );
  }
  return files;
}

async function digestOf(path: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
}

async function syncAll(directory: string): Promise<void> {
  for (const name of ['store', 'components.json', 'manifest.json', 'valid', '.']) {
    const file = await open(join(directory, name), 'r');
    try {
      await file.sync();
    } finally {
      await file.close();
    }
  }
}

function fourteenDigits(time: number): string {
  return new Date(time).toISOString().replace(/\D/g, '').slice(0, 14);
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
