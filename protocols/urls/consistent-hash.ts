// Spreads keys over buckets and crawlers (CRAWL-3.11, 9.8).
import { firstIndex } from '../binary-search.js';
import { fingerprint, type Word64 } from './fingerprint.js';

/** CRAWL-3.11: points of a bucket on the circle. */
const REPLICAS = 128;
const MAX_BUCKETS = 10_000;

interface Point {
  readonly bucket: number;
  /** The fingerprint as two halves; the high one is signed, because the circle is in signed order. */
  readonly high: number;
  readonly low: number;
}

/**
 * Spreads texts over buckets so that a change of the number of buckets moves few texts (CRAWL-3.11). The circle
 * is built once, for the largest number of buckets.
 */
export class ConsistentHash {
  readonly #buckets: number;
  readonly #points: readonly Point[];

  /** @param buckets 1 to 10 000: the largest number for {@link bucketOf} */
  constructor(buckets: number) {
    this.#buckets = buckets;

    if (!Number.isInteger(buckets) || buckets < 1 || buckets > MAX_BUCKETS) {
      throw new RangeError(`buckets are 1 to ${MAX_BUCKETS}`);
    }
    const points: Point[] = [];
    for (let bucket = 0; bucket < buckets; bucket++) {
      for (let replica = 0; replica < REPLICAS; replica++) {
        const { high, low } = fingerprint(`${bucket}.${replica}`, 64);
        points.push({ bucket, high: high | 0, low });
      }
    }
    this.#points = points.sort((a, b) => a.high - b.high || a.low - b.low);
  }

  /** @param buckets the number of buckets, at most {@link buckets}; default all */
  bucketOf(text: string, buckets = this.#buckets): number {
    if (buckets > this.#buckets || buckets < 1) throw new RangeError(`buckets are 1 to ${this.#buckets}`);
    const from = this.#firstFrom(fingerprint(text, 64));
    for (let i = 0; i < this.#points.length; i++) {
      const { bucket } = this.#points[(from + i) % this.#points.length]!;
      if (bucket < buckets) return bucket;
    }
    return 0;
  }

  /** The index of the first point that is not before the hash. */
  #firstFrom({ high, low }: Word64): number {
    const signed = high | 0;
    return firstIndex(0, this.#points.length, (i) => {
      const point = this.#points[i]!;
      return point.high > signed || (point.high === signed && point.low >= low);
    });
  }
}

/**
 * CRAWL-9.8: the crawler that is responsible for a mapping key.
 * @returns 0 to crawlers - 1: the magnitude of the signed fingerprint's remainder
 */
export function crawlerOf(mappingKey: string, crawlers: number): number {
  const { high, low } = fingerprint(mappingKey, 64);
  const signed = (BigInt(high | 0) << 32n) | BigInt(low);
  const rest = Number(signed % BigInt(crawlers));
  return Math.abs(rest);
}
