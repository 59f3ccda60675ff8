// The reader's side of a publication: a local copy of the newest generation, in the form of a data directory, whose
// readers open and follow it like one that was made on this machine.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type Clock, pauseFor } from '../../protocols/clock.js';
import { errorCode, messageOf, StorageError } from '../../protocols/errors.js';
import { Mutex } from '../../protocols/mutex.js';
import type { BlobStore } from '../blobs/contract.js';
import { openBlobs } from '../blobs/place.js';
import { digestOfFile } from '../blobs/sources.js';
import { linkOrCopy } from '../files/link-or-copy.js';
import { makeDirectory } from '../files/make-directory.js';
import { processClock } from '../files/process-clock.js';
import { isAlive, replaceContent } from '../files/replace-file.js';
import { syncPath } from '../files/sync-path.js';
import { beginGeneration, placeGeneration, unpublishedPath } from '../generations/directory.js';
import { fetchFile } from './fetch-file.js';
import {
  decodeManifest,
  encodeManifest,
  newestManifest,
  type PublicationManifest,
  type PublicationPlace,
} from './manifest.js';
import { inParallel } from './publish-files.js';

export interface ReplicaOptions {
  /** `s3://BUCKET/PREFIX` or a directory, as a publisher has it. */
  readonly from: string;
  /** What of it: the directory of the same name below `directory` gets the generations. */
  readonly area: 'generations' | 'references';
  /** The data directory that receives the copies; it is made if it is missing. */
  readonly directory: string;
  /** Milliseconds between two looks for a new generation. Default 10 000. */
  readonly pollIntervalMs?: number;
  /** The clock of the looks, for tests. Default: the monotonic one of this process. */
  readonly clock?: Clock;
  /** Called when another generation is there. */
  readonly onGeneration?: (generation: ReplicaGeneration) => void;
  /** Called when a look fails, once for each sentence, until one succeeds. */
  readonly onFailure?: (error: unknown) => void;
  /** Called when a look succeeds after one that failed. */
  readonly onRecovery?: () => void;
  /** Opens the blobs of `from`, for tests. */
  readonly open?: (place: string) => Promise<BlobStore>;
}

/** A generation that was copied. */
export interface ReplicaGeneration {
  /** Its number where it is published. */
  readonly number: number;
  /** Its number here. */
  readonly local: number;
  /** Bytes that were fetched; the other files are those of the generation before. */
  readonly fetchedBytes: number;
}

const DEFAULT_POLL_MS = 10_000;
/** Looks at a publication that is replaced while it is copied. */
const MAX_REPLACED = 20;

const stateSchema = z.object({
  from: z.string(),
  copied: z.object({ local: z.number().int().min(1), manifest: z.string() }).optional(),
});

/** What this directory has a copy of. */
interface ReplicaState {
  readonly local: number;
  readonly manifest: PublicationManifest;
}

/** Keeps the copy of a publication up to date. One process has it open. */
export class Replica implements AsyncDisposable {
  readonly #options: ReplicaOptions;
  readonly #place: PublicationPlace;
  readonly #generations: string;
  readonly #clock: Clock;
  readonly #mutex = new Mutex();
  readonly #stop = new AbortController();
  #state: ReplicaState | undefined;
  /** The sentence of the last look, if it failed. */
  #failure: string | undefined;
  #following: Promise<void> | undefined;

  private constructor(options: ReplicaOptions, place: PublicationPlace) {
    this.#options = options;
    this.#place = place;
    this.#generations = join(options.directory, options.area);
    this.#clock = options.clock ?? processClock;
  }

  /**
   * Opens the directory and checks what it has a copy of by its digests. Nothing is asked of the store yet.
   *
   * @throws StorageError if another process has it open, or its generations are of another origin
   */
  static async open(options: ReplicaOptions): Promise<Replica> {
    const store = await (options.open ?? openBlobs)(options.from);
    const replica = new Replica(options, { store, area: options.area });
    try {
      await makeDirectory(options.directory);
      await replica.#lock();
      replica.#state = await replica.#checkedState();
    } catch (error) {
      await store.close();
      throw error;
    }
    return replica;
  }

  /** The place that is copied, without a login. */
  get address(): string {
    return this.#place.store.address;
  }

  /** Why the last look for a new generation failed; undefined if it did not. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** The number of the copied generation where it is published; undefined before the first. */
  get number(): number | undefined {
    return this.#state?.manifest.number;
  }

