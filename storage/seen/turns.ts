import { UsageError } from '../../protocols/errors.js';

/** Lets one piece of work run at a time, in the order in which they were asked for. */
export class Turns {
  #end: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;

  take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) return Promise.reject(new UsageError('the seen filter is closed'));
    const turn = this.#end.then(work);
    this.#end = turn.catch(() => undefined);
    return turn;
  }

  /** The last piece of work; asked for again, it is the same one. */
  last(work: () => Promise<void>): Promise<void> {
    this.#closing ??= this.#end.then(work);
    return this.#closing;
  }
}
