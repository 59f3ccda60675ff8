import { StateError } from '../errors.js';
import type { StreamReader } from './stream-reader.js';

/**
 * Queues the items of a {@link StreamReader} and delivers them before its error: a call returns the items found
 * so far, the next call throws the error. {@link end} has no next call, so it throws the error immediately.
 */
export class DeliveryQueue<Item> {
  #items: Item[] = [];
  #ended = false;
  #thrown = false;
  readonly #reader: StreamReader;

  constructor(reader: StreamReader) {
    this.#reader = reader;
  }

  add(item: Item): void {
    this.#items.push(item);
  }

  push(chunk: Uint8Array): Item[] {
    if (this.#thrown) throw this.#reader.failure ?? new StateError('push after an error');
    this.#reader.push(chunk);
    return this.#deliver();
  }

  end(): Item[] {
    if (this.#ended) throw new StateError('end after end');
    this.#ended = true;
    this.#reader.end();
    return this.#deliver();
  }

  resume(): Item[] {
    if (this.#thrown || this.#reader.failure === undefined) this.#reader.resume();
    this.#thrown = false;
    return this.#deliver();
  }

  #deliver(): Item[] {
    const { failure } = this.#reader;
    if (failure !== undefined && (this.#items.length === 0 || this.#ended)) {
      this.#thrown = true;
      throw failure;
    }
    const items = this.#items;
    this.#items = [];
    return items;
  }
}
