// What each process of a shared crawl does, as rows of the store, so that the console of one shows all.
import { z } from 'zod';
import type { GathererStore } from '../../../storage/index.js';
import { type CrawlSnapshot, snapshotSchema } from '../../crawler/control.js';
import { type ProcessSnapshot, sharedSnapshot } from '../../crawler/shared-snapshot.js';

const PREFIX = 'run.process.';

const rowSchema = z.object({ partitions: z.int().min(0), snapshot: snapshotSchema });

/** What the figures of a process are made of. */
export interface FiguresSource {
  /** Of this process alone. */
  snapshot(): CrawlSnapshot;
  /** The partitions that it has. */
  readonly partitions: number;
  /** The names of the processes that take part, as it saw them last. */
  readonly processes: ReadonlySet<string>;
}

/** The figures of one process, and those of the others as they were last stored. */
export class SharedFigures {
  readonly #store: GathererStore;
  readonly #name: string;
  #others: readonly ProcessSnapshot[] = [];

  /** @param name of this process, which no other has */
  constructor(store: GathererStore, name: string) {
    this.#store = store;
    this.#name = name;
  }

  /** Stores the figures of this process, and reads those of the others. @throws StorageError */
  async renew(source: FiguresSource): Promise<void> {
    const { partitions, processes } = source;
    const batch = this.#store.batch();
    batch.putMeta(PREFIX + this.#name, JSON.stringify({ partitions, snapshot: source.snapshot() }));
    const others: ProcessSnapshot[] = [];
    for await (const [key, value] of this.#store.metaOf(PREFIX)) {
      const name = key.slice(PREFIX.length);
      if (name === this.#name) continue;
      if (!processes.has(name)) {
        batch.deleteMeta(key);
        continue;
      }
      // One of another version may have other figures.
      const row = rowSchema.safeParse(JSON.parse(String(value)));
      if (row.success) others.push({ name, ...row.data });
    }
    this.#others = others;
    await batch.commit();
  }

  /** The figures of all processes. */
  all(source: FiguresSource): CrawlSnapshot {
    const own = { name: this.#name, partitions: source.partitions, snapshot: source.snapshot() };
    return sharedSnapshot([own, ...this.#others]);
  }
}
