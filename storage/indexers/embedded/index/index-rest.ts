// The sums of an index that nothing is written into for a while: kill -9 leaves them, so that its pages can be compared
// without the process that wrote them.
import { dirname, join } from 'node:path';
import { SUMS_FILE } from '../../../files/checksums.js';
import { removeNoted } from '../../../files/note-change.js';
import { type ClosedIndex, sealIndex } from './index-file.js';

/** Milliseconds without a change before the sums are written, at least. */
const REST_MS = 50;
/** The same before the first sums of this process, at most. */
const FIRST_REST_MS = 2000;
/** They are written again at the earliest after this many times the time that they took. */
const SHARE = 100;
/** Bytes whose sum takes a millisecond, until it is known. */
const BYTES_PER_MS = 500_000;

export class IndexRest {
  readonly #file: string;
  readonly #merge: () => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #sealing: Promise<void> | undefined;
  #isSealed: boolean;
  #restMs: number;

  /**
   * @param closed what is known of the file: sealed if the sums are there, and right
   * @param merge writes into the file what SQLite keeps beside it
   */
  constructor(
    file: string,
    { isSealed, bytes }: Pick<ClosedIndex, 'isSealed' | 'bytes'>,
    merge: () => Promise<void>,
  ) {
    this.#file = file;
    this.#isSealed = isSealed;
    this.#merge = merge;
    this.#restMs = Math.min(FIRST_REST_MS, Math.max(REST_MS, (SHARE * bytes) / BYTES_PER_MS));
    if (!isSealed) this.begin();
  }

  /** Whether {@link end} has to be called before a change. */
  get isResting(): boolean {
    return this.#isSealed || this.#timer !== undefined;
  }

  /** Changes are complete for now. */
  begin(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#sealing ??= this.#seal().finally(() => {
        this.#sealing = undefined;
      });
    }, this.#restMs).unref();
  }

  /** Writes nothing any more. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#sealing;
  }

  /** Before a change. */
  async end(): Promise<void> {
    await this.stop();
    if (!this.#isSealed) return;
    await removeNoted(join(dirname(this.#file), SUMS_FILE));
    this.#isSealed = false;
  }

  async #seal(): Promise<void> {
    const begin = performance.now();
    try {
      await this.#merge();
    } catch {
      // The next change reports the failure.
      return;
    }
    this.#isSealed = true;
    await sealIndex(this.#file, []);
    this.#restMs = Math.max(REST_MS, SHARE * (performance.now() - begin));
  }
}
