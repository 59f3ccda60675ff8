import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { pauseFor } from '../../protocols/clock.js';
import { ConnectionError, StateError, StorageError } from '../../protocols/errors.js';
import { Waiters } from '../../protocols/waiters.js';
import { processClock } from '../files/process-clock.js';
import type { DatabaseAddress } from './database-address.js';
import { isConnectionLost, storageFailure } from './failures.js';

/** Options of {@link Connections}. */
export interface ConnectionsOptions {
  /** Maximum number of connections. */
  readonly max: number;
  /**
   * Milliseconds for which a lost connection is replaced, e.g. until a standby has become the primary. At the
   * opening each host is tried once, unless one of them is a standby.
   */
  readonly failoverMs: number;
  /** Settings of each session, by name. */
  readonly settings: Readonly<Record<string, string>>;
}

const FIRST_DELAY_MS = 50;
const LONGEST_DELAY_MS = 1000;

/**
 * Connections to one database of several hosts: the first host whose server can be written to is used. A lost connection
 * is replaced by one to the host that is good then.
 */
export class Connections implements AsyncDisposable {
  readonly #address: DatabaseAddress;
  readonly #options: ConnectionsOptions;
  readonly #ssl: pg.ClientConfig['ssl'];
  /** The failures of servers that cannot be written to. */
  readonly #standbys = new WeakSet<object>();
  readonly #idle: pg.Client[] = [];
  readonly #lost = new WeakSet<pg.Client>();
  /** Open, or being opened. */
  #count = 0;
  readonly #waiting = new Waiters();
  readonly #closing = new AbortController();
  /** Index of the host that was good the last time. */
  #host = 0;

  /** @param ssl {@link encryptionOf} the address */
  constructor(address: DatabaseAddress, ssl: pg.ClientConfig['ssl'], options: ConnectionsOptions) {
    this.#address = address;
    this.#ssl = ssl;
    this.#options = options;
  }

  /** Opens the first connection. @throws StorageError if no host can be used */
  async open(): Promise<void> {
    this.#count++;
    try {
      this.#idle.push(await this.#connect().catch((error: unknown) => this.#connectToNext(error)));
    } catch (error) {
      this.#count--;
      throw this.failure(error);
    }
  }

  /** While a standby is there, one becomes the primary in a moment. */
  #connectToNext(error: unknown): Promise<pg.Client> {
    const errors: unknown[] = error instanceof AggregateError ? error.errors : [error];
    if (!errors.some((each) => this.#standbys.has(Object(each)))) throw error;
    return this.#connectInTime();
  }

  /** The error of the kit for one of the driver. */
  failure(error: unknown): unknown {
    return storageFailure(this.#address.shown, error);
  }

  /** Runs reads, or work that may be repeated, on a connection; it runs again on another one if that is lost. */
  async read<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const until = performance.now() + this.#options.failoverMs;
    for (;;) {
      try {
        return await this.#once(work);
      } catch (error) {
        if (!isConnectionLost(error) || performance.now() >= until) throw this.failure(error);
        // A server that accepts connections and ends them at once is not asked without a pause.
        await pauseFor(processClock, FIRST_DELAY_MS, this.#closing.signal);
      }
    }
  }

  /** Runs work on a connection once. */
  async use<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    try {
      return await this.#once(work);
    } catch (error) {
      throw this.failure(error);
    }
  }

  async #once<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = await this.take();
    try {
      const result = await work(client);
      this.giveBack(client);
      return result;
    } catch (error) {
      // After an error of its own the server goes on with the session.
      this.giveBack(client, isConnectionLost(error));
      throw error;
    }
  }

  /**
   * A connection of one's own until {@link giveBack}. Waits while all are in use, and for a server that can be written to.
   */
  async take(): Promise<pg.Client> {
    for (;;) {
      this.#closing.signal.throwIfAborted();
      const client = this.#idle.pop();
      if (client !== undefined) {
        if (!this.#lost.has(client)) return client;
        this.giveBack(client, true);
        continue;
      }
      if (this.#count < this.#options.max) break;
      await this.#waiting.wait(this.#closing.signal);
    }
    this.#count++;
    try {
      return await this.#connectInTime();
    } catch (error) {
      this.#count--;
      this.#waiting.wakeOne();
      throw error;
    }
  }

  giveBack(client: pg.Client, isLost = false): void {
    if (isLost || this.#lost.has(client) || this.#closing.signal.aborted) {
      this.#count--;
      void client.end().catch(() => undefined);
    } else this.#idle.push(client);
    this.#waiting.wakeOne();
  }

  async #connectInTime(): Promise<pg.Client> {
    const until = performance.now() + this.#options.failoverMs;
    for (let wait = FIRST_DELAY_MS; ; wait = Math.min(2 * wait, LONGEST_DELAY_MS)) {
      try {
        return await this.#connect();
      } catch (error) {
        if (!isConnectionLost(error) || performance.now() + wait > until) throw error;
        await pauseFor(processClock, wait, this.#closing.signal);
      }
    }
  }

  /** Tries each host once, beginning with the one that was good the last time. */
  async #connect(): Promise<pg.Client> {
    const { hosts } = this.#address;
    const errors: unknown[] = [];
    for (let i = 0; i < hosts.length; i++) {
      const index = (this.#host + i) % hosts.length;
      try {
        const client = await this.#connectTo(hosts[index]!);
        this.#host = index;
        return client;
      } catch (error) {
        if (!isConnectionLost(error)) throw error;
        errors.push(error);
      }
    }
    throw errors.length === 1 ? errors[0] : new AggregateError(errors);
  }

  async #connectTo({ host, port }: { readonly host: string; readonly port: number }): Promise<pg.Client> {
    const { user, password, database, connectTimeout, readWrite } = this.#address;
    const client = new pg.Client({
      host,
      port,
      user,
      password,
      database,
      ssl: this.#ssl,
      keepAlive: true,
      connectionTimeoutMillis: connectTimeout * 1000,
      application_name: 'harvest-kit',
    });
    // A connection that breaks while it is idle is noticed when it is taken.
    client.on('error', () => this.#lost.add(client));
    client.on('end', () => this.#lost.add(client));
    try {
      await client.connect();
      if (readWrite) {
        const { rows } = await client.query<{ transaction_read_only: string }>('show transaction_read_only');
        // Another host, or this one later, may be the primary.
        if (rows[0]?.transaction_read_only === 'on') {
          const failure = new ConnectionError(`${host}:${port} is a standby`);
          this.#standbys.add(failure);
          throw failure;
        }
      }
      for (const [name, value] of Object.entries(this.#options.settings))
        await client.query('select set_config($1, $2, false)', [name, value]);
      return client;
    } catch (error) {
      void client.end().catch(() => undefined);
      throw error;
    }
  }

  /** Ends the connections that are not in use, and each other one when it is given back. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort(new StateError('the store is closed'));
    await Promise.all(this.#idle.splice(0).map((client) => client.end().catch(() => undefined)));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** How the address wants its connections encrypted. @throws StorageError if a file of it cannot be read */
export async function encryptionOf(address: DatabaseAddress): Promise<pg.ClientConfig['ssl']> {
  const { sslMode, sslRootCertificate } = address;
  if (sslMode === 'disable') return false;
  if (sslMode === 'require') return { rejectUnauthorized: false };
  if (sslRootCertificate === undefined) return { rejectUnauthorized: true };
  try {
    return { rejectUnauthorized: true, ca: await readFile(sslRootCertificate) };
  } catch (cause) {
    throw new StorageError(`${address.shown}: sslrootcert cannot be read`, { cause });
  }
}
