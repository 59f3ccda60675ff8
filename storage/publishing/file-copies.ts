// Copies of files that never change once they are finished, such as WARC files, in a store of blobs.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, StorageError } from '../../protocols/errors.js';
import { isKey } from '../blobs/contract.js';
import { digestOfFile, fileSource } from '../blobs/sources.js';
import type { PublicationPlace } from './manifest.js';

export interface FileCopiesOptions {
  /** Opens the place at the first file. */
  readonly open: () => Promise<PublicationPlace>;
  readonly directory: string;
  /** Tells the finished files of the directory by their names. */
  readonly isFinished: (name: string) => boolean;
  /** Called if a file cannot be sent; the next start in this directory tries again. */
  readonly onProblem: (sentence: string) => void;
}

/** Sends files, one after another, beside the work that makes them. They stay where they are. */
export class FileCopies implements AsyncDisposable {
  readonly #options: FileCopiesOptions;
  readonly #stop = new AbortController();
  #place: Promise<PublicationPlace> | undefined;
  #last: Promise<void> = Promise.resolve();
  /** Calls that are queued and have not begun. */
  #waiting = 0;
  #hasFailed = false;

  constructor(options: FileCopiesOptions) {
    this.#options = options;
  }

  /** Sends a finished file of the directory. */
  add(name: string): void {
    this.#queue(name, (place) => this.#send(place, name));
  }

  /** Sends the finished files that the place lacks, as after a kill. */
  addMissing(): void {
    this.#queue('', (place) => this.#sendMissing(place));
  }

  /** Ends the sending: a stopped crawl does not wait. */
  stop(): void {
    this.#stop.abort();
  }

  /** Resolves when all files are sent, or their problems told. */
  settled(): Promise<void> {
    return this.#last;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.settled();
    const place = await this.#place?.catch(() => undefined);
    await place?.store.close();
  }

  #queue(name: string, work: (place: PublicationPlace) => Promise<void>): void {
    this.#waiting++;
    this.#last = this.#last.then(async () => {
      this.#waiting--;
      // While the place is down, only the last file waits for it.
      if (this.#stop.signal.aborted || (this.#hasFailed && this.#waiting > 0)) return;
      try {
        this.#place ??= this.#options.open();
        const place = await this.#place;
        await (this.#hasFailed ? this.#sendMissing(place) : work(place));
        this.#hasFailed = false;
      } catch (error) {
        this.#hasFailed = true;
        if (this.#stop.signal.aborted) return;
        const path = join(this.#options.directory, name);
        this.#options.onProblem(`${path} cannot be sent to the place of Publish: ${messageOf(error)}`);
      }
    });
  }

  async #sendMissing(place: PublicationPlace): Promise<void> {
    const { directory, isFinished } = this.#options;
    const sizes = new Map<string, number>();
    for await (const page of place.store.list(`${place.area}/`, { signal: this.#stop.signal }))
      for (const { key, size } of page) sizes.set(key.slice(place.area.length + 1), size);
    for (const name of (await readdir(directory)).filter(isFinished).sort()) {
      const { size } = await stat(join(directory, name));
      if (sizes.get(name) !== size) await this.#send(place, name);
    }
  }

  async #send({ store, area }: PublicationPlace, name: string): Promise<void> {
    const path = join(this.#options.directory, name);
    if (!isKey(name)) throw new StorageError('its name cannot be a key');
    const { size, sha256 } = await digestOfFile(path);
    await store.put(`${area}/${name}`, fileSource(path, size, sha256), { signal: this.#stop.signal });
  }
}
