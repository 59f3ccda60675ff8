import type pg from 'pg';
import { bufferOf } from '../../protocols/ascii.js';
import { errorCode } from '../../protocols/errors.js';
import type {
  ClaimOptions,
  ExclusiveOptions,
  PageOptions,
  Row,
  RowChange,
  Rows,
  RowsOptions,
  RowsSnapshot,
  RowTransaction,
} from '../rows/contract.js';
import type { KeyRange } from '../rows/keys.js';
import { Connections, encryptionOf } from './connections.js';
import { parseDatabaseUrl } from './database-address.js';
import { prepareSchema } from './schema.js';
import {
  claimRows,
  clearRange,
  getRow,
  getRows,
  holdRows,
  keysOfPage,
  pageOfRows,
  timeOf,
  writeRows,
} from './statements.js';

/** Options of {@link PostgresRows}. */
export interface PostgresOptions {
  /** Maximum number of connections for reads and changes. Default 8. */
  readonly connections?: number;
  /** Maximum number of {@link PostgresRows.snapshot}s, each of which has a connection. Default 16. */
  readonly snapshots?: number;
  /** Milliseconds for which a lost connection is replaced, e.g. while a standby becomes the primary. Default 30 s. */
  readonly failoverMs?: number;
}

const CONNECTIONS = 8;
const SNAPSHOTS = 16;
const FAILOVER_MS = 30_000;
/** A process that stands still in the middle of a change must not stop the others for ever. */
const SETTINGS = { idle_in_transaction_session_timeout: '20s' };
/** A client may read a large object slowly. */
const SNAPSHOT_SETTINGS = { idle_in_transaction_session_timeout: '15min' };
/** Tables that cannot be vacuumed: the database cleans up itself. */
const NOT_SUPPORTED = new Set(['0A000', '42601']);

/**
 * The rows of a store in a PostgreSQL database that several processes may share.
 *
 * A change is a transaction that begins with a lock of the store's row, so that one runs at a time; reads wait for
 * nothing. Every transaction is committed as the server's `synchronous_commit` says.
 */
export class PostgresRows implements Rows {
  readonly isShared = true;

  private constructor(
    readonly place: string,
    private readonly schema: string,
    private readonly kind: string,
    private readonly connections: Connections,
    private readonly snapshots: Connections,
  ) {}

  /**
   * Opens a store, and creates it if the options say so. The schema is that of the URL, or `harvest_KIND`.
   *
   * @throws UsageError for a wrong URL
   * @throws StorageError if the database cannot be reached or refuses, or has another kind or version of store
   */
  static async open(url: string, options: RowsOptions & PostgresOptions): Promise<PostgresRows> {
    const address = parseDatabaseUrl(url);
    const schema = address.schema ?? `harvest_${options.kind}`;
    const { failoverMs = FAILOVER_MS, connections: max = CONNECTIONS } = options;
    const ssl = await encryptionOf(address);
    const connections = new Connections(address, ssl, { max, failoverMs, settings: SETTINGS });
    try {
      await connections.open();
      await connections.use((client) => prepareSchema(client, schema, address.shown, options));
    } catch (error) {
      await connections.close();
      throw error;
    }
    const snapshots = new Connections(address, ssl, {
      max: options.snapshots ?? SNAPSHOTS,
      failoverMs,
      settings: SNAPSHOT_SETTINGS,
    });
    return new PostgresRows(address.shown, schema, options.kind, connections, snapshots);
  }

  get(key: Uint8Array): Promise<Uint8Array | undefined> {
    return this.connections.read((client) => getRow(client, this.schema, key));
  }

  getMany(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    if (keys.length === 0) return Promise.resolve([]);
    return this.connections.read((client) => getRows(client, this.schema, keys));
  }

  page(range: KeyRange, options: PageOptions = {}): Promise<Row[]> {
    return this.connections.read((client) => pageOfRows(client, this.schema, range, options));
  }

  pageOfKeys(range: KeyRange, options: PageOptions = {}): Promise<Uint8Array[]> {
    return this.connections.read((client) => keysOfPage(client, this.schema, range, options));
  }

