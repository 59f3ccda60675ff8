// When a database may be opened again after a failed write, and how the threads that share it let go of it.
import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { BroadcastChannel } from 'node:worker_threads';
import { ClassicLevel } from 'classic-level';
import { StorageError } from '../../protocols/errors.js';

/** Bytes that must be free beside the copy of the logs that an opening writes. */
const SPARE_BYTES = 1 << 20;
/** Milliseconds that the other threads have to close a database. */
const RELEASE_MS = 10_000;
/** Milliseconds between two attempts to open it alone. */
const RELEASE_STEP_MS = 10;

/**
 * Whether there is room to open a database again: LevelDB turns its logs into tables then. On a file system
 * that tells no figures the answer is yes.
 */
export async function hasRoomToOpen(directory: string): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(directory);
    let logs = 0;
    for (const name of await readdir(directory)) {
      if (name.endsWith('.log')) logs += (await stat(join(directory, name))).size;
    }
    return bavail * bsize >= logs + SPARE_BYTES;
  } catch {
    // The opening reports the error of the directory.
    return true;
  }
}

/** The threads of this process that have a database open, which is one database for LevelDB. */
export class SharedDatabase implements Disposable {
  readonly #directory: string;
  readonly #channel: BroadcastChannel;
  #reopened: (() => void) | undefined;

  /** @param release closes the database in this thread, awaits its argument, and opens it again */
  constructor(directory: string, release: (reopened: Promise<void>) => Promise<void>) {
    this.#directory = directory;
    this.#channel = new BroadcastChannel(`database ${directory}`);
    this.#channel.unref();
    this.#channel.onmessage = (event) => {
      const { data } = event as { readonly data: unknown };
      if (data === 'reopened') this.#reopened?.();
      // Another release while one is in progress needs nothing: the database is closed here.
      else if (this.#reopened === undefined) void this.#release(release);
    };
  }

  /**
   * Waits until no other thread has the database open. This thread has closed it. {@link reopened} must follow.
   *
   * @throws StorageError if a thread does not close it in time, or the database cannot be opened
   */
  async closeElsewhere(): Promise<void> {
    this.#channel.postMessage('release');
    const end = performance.now() + RELEASE_MS;
    for (;;) {
      // Without multithreading an opening fails while any thread has the database open.
      const alone = new ClassicLevel(this.#directory, { createIfMissing: false, multithreading: false });
      try {
        await alone.open();
        await alone.close();
        return;
      } catch (error) {
        if (!isLocked(error)) throw error;
        if (performance.now() > end)
          throw new StorageError(`the store in ${this.#directory} is held by a thread`, { cause: error });
      }
      await pause(RELEASE_STEP_MS);
    }
  }

  /** Tells the other threads that they may open the database again. */
  reopened(): void {
    this.#channel.postMessage('reopened');
  }

  [Symbol.dispose](): void {
    this.#channel.close();
    this.#reopened?.();
  }

  async #release(release: (reopened: Promise<void>) => Promise<void>): Promise<void> {
    const reopened = new Promise<void>((resolve) => {
      this.#reopened = resolve;
    });
    try {
      await release(reopened);
    } catch {
      // The next use of the database opens it, or reports why not.
    } finally {
      this.#reopened = undefined;
    }
  }
}

/** Whether an error of the database says that it is open elsewhere. */
export function isLocked(error: unknown): boolean {
  return (
    error instanceof Error &&
    error.cause instanceof Error &&
    'code' in error.cause &&
    error.cause.code === 'LEVEL_LOCKED'
  );
}
