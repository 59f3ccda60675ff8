// What one query engine of this package states about itself, for `openIndexer`, the Broker and the commands.
import type { Indexer } from './contract.js';

/** Options of `openIndexer`; most are variables of broker.conf (BRK-7.3). */
export interface OpenIndexerOptions {
  /**
   * `Indexer-Type`, the name of an engine in any case; or the file of a module, relative to `Broker-Directory`
   * (see `isModuleType`).
   */
  readonly type: string;
  /** `Broker-Directory`: each engine has its own folder below it. */
  readonly brokerDirectory: string;
  /** Directory of the Broker's store; queries are matched against its objects. */
  readonly storeDirectory: string;
  /**
   * A random name of the store, if several Brokers may share it: an engine that can gives them one index, see
   * `Indexer.shared`.
   */
  readonly storeName?: string | undefined;
  /** `GlimpseIndex-Option`. Default `-b`. */
  readonly glimpseIndexOption?: string;
  /** `GlimpseServer-Host`; `false` turns glimpseserver off, any other value is ignored: it serves this host. */
  readonly glimpseServerHost?: string | false;
  /** `GlimpseServer-Port`; glimpseserver is off if absent. */
  readonly glimpseServerPort?: number;
  /**
   * `Max-Work`: seconds for which a query may search the index and match objects; then it ends with reason
   * `cost`. Default 10.
   */
  readonly maxWork?: number;
  /** Where the cluster and the index of `OpenSearch` are. */
  readonly openSearch?: OpenSearchSettings;
  /** Receives a sentence for each problem that does not stop the work. */
  readonly onWarning?: (sentence: string) => void;
}

/** The variables of broker.conf for OpenSearch. */
export interface OpenSearchSettings {
  /** `OpenSearch-URL`: nodes of the cluster. Default: port 9200 of this machine. */
  readonly urls?: readonly string[] | undefined;
  /** `OpenSearch-Index`: the alias of the index. Characters that OpenSearch does not allow are replaced. */
  readonly index?: string | undefined;
  /** `OpenSearch-Login`: a file whose first line is `user:password`. */
  readonly loginFile?: string | undefined;
  /** `OpenSearch-CA`: a file with the certificates that sign those of the nodes. */
  readonly authorityFile?: string | undefined;
}

/** What an examination of an engine has found, as a sentence. */
export interface EngineFinding {
  readonly status: 'ok' | 'warning' | 'problem';
  readonly text: string;
}

/** An engine of this package. Its `open` loads the engine, so that programs that only name it need not. */
export interface Engine {
  /** The value of `Indexer-Type` as `harvest init` writes it. */
  readonly title: string;
  /** BRK-6.5: the debug section of the Broker. */
  readonly section: number;
  /** The program that it needs, for `harvest doctor`. */
  readonly program?: string;
  /** `harvest init` has an option of its name. */
  readonly isChoiceOfInit: boolean;
  /** Further lines of broker.conf that `harvest init` writes for it. */
  readonly configuration?: string;
  /** Looks at what the engine needs outside of the Broker, and changes nothing; for `harvest doctor`. */
  examine?(
    options: Pick<OpenIndexerOptions, 'brokerDirectory' | 'openSearch'> & {
      /** Whether several Brokers may share the store. */
      readonly isStoreShared?: boolean;
    },
  ): Promise<readonly EngineFinding[]>;
  open(options: OpenIndexerOptions): Promise<Indexer>;
}

/** The limit of `Max-Work` in the unit of the engines. */
export function workLimit(maxWork: number | undefined): { readonly maxWorkMs?: number } {
  return maxWork === undefined ? {} : { maxWorkMs: maxWork * 1000 };
}

/** The limits that options set, and the defaults of the others. */
export function withDefaults<T extends { readonly [K in keyof T]: number }>(
  defaults: T,
  options: Partial<T>,
): T {
  const names = Object.keys(defaults) as (keyof T)[];
  const entries = names.map((name): readonly unknown[] => [name, options[name] ?? defaults[name]]);
  return Object.fromEntries(entries) as T;
}