  async snapshot(): Promise<RowsSnapshot> {
    const client = await this.snapshots.take();
    let isOpen = true;
    const end = async (isLost: boolean): Promise<void> => {
      if (!isOpen) return;
      isOpen = false;
      this.snapshots.giveBack(client, isLost);
    };
    const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
      try {
        return await work();
      } catch (error) {
        await end(true);
        throw this.connections.failure(error);
      }
    };
    await guarded(async () => {
      await client.query('begin isolation level repeatable read read only');
      // The first statement decides what the transaction sees.
      await client.query(`select 1 from ${this.schema}.store`);
    });
    return {
      get: (key) => guarded(() => getRow(client, this.schema, key)),
      page: (range, options = {}) => guarded(() => pageOfRows(client, this.schema, range, options)),
      close: async () => {
        if (!isOpen) return;
        await guarded(() => client.query('rollback'));
        await end(false);
      },
    };
  }

  write(changes: Iterable<RowChange>): Promise<void> {
    return this.#transaction((client) => writeRows(client, this.schema, changes));
  }

  clear(range: KeyRange): Promise<void> {
    return this.connections.use((client) => clearRange(client, this.schema, range));
  }

  exclusive<T>(
    work: (rows: RowTransaction) => Promise<T>,
    { mayRepeat = false }: ExclusiveOptions = {},
  ): Promise<T> {
    // One message: the kind is a word of ours.
    const begin = `begin; select version from ${this.schema}.store where kind = '${this.kind}' for update`;
    return this.#transaction(
      (client) => work(transactionRows(client, this.schema, this.place)),
      begin,
      mayRepeat,
    );
  }

  async secret(secret: Uint8Array, replace = false): Promise<Uint8Array> {
    const set = replace ? '$1' : 'coalesce(secret, $1)';
    const { rows } = await this.connections.read((client) =>
      client.query<{ secret: Uint8Array }>(
        `update ${this.schema}.store set secret = ${set} where kind = '${this.kind}' returning secret`,
        [bufferOf(secret)],
      ),
    );
    return rows[0]?.secret ?? secret;
  }

  claim<T>(
    keys: readonly Uint8Array[],
    initial: Uint8Array,
    work: (rows: RowTransaction, values: readonly (Uint8Array | undefined)[]) => Promise<T>,
    { asHolder = false }: ClaimOptions = {},
  ): Promise<T> {
    return this.#transaction(async (client) => {
      const values = await claimRows(client, this.schema, keys, asHolder ? undefined : initial);
      return work(transactionRows(client, this.schema, this.place), values);
    });
  }

  time(): Promise<number> {
    return this.connections.read(timeOf);
  }

  /** Writes begin with a new transaction; there is nothing to recover. */
  recover(): Promise<void> {
    return Promise.resolve();
  }

  /** The server knows what room it has; a change shows it. */
  hasRoom(): Promise<boolean> {
    return Promise.resolve(true);
  }

  /** Each transaction is durable when it is committed. */
  flush(): Promise<void> {
    return Promise.resolve();
  }

  async compact(): Promise<void> {
    await this.connections.use(async (client) => {
      try {
        await client.query(`vacuum (analyze) ${this.schema}.rows`);
      } catch (error) {
        if (!NOT_SUPPORTED.has(errorCode(error) ?? '')) throw error;
      }
    });
  }

  async close(): Promise<void> {
    await this.connections.close();
    await this.snapshots.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #transaction<T>(work: (client: pg.Client) => Promise<T>, begin = 'begin', mayRepeat = false): Promise<T> {
    const once = async (client: pg.Client): Promise<T> => {
      try {
        await client.query(begin);
        const result = await work(client);
        await client.query('commit');
        return result;
      } catch (error) {
        // Without an answer the connection is lost, and with it the transaction.
        await client.query('rollback').catch(() => undefined);
        throw error;
      }
    };
    return mayRepeat ? this.connections.read(once) : this.connections.use(once);
  }
}

/** The rows within a transaction. */
function transactionRows(client: pg.Client, schema: string, place: string): RowTransaction {
  return {
    place,
    get: (key) => getRow(client, schema, key),
    getMany: (keys) => (keys.length === 0 ? Promise.resolve([]) : getRows(client, schema, keys)),
    page: (range, options = {}) => pageOfRows(client, schema, range, options),
    pageOfKeys: (range, options = {}) => keysOfPage(client, schema, range, options),
    snapshot: () =>
      Promise.resolve({
        get: (key) => getRow(client, schema, key),
        page: (range, options = {}) => pageOfRows(client, schema, range, options),
        close: () => Promise.resolve(),
      }),
    write: (changes) => writeRows(client, schema, changes),
    clear: (range) => clearRange(client, schema, range),
    hold: (keys) => holdRows(client, schema, keys),
    time: () => timeOf(client),
  };
}
