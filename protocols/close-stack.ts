import { StateError } from './errors.js';

/**
 * Closes the resources of an owner, the latest first. It has the semantics of the AsyncDisposableStack of
 * ECMAScript 2026, which Node 20 and 22 lack: every resource is closed even when one fails. One error is thrown
 * as it is, several as an AggregateError in the order of closing.
 *
 * An owner whose opening may fail halfway collects its resources in a stack and takes them over at the end:
 *
 * ```ts
 * await using resources = new CloseStack();
 * const store = resources.use(await Store.open(directory));
 * const server = resources.use(await listen(store));
 * return new Service(store, server, resources.move());
 * ```
 */
export class CloseStack implements AsyncDisposable {
  #closers: (() => unknown)[] = [];
  #closed: Promise<void> | undefined;

  /** Whether the stack is closed, is being closed, or was moved. */
  get disposed(): boolean {
    return this.#closed !== undefined;
  }

  /** Adds a resource that can close itself, and returns it. */
  use<T extends AsyncDisposable | Disposable>(resource: T): T {
    this.defer(() =>
      Symbol.asyncDispose in resource
        ? resource[Symbol.asyncDispose]()
        : (resource as Disposable)[Symbol.dispose](),
    );
    return resource;
  }

  /** Adds a resource together with the function that closes it, and returns the resource. */
  adopt<T>(resource: T, close: (resource: T) => unknown): T {
    this.defer(() => close(resource));
    return resource;
  }

  /**
   * Adds a function to call at the close; a promise that it returns is awaited. @throws StateError when
   * disposed
   */
  defer(close: () => unknown): void {
    this.#assertOpen();
    this.#closers.push(close);
  }

  /**
   * Moves all resources to a new stack; closing this one then does nothing. @throws StateError when disposed
   */
  move(): CloseStack {
    this.#assertOpen();
    const moved = new CloseStack();
    moved.#closers = this.#closers;
    this.#closers = [];
    this.#closed = Promise.resolve();
    return moved;
  }

  /** Closes every resource, the latest first. Further calls return the same promise. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#closeAll();
    return this.#closed;
  }

  #assertOpen(): void {
    if (this.disposed) throw new StateError('the close stack is closed already');
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
    if (errors.length > 1) throw new AggregateError(errors, `${errors.length} resources failed to close`);
  }
}
