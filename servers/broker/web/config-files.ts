// Reads `BrokerQuery.cf` and `Brokers.cf` in the Broker's directory.
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import {
  type BrokerQueryConfig,
  type ListedBroker,
  mergeBrokerQueryConfig,
  parseBrokerQueryCf,
  parseBrokersCf,
} from '../../../protocols/config/broker-query-cf.js';
import { errorCode, messageOf } from '../../../protocols/errors.js';
import type { Logger } from '../../host/index.js';

/** Names of the files in the Broker's directory that a form may name: not a path, and not broker.conf. */
const FILE_NAME = /^\w[\w.-]{0,100}\.cf$/;

/** The Broker's own definitions. */
const OWN_FILE = 'BrokerQuery.cf';

/** Larger files are not used. */
const MAX_BYTES = 256 * 1024;

/** Number of files that are cached. */
const MAX_CACHED = 16;

interface CachedFile<T> {
  /** Modification time and size of the file that was read. */
  readonly version: string;
  readonly value: T;
}

interface FileCache<T> {
  readonly files: LRUCache<string, CachedFile<T>>;
  /** Looks at files that are under way. */
  readonly looks: Map<string, Promise<T | undefined>>;
}

type ParseFile<T> = (
  text: string,
  path: string,
) => { readonly value: T; readonly warnings: readonly { readonly message: string }[] };

function fileCache<T>(max: number): FileCache<T> {
  return { files: new LRUCache<string, CachedFile<T>>({ max }), looks: new Map() };
}

/**
 * Reads the formatting files and the list of brokers in the Broker's directory, again when they change. Faulty
 * definitions are logged once and left out (BRK-9.5, 9.3).
 */
export class ConfigFiles {
  readonly #directory: string;
  readonly #defaults: BrokerQueryConfig;
  readonly #log: Logger;
  readonly #queries = fileCache<BrokerQueryConfig>(MAX_CACHED);
  readonly #lists = fileCache<readonly ListedBroker[]>(1);

  private constructor(directory: string, defaults: BrokerQueryConfig, log: Logger) {
    this.#directory = directory;
    this.#defaults = defaults;
    this.#log = log;
  }

  /** Reads the default definitions. */
  static async open(directory: string, log: Logger): Promise<ConfigFiles> {
    const file = new URL(import.meta.resolve('#broker-assets/BrokerQuery.cf'));
    const { config } = parseBrokerQueryCf(await readFile(file, 'utf8'), 'BrokerQuery.cf');
    return new ConfigFiles(directory, config, log);
  }

  /**
   * Returns the definitions of the file that a form names, then those of the Broker's own `BrokerQuery.cf`,
   * then the defaults: each replaces single definitions of the next (BRK-9.5). Without a name, or with that of
   * a file that cannot be used, the Broker's own count.
   */
  async query(name: string): Promise<BrokerQueryConfig> {
    const own = await this.#definitions(OWN_FILE);
    const broker = own === undefined ? this.#defaults : mergeBrokerQueryConfig(this.#defaults, own);
    if (name === '' || name === OWN_FILE || !FILE_NAME.test(name)) return broker;
    const named = await this.#definitions(name);
    return named === undefined ? broker : mergeBrokerQueryConfig(broker, named);
  }

  #definitions(name: string): Promise<BrokerQueryConfig | undefined> {
    return this.#read(name, this.#queries, (text, path) => {
      const { config, warnings } = parseBrokerQueryCf(text, path);
      return { value: config, warnings };
    });
  }

  /** Returns the broker of `Brokers.cf` with this name or `host:port`; undefined if it is not listed. */
  async broker(name: string): Promise<ListedBroker | undefined> {
    if (name === '') return undefined;
    const list = await this.#read('Brokers.cf', this.#lists, (text, path) => {
      const { brokers, warnings } = parseBrokersCf(text, path);
      return { value: brokers, warnings };
    });
    const key = name.toLowerCase();
    return list?.find((broker) =>
      [broker.name, `${broker.host}:${broker.port}`].some((known) => known.toLowerCase() === key),
    );
  }

  /** Requests that arrive meanwhile share a look at a file. */
  #read<T>(name: string, cache: FileCache<T>, parse: ParseFile<T>): Promise<T | undefined> {
    const looking =
      cache.looks.get(name) ??
      this.#look(name, cache.files, parse).finally(() => {
        cache.looks.delete(name);
      });
    cache.looks.set(name, looking);
    return looking;
  }

  async #look<T>(name: string, files: FileCache<T>['files'], parse: ParseFile<T>): Promise<T | undefined> {
    const path = join(this.#directory, name);
    try {
      await using file = await open(path, 'r');
      const { mtimeMs, size } = await file.stat();
      const version = `${mtimeMs} ${size}`;
      const known = files.get(name);
      if (known?.version === version) return known.value;
      if (size > MAX_BYTES) {
        this.#log.warn(`${path}: not used: larger than ${MAX_BYTES} bytes`);
        return undefined;
      }
      const { value, warnings } = parse(await file.readFile('utf8'), path);
      for (const warning of warnings) this.#log.warn(warning.message);
      files.set(name, { version, value });
      return value;
    } catch (error) {
      const missing = errorCode(error) === 'ENOENT';
      if (!missing) this.#log.warn(`${path}: not used: ${messageOf(error)}`);
      return undefined;
    }
  }
}
