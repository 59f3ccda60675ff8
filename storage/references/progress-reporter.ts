import { setImmediate } from 'node:timers/promises';

/** A phase of a long operation. */
export type BuildPhase = 'documents' | 'refs' | 'hubs' | 'siterefs' | 'sitehubs' | 'ranks';

export interface ProgressOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called periodically with the number of finished items of the phase and the total number. */
  readonly onProgress?: ((phase: BuildPhase, done: number, total: number) => void) | undefined;
}

/** The number of items between two yields, a few milliseconds of work. */
const ITEMS_PER_YIELD = 1 << 16;

/** Makes long synchronous work yield to the event loop, report its progress and stop on abort. */
export class ProgressReporter {
  readonly #options: ProgressOptions;
  readonly #phase: BuildPhase;
  readonly #total: number;
  #done = 0;
  #next = ITEMS_PER_YIELD;

  constructor(phase: BuildPhase, total: number, options: ProgressOptions) {
    this.#phase = phase;
    this.#total = total;
    this.#options = options;
    options.signal?.throwIfAborted();
    options.onProgress?.(phase, 0, total);
  }

  /** Adds finished items. Returns true if the caller must now call {@link yield}. */
  step(items = 1): boolean {
    this.#done += items;
    return this.#done >= this.#next;
  }

  /** Reports the progress and yields to the event loop. Throws if the signal is aborted. */
  async yield(): Promise<void> {
    this.#next = this.#done + ITEMS_PER_YIELD;
    this.#options.onProgress?.(this.#phase, this.#done, this.#total);
    await setImmediate();
    this.#options.signal?.throwIfAborted();
  }
}
