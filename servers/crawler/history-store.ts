import type { GathererBatch, GathererStore } from '../../storage/index.js';
import type { DigestRecord, DigestStore } from './processors/digest-history.js';
import type { FetchRecord, HistoryStore } from './processors/fetch-history.js';

/** CRAWL-18.4: stores fetch histories in the table `histories` of the working store; the keys are SURTs. */
export function historyStore(store: GathererStore): HistoryStore {
  return {
    async get(key) {
      return (await readJson<FetchRecord[]>(store, key)) ?? [];
    },
    put: put<readonly FetchRecord[]>,
  };
}

/** CRAWL-18.5: stores archived digests in the same table. No SURT begins like a digest, with `sha1:`. */
export function digestStore(store: GathererStore): DigestStore {
  return { get: (digest) => readJson<DigestRecord>(store, digest), put: put<DigestRecord> };
}

async function readJson<T>(store: GathererStore, key: string): Promise<T | undefined> {
  const bytes = await store.histories.get(key);
  return bytes === undefined ? undefined : (JSON.parse(Buffer.from(bytes).toString()) as T);
}

function put<T>(key: string, value: T, batch: GathererBatch): void {
  batch.putHistory(key, Buffer.from(JSON.stringify(value)));
}