  /**
   * Looks for a new generation and copies it. A failure is reported, and what is there stays.
   *
   * @returns whether the store has answered
   */
  async refresh(): Promise<boolean> {
    return await this.#mutex.runExclusive(async () => {
      try {
        await this.#copyNewest();
        if (this.#failure !== undefined) this.#options.onRecovery?.();
        this.#failure = undefined;
        return true;
      } catch (error) {
        if (this.#stop.signal.aborted) return false;
        const sentence = messageOf(error);
        if (sentence !== this.#failure) this.#options.onFailure?.(error);
        this.#failure = sentence;
        return false;
      }
    });
  }

  /** Looks at intervals until the replica is closed. Does not keep the process alive. */
  follow(): void {
    this.#following ??= (async () => {
      const { pollIntervalMs = DEFAULT_POLL_MS } = this.#options;
      const { signal } = this.#stop;
      while (!signal.aborted) {
        try {
          await pauseFor(background(this.#clock), pollIntervalMs, signal);
        } catch {
          return;
        }
        await this.refresh();
      }
    })();
  }

  /** Ends a look that runs. The copies stay for the next start. */
  async close(): Promise<void> {
    if (this.#stop.signal.aborted) return;
    this.#stop.abort(new StorageError('the copy of the publication is closed'));
    await this.#place.store.close();
    await this.#following;
    await this.#mutex.runExclusive(() => rm(this.#lockFile, { force: true }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #copyNewest(): Promise<void> {
    const { signal } = this.#stop;
    for (let attempt = 1; ; attempt++) {
      const have = this.#state?.manifest;
      // The one that is here is listed, too: if it is not, the place was emptied and is filled anew.
      const newest = await newestManifest(this.#place, 0, { signal });
      if (newest === undefined || newest.id === have?.id) return;
      try {
        await this.#copy(newest);
        return;
      } catch (error) {
        signal.throwIfAborted();
        const now = await newestManifest(this.#place, 0, { signal });
        if (now?.id === newest.id || attempt === MAX_REPLACED) throw error;
      }
    }
  }

  async #copy(manifest: PublicationManifest): Promise<void> {
    if (manifest.files.some(({ name }) => name.includes('/')))
      throw new StorageError(`${this.address}/${this.#place.area} is not a publication of generations`);
    const local = Math.max(manifest.number, await beginGeneration(this.#generations));
    const target = unpublishedPath(this.#generations, local);
    let fetchedBytes = 0;
    try {
      await mkdir(target, { mode: 0o700 });
      const former = new Map(this.#state?.manifest.files.map((file) => [file.sha256, file.name]));
      const formerPath = join(this.#generations, String(this.#state?.local ?? 0));
      await inParallel(manifest.files, async (file) => {
        const to = join(target, file.name);
        const name = former.get(file.sha256);
        if (name === undefined || !(await linkSame(join(formerPath, name), to, file))) {
          await fetchFile(this.#place, file, to, this.#stop.signal);
          fetchedBytes += file.size;
        }
      });
      await placeGeneration(this.#generations, local);
    } catch (error) {
      await rm(target, { recursive: true, force: true });
      throw error;
    }
    this.#state = { local, manifest };
    await this.#writeState(this.#state);
    this.#options.onGeneration?.({ number: manifest.number, local, fetchedBytes });
  }

  /** The state of an earlier process, if its files are as they were published. */
  async #checkedState(): Promise<ReplicaState | undefined> {
    const found = await this.#readState();
    if (found === 'absent') {
      await this.#refuseOther();
      // From now on the generations here are copies, also after a crash right after the first one has its name.
      await this.#writeState(undefined);
    }
    if (typeof found === 'string') return undefined;
    const path = join(this.#generations, String(found.local));
    for (const { name, size, sha256 } of found.manifest.files) {
      const now = await digestOfFile(join(path, name)).catch(() => undefined);
      if (now?.size !== size || now.sha256 !== sha256) return undefined;
    }
    return found;
  }

  /** @throws StorageError if it is the state of another publication */
  async #readState(): Promise<ReplicaState | 'absent' | 'nothing copied'> {
    let text: string;
    try {
      text = await readFile(this.#stateFile, 'utf8');
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return 'absent';
      throw new StorageError(`${this.#stateFile} cannot be read: ${messageOf(error)}`, { cause: error });
    }
    let state: z.infer<typeof stateSchema>;
    try {
      state = stateSchema.parse(JSON.parse(text));
    } catch {
      // Damaged: everything is copied again.
      return 'nothing copied';
    }
    const { address } = this.#place.store;
    if (state.from !== address)
      throw new StorageError(
        `${this.#options.directory} has copies of ${state.from}, not of ${address}: use another directory, or remove this one`,
      );
    const { copied } = state;
    if (copied === undefined) return 'nothing copied';
    try {
      return { local: copied.local, manifest: decodeManifest(Buffer.from(copied.manifest)) };
    } catch {
      return 'nothing copied';
    }
  }

  async #writeState(state: ReplicaState | undefined): Promise<void> {
    const copied = state && { local: state.local, manifest: encodeManifest(state.manifest).toString('utf8') };
    const text = JSON.stringify({ from: this.#place.store.address, copied });
    await replaceContent(this.#stateFile, `${text}\n`);
  }

  /** A Gatherer's own generations must not be replaced by those of another. */
  async #refuseOther(): Promise<void> {
    const pointer = await readFile(join(this.#generations, 'CURRENT')).catch(() => undefined);
    if (pointer !== undefined)
      throw new StorageError(
        `${this.#generations} was not copied from ${this.#place.store.address}: use another directory for the copies`,
      );
  }

  get #stateFile(): string {
    return join(this.#options.directory, `.copied-${this.#options.area}.json`);
  }

  get #lockFile(): string {
    return join(this.#options.directory, `.copied-${this.#options.area}.pid`);
  }

  async #lock(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await writeFile(this.#lockFile, `${process.pid}\n`, { flag: 'wx' });
        return;
      } catch (error) {
        if (errorCode(error) !== 'EEXIST') throw error;
      }
      const pid = Number(await readFile(this.#lockFile, 'latin1').catch(() => ''));
      if (attempt > 2 || (pid > 0 && pid !== process.pid && isAlive(pid)))
        throw new StorageError(
          `${this.#options.directory} is in use by process ${pid}: another server copies into it`,
        );
      await rm(this.#lockFile, { force: true });
    }
  }
}

/** Links a file that is here already, if it is still as it was. @returns whether it was */
async function linkSame(
  from: string,
  to: string,
  { size, sha256 }: { readonly size: number; readonly sha256: string },
): Promise<boolean> {
  const found = await digestOfFile(from).catch(() => undefined);
  if (found?.size !== size || found.sha256 !== sha256) return false;
  await linkOrCopy(from, to);
  await syncPath(to);
  return true;
}

/** A clock whose timers do not keep the process alive. */
function background(clock: Clock): Clock {
  return {
    now: () => clock.now(),
    setTimer: (callback, milliseconds) => clock.setTimer(callback, milliseconds, true),
  };
}
