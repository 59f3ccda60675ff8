// The URIs that wait for a retry beside their queues, by the time when they are due.

import type { LoginSeal, Sealing } from '../generations/login-seal.js';
import { requireInteger, TABLE, tableRange } from '../level/keys.js';
import type { Level, Row } from '../level/level.js';
import { waitingUriCodec } from '../records/records.js';
import type { QueueEntry } from './queues.js';

/** A URI that waits for a retry. */
export interface WaitingUri {
  /** Milliseconds since 1970. */
  readonly dueTime: number;
  /** Its place in its queue, to which it returns. */
  readonly entry: QueueEntry;
  /** CRAWL-8.1, of the last attempt. */
  readonly status: number;
  /** Why the last attempt failed. */
  readonly reason: string;
}

const TIME_MAX = 2 ** 48 - 1;

/** The URIs that wait, the first due first. */
export class WaitingUriStore {
  readonly #level: Level;
  readonly #seal: LoginSeal;

  constructor(level: Level, seal: LoginSeal) {
    this.#level = level;
    this.#seal = seal;
  }

  /** The first `limit` URIs. */
  async first(limit: number): Promise<WaitingUri[]> {
    return (await this.#level.page(tableRange(TABLE.waiting), { limit })).map((row) =>
      parseWaiting(row, this.#seal),
    );
  }

  /** All of them, in pages. */
  async *pages(): AsyncGenerator<WaitingUri[], void, undefined> {
    for await (const rows of this.#level.pages(tableRange(TABLE.waiting)))
      yield rows.map((row) => parseWaiting(row, this.#seal));
  }

  /** Whether this one still waits. */
  async has(waiting: Pick<WaitingUri, 'dueTime' | 'entry'>): Promise<boolean> {
    return (await this.#level.get(waitingKey(waiting))) !== undefined;
  }

  /** Number of URIs that wait. Costs a walk over all keys. */
  async count(): Promise<number> {
    let count = 0;
    for await (const keys of this.#level.pagesOfKeys(tableRange(TABLE.waiting))) count += keys.length;
    return count;
  }
}

/** The table's byte, due time (6 bytes), ordinal (6 bytes). */
export function waitingKey({ dueTime, entry }: Pick<WaitingUri, 'dueTime' | 'entry'>): Uint8Array {
  const key = Buffer.allocUnsafe(13);
  key[0] = TABLE.waiting;
  key.writeUIntBE(requireInteger(dueTime, 'dueTime', TIME_MAX), 1, 6);
  key.writeUIntBE(requireInteger(entry.ordinal, 'ordinal', TIME_MAX), 7, 6);
  return key;
}

export function encodeWaiting({ entry, status, reason }: WaitingUri, seal: Sealing): Uint8Array {
  const { classKey, directive, precedence } = entry;
  const uri = seal.sealUri(entry.uri);
  return waitingUriCodec.encode({ classKey, directive, precedence, uri, status, reason: seal.seal(reason) });
}

function parseWaiting([key, value]: Row, seal: LoginSeal): WaitingUri {
  const bytes = Buffer.from(key.buffer, key.byteOffset, key.byteLength);
  const { classKey, directive, precedence, uri, status, reason } = waitingUriCodec.decode(value);
  const ordinal = bytes.readUIntBE(7, 6);
  return {
    dueTime: bytes.readUIntBE(1, 6),
    entry: { classKey, directive, precedence, ordinal, uri: seal.openUri(uri) },
    status,
    reason: seal.open(reason),
  };
}
