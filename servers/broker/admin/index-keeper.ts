// Keeps the index up to date with the store.
import { pauseFor } from '../../../protocols/clock.js';
import { isDiskFull, messageOf, ProtocolError, StateError, StorageError } from '../../../protocols/errors.js';
import { Mutex } from '../../../protocols/mutex.js';
import { type ByteSource, readRange } from '../../../protocols/soif/index.js';
import { collectGarbage, LARGE_BYTES } from '../../../storage/files/collect-garbage.js';
import type { BrokerStore, HeldLease } from '../../../storage/index.js';
import { type Indexer, indexedPartOf, type SharedIndex } from '../../../storage/indexers/index.js';
import { storedObjects } from '../query/object-groups.js';
import type { IndexLead } from './index-lead.js';
import { isIndexFailure } from './index-repair.js';

/** Changes read from the change log at once. */
const PAGE_CHANGES = 512;
const FLUSH_EVERY = 4096;
/** Milliseconds between looks at an index that another Broker writes. */
const LOOK_MS = 500;

/** Limits of {@link IndexKeeper}. */
export interface IndexKeeperOptions {
  /** Changes after which the index is flushed, default 4096. A crash makes the broker index this many again. */
  readonly flushEvery?: number;
  readonly signal?: AbortSignal;
  /** The lease on an index that several Brokers share: only its holder changes the index. */
  readonly lead?: IndexLead | undefined;
  /** Milliseconds for which {@link IndexKeeper.complete} waits for the Broker that writes the index. Default 60 000. */
  readonly patienceMs?: number;
  /** Called when this Broker begins to write a shared index, and when another one continues. */
  readonly onTerm?: (isWriter: boolean) => void;
  /** The index's name among those that follow a store that several Brokers share. */
  readonly follower?: string;
  /**
   * Called for each object that is larger than the part that the engine indexes, with that limit in bytes.
   */
  readonly onPartlyIndexed?: (url: string, limit: number) => void;
}

/**
 * Keeps the index up to date with the store by following the store's change log.
 *
 * The index stores the sequence number of its last change (its watermark) together with that change. Changes
 * after the watermark are indexed again at the start, so that the forced garbage collection of BRK-8.3 after a
 * crash is not needed.
 *
 * Of an index that several Brokers share one changes it, as long as it holds a lease. The others look at what it has
 * done, and one of them continues after the watermark when the lease has ended.
 */
export class IndexKeeper {
  readonly #store: BrokerStore;
  readonly #indexer: Indexer;
  readonly #options: IndexKeeperOptions;
  /**
   * Sequence number of the last change passed to the indexer; the indexer's watermark follows at each flush.
   */
  #position: number;
  #updating = false;
  #failure: string | undefined;
  /** The epoch of the lease in which this Broker last began to write a shared index. */
  #term = 0;
  /** One update at a time. */
  readonly #mutex = new Mutex();

  private constructor(store: BrokerStore, indexer: Indexer, options: IndexKeeperOptions) {
    this.#store = store;
    this.#indexer = indexer;
    this.#options = options;
    this.#position = indexer.watermark;
  }

