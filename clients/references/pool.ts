import { ConnectionError } from '../../protocols/errors.js';
import type { SstpMessage } from '../../protocols/sstp/index.js';
import { ReferencesCalls } from './calls.js';
import { ReferencesClient, type ReferencesClientOptions } from './client.js';

export interface ReferencesPoolOptions extends Omit<ReferencesClientOptions, 'signal'> {
  /** Connections at most. Default 4. */
  readonly connections?: number;
}

const DEFAULT_CONNECTIONS = 4;

/**
 * Connections to one References Server, opened when they are needed; a broken one is replaced when it is needed again. A call
 * goes to the connection with the fewest calls on it.
 */
export class ReferencesPool extends ReferencesCalls {
  readonly #options: ReferencesPoolOptions;
  readonly #places: (Promise<ReferencesClient> | undefined)[];
  readonly #clients: (ReferencesClient | undefined)[];
  /** Calls on each place, those that wait for its connection included. */
  readonly #calls: number[];
  readonly #stop = new AbortController();

  /** @throws RangeError for a number of connections below 1 */
  constructor(options: ReferencesPoolOptions) {
    super();
    const { connections = DEFAULT_CONNECTIONS } = options;
    if (!Number.isInteger(connections) || connections < 1)
      throw new RangeError('a pool has at least one connection');
    this.#options = options;
    this.#places = Array.from({ length: connections });
    this.#clients = Array.from({ length: connections });
    this.#calls = Array.from({ length: connections }, () => 0);
  }

  protected async exchange(
    message: Omit<SstpMessage, 'body'>,
    signal: AbortSignal | undefined,
  ): Promise<SstpMessage> {
    signal?.throwIfAborted();
    if (this.#stop.signal.aborted) throw new ConnectionError('the pool was closed');
    const place = this.#leastBusy();
    this.#calls[place]!++;
    try {
      const client = await this.#connected(place);
      return await client.send(message, signal);
    } finally {
      this.#calls[place]!--;
    }
  }

  /** Drops all connections; calls without an answer reject. */
  async close(): Promise<void> {
    this.#stop.abort(new ConnectionError('the pool was closed'));
    await Promise.allSettled(this.#places.map(async (place) => (await place)?.close()));
  }

  #leastBusy(): number {
    let best = 0;
    for (let place = 0; place < this.#calls.length; place++)
      if (this.#calls[place]! < this.#calls[best]!) best = place;
    return best;
  }

  #connected(place: number): Promise<ReferencesClient> {
    const open = this.#places[place];
    if (open !== undefined && this.#clients[place]?.closed !== true) return open;
    this.#clients[place] = undefined;
    const opening = ReferencesClient.connect({ ...this.#options, signal: this.#stop.signal });
    this.#places[place] = opening;
    opening.then(
      (client) => {
        this.#clients[place] = client;
      },
      () => {
        // Whoever waits hears of it; the next call tries again.
        if (this.#places[place] === opening) this.#places[place] = undefined;
      },
    );
    return opening;
  }
}
