// What is known to be damaged of a Broker's store, until the Broker starts again: health checks and `#do-stats` tell it.
import { StorageError } from '../../../protocols/errors.js';
import { isIndexFailure } from './index-repair.js';

const DAMAGED = / is damaged: /;

export class StoreDamage {
  #first: string | undefined;

  /** A sentence about the first damage that was found; undefined if there was no damage. */
  get sentence(): string | undefined {
    return this.#first;
  }

  note(sentence: string): void {
    this.#first ??= sentence;
  }

  /** Notes why a query or a transfer failed, if the store is the reason. */
  noteFailure(error: unknown): void {
    if (isIndexFailure(error) || !(error instanceof StorageError)) return;
    if (DAMAGED.test(error.message)) this.note(error.message);
  }
}
