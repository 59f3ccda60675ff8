// Pauses the work of one query while others have its slot.

/**
 * Tells an engine when a query may work. The owner of the query pauses and resumes it; an engine that can pause
 * watches. A paused query does no work and keeps its state.
 */
export class PauseSwitch {
  #isPaused = false;
  #listener: ((isPaused: boolean) => void) | undefined;

  /** Whether an engine obeys: without one, a pause has no effect. */
  get isWatched(): boolean {
    return this.#listener !== undefined;
  }

  /** Calls back at each change, and immediately if the query is paused. One listener at a time. */
  watch(listener: (isPaused: boolean) => void): void {
    this.#listener = listener;
    if (this.#isPaused) listener(true);
  }

  pause(): void {
    this.#set(true);
  }

  resume(): void {
    this.#set(false);
  }

  #set(isPaused: boolean): void {
    if (this.#isPaused === isPaused) return;
    this.#isPaused = isPaused;
    this.#listener?.(isPaused);
  }
}
