// A Broker store with an embedded index, for the tests of the embedded engine; see
// `storage/indexers/conformance-fixture.ts`.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { IndexerFixture } from '../../../storage/indexers/conformance-fixture.js';
import {
  type EmbeddedIndexerOptions,
  type Indexer,
  type IndexerCapabilities,
  type IndexerType,
  openEmbeddedIndexer,
} from '../../../storage/indexers/index.js';

export {
  expressionOf,
  type ObjectAttributes,
  objectOf,
  PLAIN_SEARCH,
} from '../../../storage/indexers/conformance-fixture.js';

/** Everything that the query language has. */
export const ALL_CAPABILITIES: IndexerCapabilities = {
  substrings: true,
  words: true,
  caseSensitive: true,
  accents: true,
  errors: 8,
  phrases: true,
  attributes: true,
  regexp: true,
  comparison: true,
  not: true,
  mostWords: true,
  score: true,
};

/** The programs that engines run; without one the engine is not tested. */
const PROGRAMS: Partial<Record<IndexerType, string>> = { glimpse: 'glimpseindex', swish: 'swish-e' };

/** Options of a test of an engine. */
export function needsProgram(type: IndexerType): { readonly skip: string | false } {
  const program = PROGRAMS[type];
  if (type === 'opensearch') return { skip: 'see peers/opensearch' };
  const isMissing = program !== undefined && spawnSync(program, ['-V']).error !== undefined;
  return { skip: isMissing && `${program} is not installed` };
}

/** A Broker's store and an embedded index in a temporary directory. */
export class EmbeddedFixture extends IndexerFixture {
  static async open(options: Partial<EmbeddedIndexerOptions> = {}): Promise<EmbeddedFixture> {
    const { directory, store } = await IndexerFixture.openStore();
    return new EmbeddedFixture(directory, store, await openIndexer(directory, options));
  }

  /** The path of the index. */
  get file(): string {
    return join(this.directory, 'index.db');
  }

  reopen(options: Partial<EmbeddedIndexerOptions> = {}): Promise<void> {
    return this.reopenWith(({ directory }) => openIndexer(directory, options));
  }
}

/** Opens the index of a fixture's directory. */
export function openIndexer(
  directory: string,
  options: Partial<EmbeddedIndexerOptions> = {},
): Promise<Indexer> {
  const file = join(directory, 'index.db');
  return openEmbeddedIndexer({ file, storeDirectory: join(directory, 'store'), ...options });
}
