import { currentGeneration } from '../generations/directory.js';
import { referencesDirectory } from '../references/format.js';
import {
  type PublishedReferences,
  type ReferencesBuilderOptions,
  ThreadedReferencesBuilder,
} from '../references/index.js';
import type { Table } from '../rows/table.js';
import type { GathererBatch } from './batch.js';
import type { LinkTables } from './link-tables.js';
import type { MetaValue } from './tables.js';

/** The meta value with the counter of changes at the last publication. */
const PUBLISHED_META = 'references.published';
/** Memory for sorting: small, because a Gatherer shares its machine with other programs. */
const MEMORY_BYTES = 64 * 1024 * 1024;

/** The parts of a working store that a publication reads and writes. */
export interface ReferencesSource {
  readonly links: LinkTables;
  readonly meta: Table<string, MetaValue>;
  batch(): GathererBatch;
}

/**
 * Publishes the link tables of a working store. Reads both tables by pages; a thread sorts and writes them. A
 * crash at any point leaves the former generation; a crash between the publication and the update of the meta
 * value repeats the publication next time.
 *
 * @param changes the store's counter of changes
 * @param data the data directory
 * @returns undefined if that state is published already
 */
export async function publishReferences(
  store: ReferencesSource,
  changes: number,
  data: string,
  options: ReferencesBuilderOptions,
): Promise<PublishedReferences | undefined> {
  const published = Number((await store.meta.get(PUBLISHED_META)) ?? 0);
  const exists = (await currentGeneration(referencesDirectory(data))) !== undefined;
  if (changes === 0 || (changes === published && exists)) return undefined;
  // IDs that readers have seen must not name other URLs after a power failure.
  await store.batch().commit({ sync: true });
  // A Gatherer gathers, and `harvest run` also serves, while it publishes.
  await using builder = new ThreadedReferencesBuilder(data, { memoryBytes: MEMORY_BYTES, ...options });
  for await (const page of store.links.documents()) await builder.addDocuments(page);
  for await (const pairs of store.links.pairs()) await builder.addLinks(pairs);
  const publication = await builder.publish();
  await store.batch().putMeta(PUBLISHED_META, changes).commit();
  return publication;
}
