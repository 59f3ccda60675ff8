import type { GathererBatch, GathererStore } from '../../storage/index.js';

/** A table of values, put in the batch of a page. */
export interface JsonTable<T> {
  get(key: string): Promise<T | undefined>;
  put(key: string, value: T, batch: GathererBatch): void;
}

/** CRAWL-18.4, 18.5: stores values as JSON in the table `histories` of the working store. */
export function jsonTable<T>(store: GathererStore): JsonTable<T> {
  return {
    async get(key) {
      const bytes = await store.histories.get(key);
      return bytes === undefined ? undefined : (JSON.parse(Buffer.from(bytes).toString()) as T);
    },
    put: (key, value, batch) => batch.putHistory(key, Buffer.from(JSON.stringify(value))),
  };
}
