// Keeps connections for reuse, by server and login.
import { setImmediate } from 'node:timers/promises';
import { Budget } from '../../protocols/budget.js';
import type { Clock } from '../../protocols/clock.js';
import { ConnectionError, StateError } from '../../protocols/errors.js';
import { monotonicClock } from '../connection/monotonic-clock.js';
import { DEFAULT_CONNECTIONS, DEFAULT_KEEP_ALIVE_MS, type TransferOptions } from './transfer.js';

/** A connection that can be used again. */
export interface PooledConnection {
  /** Whether no operation is in progress and the connection is open. */
  readonly usable: boolean;
  /** Whether the server ended it, so that the operation can run again on another one. */
  readonly lost: boolean;
  /** Milliseconds that the server keeps it at most when it is idle; undefined if that is not known. */
  readonly keepMs?: number | undefined;
  close(): void;
}

interface Slot<C> {
  readonly key: string;
  readonly idle: { readonly connection: C; readonly cancelTimer: () => void }[];
  readonly places: Budget;
}

/**
 * Keeps connections by server and login (G-88). Each key has at most `perKey` connections; further calls are
 * queued.
 */
export class ConnectionPool<C extends PooledConnection> {
  readonly #perKey: number;
  readonly #idleMs: number;
  readonly #clock: Clock;
  readonly #slots = new Map<string, Slot<C>>();
  readonly #busy = new Set<C>();
  #closed = false;

  constructor(options: TransferOptions) {
    this.#perKey = options.maxConnectionsPerHost ?? DEFAULT_CONNECTIONS;
    this.#idleMs = options.keepAliveMs ?? DEFAULT_KEEP_ALIVE_MS;
    this.#clock = options.clock ?? monotonicClock;
  }

  /**
   * Runs `work` on a kept or a new connection. If the server has ended the kept one, runs `work` again on a new
   * one.
   * @param signal called if this call is queued
   * @throws the signal's reason if it is aborted while this call is queued
   */
  async use<T>(
    key: string,
    signal: () => AbortSignal | undefined,
    open: () => Promise<C>,
    work: (connection: C) => Promise<T>,
  ): Promise<T> {
    const slot = this.#slot(key);
    const place = slot.places.tryTake(1) ?? (await slot.places.take(1, { signal: signal() }));
    try {
      // The end of an idle connection that has arrived is seen before it is used: many servers close after a response.
      if (slot.idle.length > 0) await setImmediate();
      if (this.#closed) throw new StateError('the fetcher is closed');
      const kept = this.#takeIdle(slot);
      if (kept !== undefined) {
        try {
          return await this.#run(slot, kept, work);
        } catch (error) {
          if (!kept.lost || !(error instanceof ConnectionError) || this.#closed) throw error;
        }
      }
      return await this.#run(slot, await open(), work);
    } finally {
      place[Symbol.dispose]();
      this.#deleteIfUnused(slot);
    }
  }

  close(): void {
    this.#closed = true;
    for (const slot of this.#slots.values()) {
      for (const { connection, cancelTimer } of slot.idle.splice(0)) {
        cancelTimer();
        connection.close();
      }
    }
    for (const connection of this.#busy) connection.close();
  }

  async #run<T>(slot: Slot<C>, connection: C, work: (connection: C) => Promise<T>): Promise<T> {
    this.#busy.add(connection);
    if (this.#closed) connection.close();
    try {
      return await work(connection);
    } finally {
      this.#busy.delete(connection);
      if (connection.usable && !this.#closed) this.#keep(slot, connection);
      else connection.close();
    }
  }

  #keep(slot: Slot<C>, connection: C): void {
    const onIdle = (): void => {
      slot.idle.splice(slot.idle.indexOf(entry), 1);
      connection.close();
      this.#deleteIfUnused(slot);
    };
    const idleMs = Math.min(this.#idleMs, connection.keepMs ?? this.#idleMs);
    const entry = { connection, cancelTimer: this.#clock.setTimer(onIdle, idleMs, true) };
    slot.idle.push(entry);
  }

  #deleteIfUnused(slot: Slot<C>): void {
    if (slot.places.used === 0 && slot.idle.length === 0) this.#slots.delete(slot.key);
  }

  #takeIdle(slot: Slot<C>): C | undefined {
    for (let entry = slot.idle.pop(); entry !== undefined; entry = slot.idle.pop()) {
      entry.cancelTimer();
      if (entry.connection.usable) return entry.connection;
      entry.connection.close();
    }
    return undefined;
  }

  #slot(key: string): Slot<C> {
    if (this.#closed) throw new StateError('the fetcher is closed');
    let slot = this.#slots.get(key);
    if (slot === undefined) {
      slot = { key, idle: [], places: new Budget(this.#perKey) };
      this.#slots.set(key, slot);
    }
    return slot;
  }
}
