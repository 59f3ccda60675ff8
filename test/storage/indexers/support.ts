import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseQuery } from '../../../protocols/broker/index.js';
import { encodeSoif, SoifObject } from '../../../protocols/soif/index.js';
import { BrokerStore } from '../../../storage/index.js';
import {
  type EmbeddedIndexerOptions,
  type Hit,
  type Indexer,
  openEmbeddedIndexer,
  type SearchOptions,
  type SearchOutcome,
} from '../../../storage/indexers/index.js';

/** Attributes of a test object; `url` is its URL. */
export type TestObject = Readonly<Record<string, string>>;

export const PLAIN: SearchOptions = {
  ignoreCase: false,
  matchWord: false,
  errors: 0,
  wantLines: true,
  lifetimeMs: 60_000,
};

/** The object with the bookkeeping that a Broker requires; its words occur in no test. */
export function soifOf({ url = 'http://host/', ...attributes }: TestObject, updateTime = 1): SoifObject {
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

/** A Broker's store and an index beside it, in a directory of their own. */
export class Base implements AsyncDisposable {
  private constructor(
    readonly directory: string,
    readonly store: BrokerStore,
    public indexer: Indexer,
  ) {}

  static async open(options: Partial<EmbeddedIndexerOptions> = {}): Promise<Base> {
    const directory = await mkdtemp(join(tmpdir(), 'indexers-'));
    const store = await BrokerStore.open(join(directory, 'store'));
    return new Base(directory, store, await openIndexer(directory, options));
  }

  get file(): string {
    return join(this.directory, 'index.db');
  }

  get storeDirectory(): string {
    return join(this.directory, 'store');
  }

  async reopen(options: Partial<EmbeddedIndexerOptions> = {}): Promise<void> {
    await this.indexer.close();
    this.indexer = await openIndexer(this.directory, options);
  }

  /** Stores objects and brings the index up to date, as a Broker does. A known URL is replaced. */
  async put(...objects: readonly TestObject[]): Promise<void> {
    await this.putSoif(objects.map((object, i) => soifOf({ url: `http://h/${i + 1}`, ...object })));
  }

  async putSoif(objects: readonly SoifObject[]): Promise<void> {
    const result = await this.store.apply(
      objects.map((object) => ({ kind: 'update', object, bytes: encodeSoif(object) })),
    );
    if (result.rejected > 0) throw new Error(result.reasons.join());
    await this.catchUp();
  }

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
    }
  }

  async search(query: string, options: Partial<SearchOptions> = {}): Promise<Hit[]> {
    return (await this.searchAll(query, options)).hits;
  }

  async searchAll(
    query: string,
    options: Partial<SearchOptions> = {},
  ): Promise<{ hits: Hit[]; outcome: SearchOutcome }> {
    const expression = parseQuery(query);
    if (expression.kind === 'all') throw new Error('#allb is not for indexers');
    const results = this.indexer.query(expression, { ...PLAIN, ...options });
    const hits: Hit[] = [];
    for await (const hit of results) hits.push(hit);
    return { hits, outcome: await results.outcome };
  }

  /** The OIDs that match, ascending. */
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

export function openIndexer(
  directory: string,
  options: Partial<EmbeddedIndexerOptions> = {},
): Promise<Indexer> {
  const file = join(directory, 'index.db');
  return openEmbeddedIndexer({ file, storeDirectory: join(directory, 'store'), ...options });
}