  /**
   * Brings the index up to date from its watermark, or rebuilds it if the log no longer reaches back to it. On
   * a full disk the index stays as it is: see {@link failure}.
   */
  static async open(
    store: BrokerStore,
    indexer: Indexer,
    options: IndexKeeperOptions = {},
  ): Promise<IndexKeeper> {
    const keeper = new IndexKeeper(store, indexer, options);
    try {
      if (options.lead !== undefined) {
        await keeper.settle();
        return keeper;
      }
      if (store.isShared) await store.trimChanges(indexer.watermark, options.follower);
      if (keeper.#isLost()) await keeper.rebuild();
      else await keeper.settle();
    } catch (error) {
      if (!isDiskFull(error)) throw error;
    }
    return keeper;
  }

  /** Number of changes of the store that are not yet durable in the index. */
  get lag(): number {
    return Math.max(0, this.#store.lastSequence - this.#indexer.watermark);
  }

  /** The other Broker that writes a shared index, for people; undefined if this one does, or may. */
  writer(): Promise<string | undefined> {
    return this.#options.lead?.other() ?? Promise.resolve(undefined);
  }

  /** Why the last update failed; undefined after a flush that succeeded. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /**
   * In words, why searches do not find every object; undefined if they do, or will as soon as a collection is
   * indexed.
   */
  get missing(): string | undefined {
    if (this.#failure === undefined || this.lag === 0) return undefined;
    return `The index lacks the last ${this.lag} changes: ${this.#failure}`;
  }

  /** Passes every change of the log to the indexer, without making it durable there. */
  async follow(): Promise<void> {
    await this.#write(() => this.#update(() => this.#follow()));
  }

  /**
   * Indexes what other Brokers have stored in a shared store, or everything if the log does not reach back to what this
   * index has.
   */
  async followOthers(): Promise<void> {
    const { shared } = this.#indexer;
    await this.#write(async () => {
      if (shared !== undefined && !this.#updating) {
        // It may have been removed, which only the queries of the other Brokers show.
        await shared.refresh();
        this.#position = this.#indexer.watermark;
      }
      await this.#store.refresh();
      if (this.#isLost()) await this.#rebuild();
      else if (this.lag > 0) await this.#settle();
    });
  }

  /**
   * Like {@link follow}, then makes the changes durable and visible to queries (BRK-8.2 Flush). If another Broker writes
   * the index, it does so within seconds: see {@link complete}.
   */
  async settle(): Promise<void> {
    await this.#write(() => this.#settle());
  }

  /**
   * Like {@link settle}; waits for the Broker that writes the index.
   *
   * @throws StorageError if it does not index what is stored now in time
   */
  async complete(signal?: AbortSignal): Promise<void> {
    await this.settle();
    const { lead, patienceMs = 60_000 } = this.#options;
    if (lead === undefined) return;
    await this.#store.refresh();
    const { lastSequence } = this.#store;
    const until = lead.clock.now() + patienceMs;
    while (this.#indexer.watermark < lastSequence) {
      if (lead.clock.now() >= until) {
        const changes = lastSequence - this.#indexer.watermark;
        throw new StorageError(
          `the index lacks ${changes} changes, which ${(await lead.other()) ?? 'this broker'} indexes`,
        );
      }
      await pauseFor(lead.clock, LOOK_MS, signal);
      await this.settle();
    }
  }

  /**
   * Empties the index and indexes every stored object again (BRK-8.1 Index_Full).
   *
   * @throws StateError if another Broker writes the index
   */
  async rebuild(): Promise<void> {
    if (await this.#write(() => this.#rebuild())) return;
    const writer = await this.writer();
    throw new StateError(
      writer === undefined
        ? 'another broker writes the index at present: try again'
        : `${writer} writes the index, which this broker only searches: ask that one`,
    );
  }

  /** Changes the index, one change at a time. Resolves with false if another Broker writes it, or has begun to. */
  #write(work: () => Promise<void>): Promise<boolean> {
    return this.#mutex.runExclusive(async () => {
      const { lead } = this.#options;
      const { shared } = this.#indexer;
      if (lead === undefined || shared === undefined) {
        await work();
        return true;
      }
      return this.#writeShared(lead, shared, work);
    });
  }

  async #writeShared(lead: IndexLead, shared: SharedIndex, work: () => Promise<void>): Promise<boolean> {
    let lease = lead.held;
    if (lease === undefined) {
      // One that does not reach the index must not take it from others.
      await this.#look(shared);
      lease = await lead.take();
    }
    if (lease === undefined) return false;
    try {
      if (lease.epoch !== this.#term) await this.#begins(lease, lead, shared);
      await work();
      return true;
    } catch (error) {
      const isHeld = lead.held?.epoch === lease.epoch;
      if (isHeld)
        await shared
          .refresh()
          .catch(() => lead.giveUp())
          .catch(() => undefined);
      if (isHeld || this.#options.signal?.aborted === true) throw error;
      this.#failure = undefined;
      this.#options.onTerm?.(false);
      return false;
    }
  }

  /** Learns what another Broker has indexed. */
  async #look(shared: SharedIndex): Promise<void> {
    await shared.refresh();
    await this.#store.refresh();
    this.#updating = false;
    this.#position = this.#indexer.watermark;
    this.#failure = undefined;
  }

