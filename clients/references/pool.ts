// Several connections to one References Server.
import { ConnectionError } from '../../protocols/errors.js';
import type { SstpMessage } from '../../protocols/sstp/index.js';
import { checkOptions, optional, whole } from '../connection/arguments.js';
import { ReferencesCalls } from './calls.js';
import { REFERENCES_CLIENT_OPTIONS, ReferencesClient, type ReferencesClientOptions } from './client.js';

export interface ReferencesPoolOptions extends Omit<ReferencesClientOptions, 'signal'> {
  /** Maximum number of connections. Default 4. */
  readonly connections?: number;
}

const DEFAULT_CONNECTIONS = 4;
const { signal: _signal, ...CLIENT_OPTIONS } = REFERENCES_CLIENT_OPTIONS;

/**
 * Connections to one References Server. A connection is opened when it is needed, and a broken one is replaced
 * when it is needed again. A call goes to the connection with the fewest calls.
 */
export class ReferencesPool extends ReferencesCalls {
  readonly #options: ReferencesPoolOptions;
  readonly #slots: (Promise<ReferencesClient> | undefined)[];
  readonly #clients: (ReferencesClient | undefined)[];
  /** Calls in each slot, including those that wait for its connection. */
  readonly #calls: number[];
  readonly #stop = new AbortController();

  /** @throws UsageError for options that it does not know or take */
  constructor(options: ReferencesPoolOptions) {
    super();
    checkOptions('ReferencesPool', options, { ...CLIENT_OPTIONS, connections: optional(whole(1)) });
    const { connections = DEFAULT_CONNECTIONS } = options;
    this.#options = options;
    this.#slots = Array.from({ length: connections });
    this.#clients = Array.from({ length: connections });
    this.#calls = Array.from({ length: connections }, () => 0);
  }

  protected async exchange(
    message: Omit<SstpMessage, 'body'>,
    signal: AbortSignal | undefined,
  ): Promise<SstpMessage> {
    signal?.throwIfAborted();
    if (this.#stop.signal.aborted) throw new ConnectionError('the pool is closed');
    const slot = this.#leastBusy();
    this.#calls[slot]!++;
    try {
      const client = await this.#connected(slot);
      return await client.exchange(message, signal);
    } finally {
      this.#calls[slot]!--;
    }
  }

  /** Drops all connections; pending calls reject. */
  async close(): Promise<void> {
    this.#stop.abort(new ConnectionError('the pool is closed'));
    await Promise.allSettled(this.#slots.map(async (client) => (await client)?.close()));
  }

  #leastBusy(): number {
    let best = 0;
    for (let slot = 0; slot < this.#calls.length; slot++)
      if (this.#calls[slot]! < this.#calls[best]!) best = slot;
    return best;
  }

  #connected(slot: number): Promise<ReferencesClient> {
    const open = this.#slots[slot];
    if (open !== undefined && this.#clients[slot]?.closed !== true) return open;
    this.#clients[slot] = undefined;
    const { connections: _, ...options } = this.#options;
    const opening = new ReferencesClient({ ...options, signal: this.#stop.signal }).connect();
    this.#slots[slot] = opening;
    opening.then(
      (client) => {
        this.#clients[slot] = client;
      },
      () => {
        // The waiting calls reject; the next call tries again.
        if (this.#slots[slot] === opening) this.#slots[slot] = undefined;
      },
    );
    return opening;
  }
}
