// The URIs that one process of a shared crawl leaves to another one, as rows of the store.
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { StorageError } from '../../../protocols/errors.js';
import type { GathererBatch, GathererStore, InboxPlace } from '../../../storage/index.js';
import type { Candidate } from './contract.js';

const candidateSchema = z.object({
  url: z.string(),
  via: z.string(),
  pathFromSeed: z.string(),
  root: z.number(),
  depth: z.number(),
  isLeaf: z.boolean(),
  forceFetch: z.boolean(),
  sourceTag: z.string(),
  network: z.number().optional(),
  directive: z.number().optional(),
  fetched: z.boolean().optional(),
});

/** A URI in the inbox of a partition. */
export interface InboxEntry {
  readonly place: InboxPlace;
  readonly candidate: Candidate;
}

const PAGE_ENTRIES = 500;
/** Keys that one look reads at once. */
const PAGE_KEYS = 4096;

/** Sends URIs to partitions, and reads what was sent. */
export class Inbox {
  readonly #store: GathererStore;
  /** Two processes have never the same, so that none replaces the row of another. */
  readonly #sender = randomBytes(6).readUIntBE(0, 6);
  #sequence = 0;

  constructor(store: GathererStore) {
    this.#store = store;
  }

  /** Adds a URI to the batch, which is that of another partition or of none. */
  send(partition: number, candidate: Candidate, batch: GathererBatch): void {
    const { admit: _, ...stored } = candidate;
    const place = { partition, sender: this.#sender, sequence: this.#sequence++ };
    batch.putInbox(place, JSON.stringify(stored));
  }

  /** The partitions that have URIs, of those that are asked for. */
  async filled(wanted: ReadonlySet<number>): Promise<Set<number>> {
    const found = new Set<number>();
    for await (const page of this.#store.inbox.keyPages({ limit: PAGE_KEYS })) {
      for (const { partition } of page) if (wanted.has(partition)) found.add(partition);
      if (found.size === wanted.size) break;
    }
    return found;
  }

  /** The next URIs of a partition, with their places. */
  async read(partition: number): Promise<InboxEntry[]> {
    const rows = await this.#store.inboxOf(partition, PAGE_ENTRIES);
    return rows.map(({ text, ...place }) => ({ place, candidate: candidateOf(text, partition) }));
  }
}

function candidateOf(text: string, partition: number): Candidate {
  try {
    return candidateSchema.parse(JSON.parse(text)) as Candidate;
  } catch (cause) {
    throw new StorageError(`a URI in the inbox of partition ${partition} is damaged`, { cause });
  }
}
