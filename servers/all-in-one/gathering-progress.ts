// The progress of a run that gathers, for the web pages.
import type { Gathering } from '../broker/index.js';

/** How far the run in progress is. */
export class GatheringProgress {
  #state: Gathering | undefined;

  /** Undefined while no run is in progress. */
  get state(): Gathering | undefined {
    return this.#state;
  }

  /** A run begins; it ends when the result is disposed of. */
  begin(): Disposable {
    this.#state = { done: 0, known: 0 };
    return {
      [Symbol.dispose]: () => {
        this.#state = undefined;
      },
    };
  }

  /** @param counts of the frontier, after a document */
  update({
    queued,
    succeeded,
    failed,
    disregarded,
  }: Readonly<Record<'queued' | 'succeeded' | 'failed' | 'disregarded', number>>): void {
    const done = succeeded + failed + disregarded;
    this.#state = { done, known: done + queued };
  }
}
