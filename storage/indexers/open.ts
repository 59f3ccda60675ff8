import { resolve } from 'node:path';
import { ConfigError, UsageError } from '../../protocols/errors.js';
import { importFunction } from '../files/import-function.js';
import type { Indexer } from './contract.js';
import { EMBEDDED } from './embedded/engine.js';
import type { OpenIndexerOptions } from './engine.js';
import { GLIMPSE } from './glimpse/engine.js';
import { OPENSEARCH } from './opensearch/engine.js';
import { SWISH } from './swish/engine.js';

/**
 * Opens an engine. A module of one's own exports such a function by the name `openIndexer`; it returns an
 * {@link Indexer} or a promise of one.
 */
export type OpenOwnIndexer = (options: OpenIndexerOptions) => Indexer | Promise<Indexer>;

/** The engines by the value of `Indexer-Type`, in lower case. */
export const ENGINES = {
  embedded: EMBEDDED,
  glimpse: GLIMPSE,
  swish: SWISH,
  opensearch: OPENSEARCH,
} as const;

/** A value of `Indexer-Type`, in lower case. */
export type IndexerType = keyof typeof ENGINES;

/** The values of `Indexer-Type`, in lower case. */
export const INDEXER_TYPES = Object.keys(ENGINES) as readonly IndexerType[];

/** Whether a value of `Indexer-Type` names a module of one's own: a path that ends in `.js` or `.mjs`. */
export function isModuleType(type: string): boolean {
  return /\.[cm]?js$/.test(type);
}

/** Reads a value of `Indexer-Type` that is no module, in any case. @throws UsageError for an unknown one */
export function parseIndexerType(text: string): IndexerType {
  const type = INDEXER_TYPES.find((known) => known === text.toLowerCase());
  if (type !== undefined) return type;
  throw new UsageError(
    `Indexer-Type: ${text} is not one of ${INDEXER_TYPES.join(', ')}, and not the file of a module (.js, .mjs)`,
  );
}

/**
 * Opens the query engine of a Broker by its `Indexer-Type` (BRK-8.5). All engines are updated, rebuilt and
 * queried in the same way; `capabilities` lists the kinds of query that they answer.
 *
 * @throws UsageError for an unknown type; ConfigError for a module that cannot be used; StorageError if a
 * program is not installed or a directory cannot be used
 */
export async function openIndexer(options: OpenIndexerOptions): Promise<Indexer> {
  if (isModuleType(options.type)) return openByModule(options);
  return ENGINES[parseIndexerType(options.type)].open(options);
}

async function openByModule(options: OpenIndexerOptions): Promise<Indexer> {
  const file = resolve(options.brokerDirectory, options.type);
  const open = await importFunction(file, 'openIndexer', { directive: 'Indexer-Type' });
  const indexer = await open(options);
  if (!isIndexer(indexer))
    throw new ConfigError(
      file,
      0,
      'Indexer-Type',
      'openIndexer returned no engine: see the interface Indexer',
    );
  return indexer;
}

function isIndexer(value: unknown): value is Indexer {
  const methods = ['beginUpdate', 'add', 'remove', 'flush', 'query', 'clear', 'close'];
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof Reflect.get(value, 'watermark') === 'number' &&
    typeof Reflect.get(value, 'capabilities') === 'object' &&
    methods.every((name) => typeof Reflect.get(value, name) === 'function')
  );
}
