// A Broker's store and an indexer that follows it, for the tests of indexers.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Expression, parseQuery } from '../../protocols/broker/index.js';
import { encodeSoif, SoifObject } from '../../protocols/soif/index.js';
import { BrokerStore } from '../broker/broker-store.js';
import type { Hit, Indexer, SearchOptions, SearchOutcome } from './contract.js';

/** The directories of an indexer under test. */
export interface IndexerDirectories {
  /** The directory of the index, which may use any name below it except `store`. */
  readonly directory: string;
  /** The Broker's store, whose objects decide what matches (`openObjectReader`). */
  readonly storeDirectory: string;
}

export type OpenIndexerAt = (directories: IndexerDirectories) => Promise<Indexer>;

/** Attributes of an object; `url` is its URL. */
export type ObjectAttributes = Readonly<Record<string, string>>;

/** A search for parts of words, with case and with lines. */
export const PLAIN_SEARCH: SearchOptions = {
  ignoreCase: false,
  matchWord: false,
  errors: 0,
  wantLines: true,
  lifetimeMs: 60_000,
};

/** An object with the attributes that a Broker requires, whose values occur in no query of the tests. */
export function objectOf(
  { url = 'http://host/', ...attributes }: ObjectAttributes,
  updateTime = 1,
): SoifObject {
  return SoifObject.of('FILE', url, [
    ...Object.entries(attributes),
    ['Gatherer-Name', '@'],
    ['Gatherer-Host', '@'],
    ['Gatherer-Version', '@'],
    ['Update-Time', String(updateTime)],
    ['Last-Modification-Time', '1'],
    ['Refresh-Rate', '1'],
    ['Time-to-Live', '0'],
  ]);
}

/** Parses a query that is not `#allb`. */
export function expressionOf(query: string): Expression {
  const expression = parseQuery(query);
  if (expression.kind === 'all') throw new TypeError('an indexer does not answer #allb');
  return expression;
}

/** A Broker's store and an indexer that follows it, in a temporary directory. */
export class IndexerFixture implements AsyncDisposable {
  protected constructor(
    readonly directory: string,
    readonly store: BrokerStore,
    public indexer: Indexer,
  ) {}

  static async openWith(open: OpenIndexerAt): Promise<IndexerFixture> {
    const { directory, store } = await IndexerFixture.openStore();
    return new IndexerFixture(
      directory,
      store,
      await open({ directory, storeDirectory: join(directory, 'store') }),
    );
  }

  protected static async openStore(): Promise<{ readonly directory: string; readonly store: BrokerStore }> {
    const directory = await mkdtemp(join(tmpdir(), 'indexers-'));
    return { directory, store: await BrokerStore.open(join(directory, 'store')) };
  }

  get storeDirectory(): string {
    return join(this.directory, 'store');
  }

  /** Closes the indexer and opens it again on the same directories. */
  async reopenWith(open: OpenIndexerAt): Promise<void> {
    await this.indexer.close();
    this.indexer = await open(this);
  }

  /**
   * Stores objects and updates the index, as a Broker does. An object under a known URL replaces the former
   * one.
   */
  async put(...objects: readonly ObjectAttributes[]): Promise<void> {
    await this.putSoif(objects.map((object, i) => objectOf({ url: `http://h/${i + 1}`, ...object })));
  }

  async putSoif(objects: readonly SoifObject[]): Promise<void> {
    const result = await this.store.apply(
      objects.map((object) => ({ kind: 'update', object, bytes: encodeSoif(object) })),
    );
    if (result.rejected > 0) throw new Error(result.reasons.join());
    await this.catchUp();
  }

  /** Applies the changes of the store after the index's watermark. */
  async catchUp(): Promise<void> {
    await this.indexer.beginUpdate();
    for (;;) {
      const changes = await this.store.changesAfter(this.indexer.watermark, 1000);
      const last = changes.at(-1);
      if (last === undefined) return;
      const objects = await this.store.objects(changes.map(({ oid }) => oid));
      for (const [i, { oid }] of changes.entries()) {
        const object = objects[i];
        if (object === undefined) await this.indexer.remove(oid);
        else await this.indexer.add(oid, object);
      }
      await this.indexer.flush(last.sequence);
      if (this.indexer.watermark < last.sequence) throw new Error('flush did not move the watermark');
    }
  }

  async search(query: string, options: Partial<SearchOptions> = {}): Promise<Hit[]> {
    return (await this.searchAll(query, options)).hits;
  }

  async searchAll(
    query: string,
    options: Partial<SearchOptions> = {},
  ): Promise<{ hits: Hit[]; outcome: SearchOutcome }> {
    const results = this.indexer.query(expressionOf(query), { ...PLAIN_SEARCH, ...options });
    const hits: Hit[] = [];
    for await (const hit of results) hits.push(hit);
    return { hits, outcome: await results.outcome };
  }

  /** The OIDs of the hits, ascending. */
  async oids(query: string, options: Partial<SearchOptions> = {}): Promise<number[]> {
    const hits = await this.search(query, options);
    return hits.map(({ oid }) => oid).sort((a, b) => a - b);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.indexer.close();
    await this.store.close();
    await rm(this.directory, { recursive: true, force: true });
  }
}
