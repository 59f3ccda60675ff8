import { join, resolve } from 'node:path';
import { ConfigError, UsageError } from '../../protocols/errors.js';
import { importFunction } from '../files/own-module.js';
import type { Indexer } from './contract.js';
import { openEmbeddedIndexer } from './embedded.js';
import { openGlimpseIndexer } from './glimpse/open-glimpse.js';
import { indexFileIn, openRebuildable } from './rebuildable.js';
import { openSwishIndexer } from './swish/swish-indexer.js';

/** Options of {@link openIndexer}; most are variables of broker.conf (BRK-7.3). */
export interface OpenIndexerOptions {
  /** `Indexer-Type`, one of {@link INDEXER_TYPES} in any case; or the file of a module, relative to `Broker-Directory` (see {@link isModuleType}). */
  readonly type: string;
  /** `Broker-Directory`: each engine has its own folder below it. */
  readonly brokerDirectory: string;
  /** Directory of the Broker's store; queries are matched against its objects. */
  readonly storeDirectory: string;
  /** `GlimpseIndex-Option`. Default `-b`. */
  readonly glimpseIndexOption?: string;
  /** `GlimpseServer-Host`; `false` turns glimpseserver off, any other value is ignored: it serves this host. */
  readonly glimpseServerHost?: string | false;
  /** `GlimpseServer-Port`; glimpseserver is off if absent. */
  readonly glimpseServerPort?: number;
  /** `Max-Work`: seconds for which a query may search the index and match objects; then it ends with reason `cost`. Default 10. */
  readonly maxWork?: number;
  /** Receives a sentence for each problem that does not stop the work. */
  readonly onWarning?: (sentence: string) => void;
}

/** Opens an engine. A module of one's own exports such a function by the name `openIndexer`; it returns an {@link Indexer} or a promise of one. */
export type OpenOwnIndexer = (options: OpenIndexerOptions) => Indexer | Promise<Indexer>;

type Opener = (options: OpenIndexerOptions) => Promise<Indexer>;

/** A value of `Indexer-Type`, in lower case. */
export type IndexerType = 'embedded' | 'glimpse' | 'swish';

const OPENERS: Readonly<Record<IndexerType, Opener>> = { embedded, glimpse, swish };

/** The values of `Indexer-Type`, in lower case. */
export const INDEXER_TYPES = Object.keys(OPENERS) as readonly IndexerType[];

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
 * Opens the query engine of a Broker by its `Indexer-Type` (BRK-8.5). All engines are updated, rebuilt and queried in the same way;
 * `capabilities` lists the kinds of query that they answer.
 *
 * @throws UsageError for an unknown type; ConfigError for a module that cannot be used; StorageError if a program is not installed or a
 * directory cannot be used
 */
export async function openIndexer(options: OpenIndexerOptions): Promise<Indexer> {
  if (isModuleType(options.type)) return openByModule(options);
  return OPENERS[parseIndexerType(options.type)](options);
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

async function embedded({ brokerDirectory, storeDirectory, maxWork }: OpenIndexerOptions): Promise<Indexer> {
  return openRebuildable(join(brokerDirectory, 'index'), (directory) =>
    openEmbeddedIndexer({
      file: indexFileIn(directory),
      storeDirectory,
      rebuildOnError: true,
      ...workLimit(maxWork),
    }),
  );
}

/** The limit of `Max-Work` in the unit of the engines. */
function workLimit(maxWork: number | undefined): { readonly maxWorkMs?: number } {
  return maxWork === undefined ? {} : { maxWorkMs: maxWork * 1000 };
}

async function glimpse(options: OpenIndexerOptions): Promise<Indexer> {
  const { brokerDirectory, storeDirectory, glimpseIndexOption, glimpseServerPort, onWarning } = options;
  const server = options.glimpseServerHost === false ? undefined : glimpseServerPort;
  return openGlimpseIndexer({
    directory: join(brokerDirectory, 'glimpse'),
    objectsDirectory: join(brokerDirectory, 'objects'),
    storeDirectory,
    indexOption: glimpseIndexOption,
    server: server === undefined ? undefined : { port: server },
    ...workLimit(options.maxWork),
    onWarning,
  });
}

async function swish({
  brokerDirectory,
  storeDirectory,
  maxWork,
  onWarning,
}: OpenIndexerOptions): Promise<Indexer> {
  return openSwishIndexer({
    directory: join(brokerDirectory, 'swish'),
    storeDirectory,
    limits: workLimit(maxWork),
    onWarning,
  });
}
