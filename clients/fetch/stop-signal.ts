/**
 * Ends one retrieval. Its signal is made for the first caller that waits: one for each request on a kept connection
 * would cost more than the rest of the request.
 */
export class StopSignal {
  #controller: AbortController | undefined;
  #reason: Error | undefined;

  /** The first reason counts. */
  abort(reason: Error): void {
    this.#reason ??= reason;
    this.#controller?.abort(this.#reason);
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** @throws the reason */
  throwIfAborted(): void {
    if (this.#reason !== undefined) throw this.#reason;
  }
}
