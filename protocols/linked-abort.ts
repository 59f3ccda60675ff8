/** The reason of a task that is over. To make one takes longer than the rest of a short task. */
const OVER = new DOMException('This operation was aborted', 'AbortError');

/**
 * The signal of a task, aborted by any of its sources and when the task is over: disposing of it stops the rest
 * of the task.
 *
 * Unlike `AbortSignal.any`, it removes its listeners from the sources, so that a source that lives as long as
 * the process does not remember every task.
 */
export class LinkedAbort implements Disposable {
  readonly #controller = new AbortController();
  readonly #sources: readonly AbortSignal[];

  /** @param sources undefined ones are ignored */
  constructor(...sources: readonly (AbortSignal | undefined)[]) {
    this.#sources = sources.filter((source) => source !== undefined);
    for (const source of this.#sources) {
      if (source.aborted) this.#controller.abort(source.reason);
      else source.addEventListener('abort', this.#follow, { once: true });
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: unknown = OVER): void {
    this.#controller.abort(reason);
  }

  [Symbol.dispose](): void {
    for (const source of this.#sources) source.removeEventListener('abort', this.#follow);
    this.#controller.abort(OVER);
  }

  readonly #follow = (event: Event): void => {
    const { target } = event;
    this.#controller.abort(target instanceof AbortSignal ? target.reason : undefined);
  };
}

/**
 * Returns the result of an action; throws the signal's reason as soon as it is aborted. The action may
 * continue; its result or error is ignored. It does not begin if the signal is aborted already.
 */
export function untilAborted<T>(action: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const onAbort = (): void => reject(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    action()
      .then(resolve, reject)
      .finally(() => signal?.removeEventListener('abort', onAbort));
  });
}
