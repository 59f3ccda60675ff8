import { join } from 'node:path';
import {
  IndexerFixture,
  type ObjectAttributes,
  objectOf,
  PLAIN_SEARCH,
} from '../../../storage/indexers/conformance-fixture.js';
import {
  type EmbeddedIndexerOptions,
  type Indexer,
  openEmbeddedIndexer,
} from '../../../storage/indexers/index.js';

export { type ObjectAttributes as TestObject, objectOf as soifOf, PLAIN_SEARCH as PLAIN };

/** A Broker's store and an embedded index in a temporary directory. */
export class Base extends IndexerFixture {
  static async open(options: Partial<EmbeddedIndexerOptions> = {}): Promise<Base> {
    const { directory, store } = await IndexerFixture.openStore();
    return new Base(directory, store, await openIndexer(directory, options));
  }

  get file(): string {
    return join(this.directory, 'index.db');
  }

  reopen(options: Partial<EmbeddedIndexerOptions> = {}): Promise<void> {
    return this.reopenWith(({ directory }) => openIndexer(directory, options));
  }
}

export function openIndexer(
  directory: string,
  options: Partial<EmbeddedIndexerOptions> = {},
): Promise<Indexer> {
  const file = join(directory, 'index.db');
  return openEmbeddedIndexer({ file, storeDirectory: join(directory, 'store'), ...options });
}