  /** Begins to write a shared index, after the watermark of its former writer. */
  async #begins(lease: HeldLease, lead: IndexLead, shared: SharedIndex): Promise<void> {
    await shared.lead(lease);
    await this.#store.refresh();
    this.#updating = false;
    this.#position = this.#indexer.watermark;
    this.#term = lease.epoch;
    this.#options.onTerm?.(true);
    await this.#store.trimChanges(this.#indexer.watermark, lead.name);
    if (this.#isLost()) await this.#rebuild();
  }

  async #settle(): Promise<void> {
    try {
      await this.#update(async () => {
        await this.#follow();
        await this.#flush();
      });
    } catch (error) {
      // Another index would find no space either.
      if (!isIndexFailure(error) || isDiskFull(error)) throw error;
      // The index cannot take the changes, but everything that it holds is in the store.
      await this.#rebuild();
    }
  }

  #rebuild(): Promise<void> {
    return this.#update(async () => {
      const sequence = this.#store.lastSequence;
      await this.#indexer.clear();
      await this.#begin();
      for await (const page of this.#store.all()) {
        await this.#add(page.map((entry) => entry.oid));
      }
      // Changes during the walk are in the log after `sequence`; adding an object again replaces it.
      this.#position = sequence;
      await this.#follow();
      await this.#flush();
    });
  }

  /**
   * Whether the index belongs to another store, or the log no longer contains the first change that the index
   * lacks.
   */
  #isLost(): boolean {
    const { watermark } = this.#indexer;
    return watermark > this.#store.lastSequence || watermark < this.#store.trimmedSequence;
  }

  async #follow(): Promise<void> {
    const { flushEvery = FLUSH_EVERY } = this.#options;
    for (;;) {
      const changes = await this.#store.changesAfter(this.#position, PAGE_CHANGES);
      const last = changes.at(-1);
      if (last === undefined) return;
      await this.#begin();
      // Only the last of several changes of one object counts.
      const removed = new Set<number>();
      const put = new Set<number>();
      for (const change of changes) {
        (change.kind === 'put' ? put : removed).add(change.oid);
        (change.kind === 'put' ? removed : put).delete(change.oid);
      }
      for (const oid of removed) await this.#indexer.remove(oid);
      await this.#add([...put]);
      this.#position = last.sequence;
      if (this.#position - this.#indexer.watermark >= flushEvery) await this.#flush();
    }
  }

  async #add(oids: readonly number[]): Promise<void> {
    const { signal, onPartlyIndexed } = this.#options;
    const limit = this.#indexer.maxIndexedBytes;
    // An engine without a limit gets every object whole.
    const readLarge =
      limit === undefined ? undefined : (object: ByteSource) => this.#indexedPart(object, limit);
    for await (const group of storedObjects(this.#store, oids, { readLarge })) {
      signal?.throwIfAborted();
      for (const { entry, bytes } of group) {
        if (limit !== undefined && entry.length > limit) onPartlyIndexed?.(entry.url, limit);
        await this.#indexer.add(entry.oid, bytes);
        if (bytes.length >= LARGE_BYTES) collectGarbage();
      }
    }
  }

  /**
   * Returns what the engine indexes; one byte of an object that is not valid SOIF, so that the engine removes
   * it.
   */
  async #indexedPart(object: ByteSource, limit: number): Promise<Uint8Array> {
    try {
      return await indexedPartOf(object, limit);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      return readRange(object, 0, 1);
    }
  }

  /** Changes that the index lost in a failed update are read from the log again. */
  async #update(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (this.#options.signal?.aborted !== true) this.#failure = messageOf(error);
      this.#updating = false;
      this.#position = this.#indexer.watermark;
      throw error;
    }
  }

  async #begin(): Promise<void> {
    if (this.#updating) return;
    await this.#indexer.beginUpdate();
    this.#updating = true;
  }

  async #flush(): Promise<void> {
    if (!this.#updating) return;
    await this.#indexer.flush(this.#position);
    this.#updating = false;
    this.#failure = undefined;
    await this.#store.trimChanges(this.#position, this.#options.follower);
  }
}
