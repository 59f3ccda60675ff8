/**
 * Closes what an owner holds, the latest first. It has the semantics of the AsyncDisposableStack of ECMAScript 2026, which
 * Node 20 and 22 lack: every part is closed even when one fails. One error is thrown as it is, several as an AggregateError
 * in the order in which they came.
 *
 * An owner whose opening may fail half way opens its parts into a stack and takes them over at the end:
 *
 * ```ts
 * await using parts = new CloseStack();
 * const store = parts.use(await Store.open(directory));
 * const server = parts.use(await listen(store));
 * return new Service(store, server, parts.move());
 * ```
 */
export class CloseStack implements AsyncDisposable {
  #closers: (() => unknown)[] = [];
  #closed: Promise<void> | undefined;

  get disposed(): boolean {
    return this.#closed !== undefined;
  }

  /** Adds a part that can close itself, and returns it. */
  use<T extends AsyncDisposable | Disposable>(part: T): T {
    this.defer(() =>
      Symbol.asyncDispose in part ? part[Symbol.asyncDispose]() : (part as Disposable)[Symbol.dispose](),
    );
    return part;
  }

  /** Adds a part together with what closes it, and returns the part. */
  adopt<T>(part: T, close: (part: T) => unknown): T {
    this.defer(() => close(part));
    return part;
  }

  /** Adds something to do at the close; a promise that it returns is awaited. */
  defer(close: () => unknown): void {
    if (this.disposed) throw new TypeError('the close stack is closed already');
    this.#closers.push(close);
  }

  /** Hands everything to a new stack; closing this one then does nothing. */
  move(): CloseStack {
    if (this.disposed) throw new TypeError('the close stack is closed already');
    const moved = new CloseStack();
    moved.#closers = this.#closers;
    this.#closers = [];
    this.#closed = Promise.resolve();
    return moved;
  }

  /** Closes every part, the latest first. Further calls return the same promise. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#closeAll();
    return this.#closed;
  }

  async #closeAll(): Promise<void> {
    const errors: unknown[] = [];
    for (let close = this.#closers.pop(); close !== undefined; close = this.#closers.pop()) {
      try {
        await close();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length === 1) throw errors[0];
    if (errors.length > 1) throw new AggregateError(errors, `${errors.length} parts failed to close`);
  }
}
