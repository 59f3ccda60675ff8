import { currentGeneration } from '../generations/directory.js';
import { referencesDirectory } from '../references/format.js';
import {
  type PublishedReferences,
  ReferencesBuilder,
  type ReferencesBuilderOptions,
} from '../references/index.js';
import type { GathererBatch } from './batch.js';
import type { LinkTables } from './link-tables.js';
import type { MetaStore } from './meta.js';

/** Which state of the tables was published last. */
const PUBLISHED = 'references.published';
/** For sorting; a Gatherer shares its machine with other programs. */
const MEMORY_BYTES = 64 * 1024 * 1024;

/** The parts of a working store that a publication reads and writes. */
export interface ReferencesSource {
  readonly links: LinkTables;
  readonly meta: MetaStore;
  batch(): GathererBatch;
}

/**
 * Publishes the link tables of a working store, by two walks in pages. A kill at any point leaves the former generation; one
 * between its publication and the mark makes the same again next time.
 *
 * @param changes what the store's counter of changes says
 * @param data the data directory
 * @returns undefined when that state is published already
 */
export async function publishReferences(
  store: ReferencesSource,
  changes: number,
  data: string,
  options: ReferencesBuilderOptions,
): Promise<PublishedReferences | undefined> {
  const marked = Number((await store.meta.get(PUBLISHED)) ?? 0);
  const there = (await currentGeneration(referencesDirectory(data))) !== undefined;
  if (changes === 0 || (changes === marked && there)) return undefined;
  await using builder = await ReferencesBuilder.create(data, { memoryBytes: MEMORY_BYTES, ...options });
  for await (const page of store.links.documents()) {
    options.signal?.throwIfAborted();
    for (const document of page) builder.addDocument(document);
  }
  for await (const pairs of store.links.pairs()) {
    options.signal?.throwIfAborted();
    builder.addLinks(pairs);
  }
  const published = await builder.publish();
  await store.batch().putMeta(PUBLISHED, changes).commit();
  return published;
}
