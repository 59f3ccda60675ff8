import type { GathererBatch, GathererStore } from '../../storage/index.js';
import type { FetchRecord, HistoryStore } from './processors/fetch-history.js';

/** CRAWL-18.4: fetch histories in a table of the working store. */
export function historyStore(store: GathererStore): HistoryStore {
  return {
    async get(key) {
      const bytes = await store.histories.get(key);
      return bytes === undefined ? [] : (JSON.parse(Buffer.from(bytes).toString()) as FetchRecord[]);
    },
    put(key, history, batch: GathererBatch) {
      batch.putHistory(key, Buffer.from(JSON.stringify(history)));
    },
  };
}
