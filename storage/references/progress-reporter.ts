import { setImmediate } from 'node:timers/promises';

/** Progress of a long operation. */
export type BuildPhase = 'documents' | 'refs' | 'hubs' | 'siterefs' | 'sitehubs' | 'ranks';

export interface ProgressOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called now and then: items of the phase that are done, of how many. */
  readonly onProgress?: ((phase: BuildPhase, done: number, total: number) => void) | undefined;
}

/** Items between two rests: some milliseconds. */
const STRIDE = 1 << 16;

/** Lets long work on arrays make room for others, be watched and be stopped. */
export class ProgressReporter {
  readonly #options: ProgressOptions;
  readonly #phase: BuildPhase;
  readonly #total: number;
  #done = 0;
  #next = STRIDE;

  constructor(phase: BuildPhase, total: number, options: ProgressOptions) {
    this.#phase = phase;
    this.#total = total;
    this.#options = options;
    options.signal?.throwIfAborted();
    options.onProgress?.(phase, 0, total);
  }

  /** Some items more; true when it is time to {@link rest}. */
  step(items = 1): boolean {
    this.#done += items;
    return this.#done >= this.#next;
  }

  async rest(): Promise<void> {
    this.#next = this.#done + STRIDE;
    this.#options.onProgress?.(this.#phase, this.#done, this.#total);
    await setImmediate();
    this.#options.signal?.throwIfAborted();
  }
}
