// A crawl that several processes share: its queues are divided into partitions, each with tables of its own.
import { crc32 } from 'node:zlib';
import type { Lease } from '../leases/leases.js';
import type { FrontierState, QueueRecord } from '../records/records.js';
import type { PageOptions, Row, RowReader, RowsSnapshot } from '../rows/contract.js';
import { type KeyRange, TABLE } from '../rows/keys.js';
import { Table } from '../rows/table.js';
import { LevelFilter } from '../seen/level-filter.js';
import type { GathererBatch, PartitionOfBatch } from './batch.js';
import { WorkQueueStore } from './queues.js';
import {
  FRONTIER_STATE,
  type GathererFormats,
  type InactivePosition,
  type WaitingPosition,
  type WaitingUri,
} from './tables.js';

/** Maximum number of partitions: their numbers come before all names of system rows. */
export const MAX_PARTITIONS = 4096;
/** The system rows of all partitions. */
export const PARTITION_STATES = {
  gte: Uint8Array.of(TABLE.system, 0),
  lt: Uint8Array.of(TABLE.system, MAX_PARTITIONS >> 8),
};
/** Bytes of the number of a partition, after the table's byte. */
const NUMBER_BYTES = 2;

/**
 * The partition of a queue. The queues of a host, by its ports (`#443`) or in parallel (`+2`), are in one partition: what
 * they owe each other is known to one process.
 */
export function partitionOf(classKey: string, partitions: number): number {
  return crc32(classKey.replace(/[#+].*$/s, '')) % partitions;
}

/** What the names of the leases of partitions begin with. */
export const PARTITION_LEASES = 'crawl ';

/** The name of a partition's lease. */
export function partitionLease(partition: number): string {
  return `${PARTITION_LEASES}${String(partition).padStart(5, '0')}`;
}

/** The key of a partition's row: the table's byte, the partition, the rest of the key. */
export function partitionKey(partition: number, key: Uint8Array): Uint8Array {
  const mapped = Buffer.allocUnsafe(key.length + NUMBER_BYTES);
  mapped[0] = key[0]!;
  mapped.writeUInt16BE(partition, 1);
  mapped.set(key.subarray(1), 1 + NUMBER_BYTES);
  return mapped;
}

/** Whether a row of {@link PARTITION_STATES} has the counters of its partition. */
export function isFrontierState(key: Uint8Array): boolean {
  return Buffer.compare(ownKey(key), FRONTIER_STATE.key) === 0;
}

/** The inbox of a partition. */
export function inboxRange(partition: number): KeyRange {
  const table = Uint8Array.of(TABLE.inbox);
  return { gte: partitionKey(partition, table), lt: partitionKey(partition + 1, table) };
}

function ownKey(key: Uint8Array): Uint8Array {
  const own = Buffer.allocUnsafe(key.length - NUMBER_BYTES);
  own[0] = key[0]!;
  own.set(key.subarray(1 + NUMBER_BYTES), 1);
  return own;
}

/** The rows of a partition, under their keys without its number. */
class PartitionRows implements RowReader {
  readonly #rows: RowReader;
  readonly #partition: number;

  constructor(rows: RowReader, partition: number) {
    this.#rows = rows;
    this.#partition = partition;
  }

  get place(): string {
    return this.#rows.place;
  }

  time(): Promise<number> {
    return this.#rows.time();
  }

  get(key: Uint8Array): Promise<Uint8Array | undefined> {
    return this.#rows.get(partitionKey(this.#partition, key));
  }

  getMany(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    return this.#rows.getMany(keys.map((key) => partitionKey(this.#partition, key)));
  }

  async page(range: KeyRange, options: PageOptions = {}): Promise<Row[]> {
    const rows = await this.#rows.page(this.#range(range), this.#options(options));
    return rows.map(([key, value]) => [ownKey(key), value] as const);
  }

  async pageOfKeys(range: KeyRange, options: PageOptions = {}): Promise<Uint8Array[]> {
    return (await this.#rows.pageOfKeys(this.#range(range), this.#options(options))).map(ownKey);
  }

  async snapshot(): Promise<RowsSnapshot> {
    const snapshot = await this.#rows.snapshot();
    return {
      get: (key) => snapshot.get(partitionKey(this.#partition, key)),
      page: async (range, options = {}) => {
        const rows = await snapshot.page(this.#range(range), this.#options(options));
        return rows.map(([key, value]) => [ownKey(key), value] as const);
      },
      close: () => snapshot.close(),
    };
  }

  /** The range of a table, whose end is the byte of the next one, or a part of it. */
  #range({ gte, lt }: KeyRange): KeyRange {
    const isTable = lt.length === 1 && lt[0] === gte[0]! + 1;
    return {
      gte: partitionKey(this.#partition, gte),
      lt: isTable ? partitionKey(this.#partition + 1, gte.subarray(0, 1)) : partitionKey(this.#partition, lt),
    };
  }

  #options(options: PageOptions): PageOptions {
    const { after } = options;
    return after === undefined ? options : { ...options, after: partitionKey(this.#partition, after) };
  }
}

/** What a partition needs of its store. */
export interface PartitionedStore {
  readonly formats: GathererFormats;
  batch(): GathererBatch;
  flush(): Promise<void>;
}

/** The queues of one partition, for the process that holds its lease. */
export class PartitionStore implements PartitionOfBatch {
  readonly queues: WorkQueueStore;
  readonly waiting: Table<WaitingPosition, WaitingUri>;
  readonly queueRecords: Table<string, QueueRecord>;
  readonly inactiveQueues: Table<Omit<InactivePosition, 'classKey'>, InactivePosition>;
  readonly #rows: PartitionRows;
  readonly #store: PartitionedStore;

  constructor(
    rows: RowReader,
    store: PartitionedStore,
    readonly partition: number,
    readonly lease: Lease,
  ) {
    this.#rows = new PartitionRows(rows, partition);
    this.#store = store;
    const { formats } = store;
    this.queues = new WorkQueueStore(this.#rows, formats.queues);
    this.waiting = new Table(this.#rows, formats.waiting);
    this.queueRecords = new Table(this.#rows, formats.queueRecords);
    this.inactiveQueues = new Table(this.#rows, formats.inactiveQueues);
  }

  keyOf(key: Uint8Array): Uint8Array {
    return partitionKey(this.partition, key);
  }

  /** A batch of the partition. */
  batch(): GathererBatch {
    return this.#store.batch().bind(this);
  }

  flush(): Promise<void> {
    return this.#store.flush();
  }

  /** The counters of the partition; undefined if it never had a URI. */
  frontierState(): Promise<FrontierState | undefined> {
    return FRONTIER_STATE.read(this.#rows);
  }

  /** The seen filter of the partition, whose keys are written in the batches that queue the URIs. */
  openSeenFilter(): Promise<LevelFilter> {
    return LevelFilter.ofPart(this.#rows, (rows) => this.batch().putSeen(rows).commit());
  }
}
