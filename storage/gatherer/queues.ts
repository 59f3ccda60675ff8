import { bufferOf } from '../../protocols/ascii.js';
import type { QueuedUri } from '../records/records.js';
import { keyText, requireInteger, TABLE } from '../rows/keys.js';
import { Table } from '../rows/table.js';

/**
 * The position of an entry in the table of all queues. The byte order of its key is the crawl order
 * (CRAWL-5.1.1).
 */
export interface QueuePosition {
  /** Names the queue. Without NUL. */
  readonly classKey: string;
  /** 0 to 255, lower first. */
  readonly directive: number;
  /** 0 to 255, lower first (CRAWL-9.11). */
  readonly precedence: number;
  /** Age: 0 to 2^48 - 1, lower first. */
  readonly ordinal: number;
}

export interface QueueEntry extends QueuePosition {
  readonly uri: QueuedUri;
}

/** The result of one walk over all queues. */
export interface QueueSurvey {
  /** Entries in each queue, by class key, in byte order of the class keys. */
  readonly queues: ReadonlyMap<string, number>;
  readonly count: number;
  /** 0 if there is no entry. */
  readonly highestOrdinal: number;
}

const ORDINAL_MAX = 2 ** 48 - 1;
/** The end of a key: NUL, directive, precedence, ordinal. */
const TAIL_BYTES = 9;
const SURVEY_PAGE_KEYS = 8192;

/** All work queues in one ordered table. */
export class WorkQueueStore extends Table<QueuePosition, QueueEntry> {
  async head(classKey: string): Promise<QueueEntry | undefined> {
    const [entry] = await this.heads(classKey, 1);
    return entry;
  }

  /**
   * The first `limit` entries of a queue, in crawl order.
   * @param after only entries after this position; the walk then skips the LevelDB tombstones of deleted
   *   entries before it
   */
  heads(classKey: string, limit: number, after?: QueuePosition): Promise<QueueEntry[]> {
    return this.page({ range: queueRange(classKey), limit, after });
  }

  /** Walks over all keys. A frontier calls it once, when it starts. */
  async survey(): Promise<QueueSurvey> {
    const queues = new Map<string, number>();
    let count = 0;
    let highestOrdinal = 0;
    for await (const keys of this.keyPages({ limit: SURVEY_PAGE_KEYS })) {
      for (const { classKey, ordinal } of keys) {
        queues.set(classKey, (queues.get(classKey) ?? 0) + 1);
        highestOrdinal = Math.max(highestOrdinal, ordinal);
        count++;
      }
    }
    return { queues, count, highestOrdinal };
  }
}

/**
 * The table's byte, class key in UTF-8, 00, directive (1 byte), precedence (1 byte), ordinal (6 bytes)
 * (CRAWL-5.1.1).
 *
 * @throws RangeError for a number out of range, TypeError for a class key with NUL.
 */
export function queueKey(position: QueuePosition): Uint8Array {
  const { classKey } = position;
  if (classKey.includes('\0')) throw new TypeError('a class key must not contain NUL');
  const length = Buffer.byteLength(classKey);
  const key = Buffer.allocUnsafe(1 + length + TAIL_BYTES);
  key[0] = TABLE.queues;
  key.write(classKey, 1);
  key[1 + length] = 0;
  key[2 + length] = requireInteger(position.directive, 'directive', 255);
  key[3 + length] = requireInteger(position.precedence, 'precedence', 255);
  key.writeUIntBE(requireInteger(position.ordinal, 'ordinal', ORDINAL_MAX), 4 + length, 6);
  return key;
}

function queueRange(classKey: string) {
  if (classKey.includes('\0')) throw new TypeError('a class key must not contain NUL');
  const start = Buffer.from(`\0${classKey}\0`);
  start[0] = TABLE.queues;
  const end = Uint8Array.from(start);
  end[end.length - 1] = 1;
  return { gte: start, lt: end };
}

export function parseQueueKey(key: Uint8Array): QueuePosition {
  const tail = key.length - TAIL_BYTES;
  const bytes = bufferOf(key);
  return {
    classKey: keyText(key.subarray(0, tail)),
    directive: bytes.readUInt8(tail + 1),
    precedence: bytes.readUInt8(tail + 2),
    ordinal: bytes.readUIntBE(tail + 3, 6),
  };
}
