import type { LoginSeal, Sealing } from '../generations/login-seal.js';
import { keyText, requireInteger, TABLE, tableRange, textKey } from '../level/keys.js';
import type { Level } from '../level/level.js';
import {
  type FrontierState,
  frontierStateCodec,
  type QueueRecord,
  queueRecordCodec,
} from '../records/records.js';

/** The row with the crawl's counters. */
export const FRONTIER_KEY = textKey(TABLE.system, 'frontier');

const SEQUENCE_MAX = 2 ** 48 - 1;

/** The position of an inactive queue. The byte order of the keys is the order in which queues become active. */
export interface InactivePosition {
  /** 0 to 255, lower first (CRAWL-9.11). */
  readonly precedence: number;
  /** First in, first out: 0 to 2^48 - 1. */
  readonly sequence: number;
  readonly classKey: string;
}

/** States of the queues, and the order of the inactive ones (CRAWL-5.3). */
export class QueueRecordStore {
  readonly #level: Level;
  readonly #seal: LoginSeal;

  constructor(level: Level, seal: LoginSeal) {
    this.#level = level;
    this.#seal = seal;
  }

  /** Reads records in one call to the thread pool; the results are in the order of the class keys. */
  async getMany(classKeys: readonly string[]): Promise<(QueueRecord | undefined)[]> {
    const rows = await this.#level.getMany(classKeys.map(queueRecordKey));
    return rows.map((bytes, i) => bytes && decodeQueueRecord(classKeys[i] ?? '', bytes, this.#seal));
  }

  /** Pages of records in the order of their class keys, after `after`. */
  async *pages(after?: string): AsyncGenerator<QueueRecord[], void, undefined> {
    const options = after === undefined ? {} : { after: queueRecordKey(after) };
    for await (const rows of this.#level.pages(tableRange(TABLE.queueRecords), options))
      yield rows.map(([key, value]) => decodeQueueRecord(keyText(key), value, this.#seal));
  }

  /** The first inactive queues in their order, after `after`. */
  async inactive(limit: number, after?: InactivePosition): Promise<InactivePosition[]> {
    const options = after === undefined ? { limit } : { limit, after: inactiveKey(after) };
    const rows = await this.#level.page(tableRange(TABLE.inactiveQueues), options);
    return rows.map(([key, value]) => ({
      precedence: key[1] ?? 0,
      sequence: Buffer.from(key.buffer, key.byteOffset, key.byteLength).readUIntBE(2, 6),
      classKey: Buffer.from(value).toString(),
    }));
  }

  /** The crawl's counters; undefined if no crawl has begun. */
  async state(): Promise<FrontierState | undefined> {
    const bytes = await this.#level.get(FRONTIER_KEY);
    return bytes && frontierStateCodec.decode(bytes);
  }
}

export function encodeQueueRecord(record: QueueRecord, seal: Sealing): Uint8Array {
  const { lastPeeked, lastQueued, reason } = record;
  return queueRecordCodec.encode({
    ...record,
    lastPeeked: seal.seal(lastPeeked),
    lastQueued: seal.seal(lastQueued),
    reason: seal.seal(reason),
  });
}

function decodeQueueRecord(classKey: string, bytes: Uint8Array, seal: LoginSeal): QueueRecord {
  const record = queueRecordCodec.decode(bytes);
  const { lastPeeked, lastQueued, reason } = record;
  return {
    classKey,
    ...record,
    lastPeeked: seal.open(lastPeeked),
    lastQueued: seal.open(lastQueued),
    reason: seal.open(reason),
  };
}

export function queueRecordKey(classKey: string): Uint8Array {
  return textKey(TABLE.queueRecords, classKey);
}

export function inactiveKey({ precedence, sequence }: InactivePosition): Uint8Array {
  const key = Buffer.allocUnsafe(8);
  key[0] = TABLE.inactiveQueues;
  key[1] = requireInteger(precedence, 'precedence', 255);
  key.writeUIntBE(requireInteger(sequence, 'sequence', SEQUENCE_MAX), 2, 6);
  return key;
}
