// The kit's embedded search engine as a side of the comparison.
import { join } from 'node:path';
import { type Expression, parseQuery } from '../../../protocols/broker/index.js';
import { BrokerStore } from '../../../storage/index.js';
import { type Indexer, openEmbeddedIndexer, type SearchOptions } from '../../../storage/indexers/index.js';
import { type BenchCorpus, readBenchDocument, soifOf } from './corpus.js';
import { bytesOf, type Engine } from './engine.js';
import { type BenchQuery, QUERY_KINDS } from './queries.js';

/** Update-Time of all objects. */
const TIME = 1_700_000_000;
const CHANGES_PER_PAGE = 500;

/** The embedded engine over the store of a Broker: the work of a Broker without its sockets. */
export class EmbeddedEngine implements Engine {
  readonly label = 'embedded';
  readonly kinds = new Set(QUERY_KINDS);
  readonly process = false;
  readonly #directory: string;
  readonly #corpus: BenchCorpus;
  #store: BrokerStore | undefined;
  #indexer: Indexer | undefined;

  constructor(directory: string, corpus: BenchCorpus) {
    this.#directory = directory;
    this.#corpus = corpus;
  }

  get indexer(): Indexer {
    if (this.#indexer === undefined) throw new Error('not built');
    return this.#indexer;
  }

  get store(): BrokerStore {
    if (this.#store === undefined) throw new Error('not built');
    return this.#store;
  }

  /** Stores the objects, which is not part of building the index. */
  async prepare(): Promise<void> {
    const store = await BrokerStore.open(join(this.#directory, 'store'));
    this.#store = store;
    for (let id = 1; id <= this.#corpus.documents; ) {
      const changes: Parameters<BrokerStore['apply']>[0][number][] = [];
      for (let bytes = 0; id <= this.#corpus.documents && bytes < 4e6; id++) {
        const document = soifOf(readBenchDocument(this.#corpus, id), TIME);
        bytes += document.bytes.length;
        changes.push({ kind: 'update', ...document });
      }
      const { rejected, reasons } = await store.apply(changes);
      if (rejected > 0) throw new Error(reasons.join());
    }
    this.#indexer = await openEmbeddedIndexer({
      file: join(this.#directory, 'index.db'),
      storeDirectory: join(this.#directory, 'store'),
    });
  }

  /** Builds the index from the stored objects. */
  async build(): Promise<void> {
    const { indexer, store } = this;
    await indexer.beginUpdate();
    for (let position = 0; ; ) {
      const changes = await store.changesAfter(position, CHANGES_PER_PAGE);
      const last = changes.at(-1);
      if (last === undefined) break;
      const objects = await store.objects(changes.map(({ oid }) => oid));
      for (const [i, { oid }] of changes.entries()) await indexer.add(oid, objects[i]!);
      position = last.sequence;
    }
    await indexer.flush(store.lastSequence);
  }

  size(): number {
    return bytesOf(this.#directory, /^index\.db/);
  }

  async top(query: BenchQuery): Promise<number> {
    return this.run(expressionOf(query), { ...optionsOf(query), maxFiles: 10 });
  }

  async count(query: BenchQuery): Promise<number> {
    return this.run(expressionOf(query), optionsOf(query));
  }

  /** Runs a query and counts the hits. */
  async run(expression: Expression, options: SearchOptions): Promise<number> {
    let hits = 0;
    for await (const _ of this.indexer.query(expression, options)) hits++;
    return hits;
  }

  async close(): Promise<void> {
    await this.#indexer?.close();
    await this.#store?.close();
  }
}

/** Parses a query of the Broker's language into the tree for an indexer. */
export function parseExpression(text: string): Expression {
  const query = parseQuery(text);
  if (query.kind === 'all') throw new Error('#allb is not for indexers');
  return query;
}

function expressionOf({ kind, words }: BenchQuery): Expression {
  const [first, second] = words;
  switch (kind) {
    case 'and':
    case 'or':
      return parseExpression(`${first} ${kind} ${second}`);
    case 'not':
      return parseExpression(`${first} and not ${second}`);
    case 'phrase':
      return parseExpression(`"${first} ${second}"`);
    case 'attribute':
      return parseExpression(`title : ${first}`);
    default:
      return parseExpression(`"${first}"`);
  }
}

/**
 * The flags that the query page sends: case is ignored; words are whole except for the kinds about parts of
 * words.
 */
export function optionsOf({ kind }: BenchQuery): SearchOptions {
  const matchesParts = kind === 'part' || kind === 'error' || kind === 'regexp';
  return {
    ignoreCase: true,
    matchWord: !matchesParts,
    errors: kind === 'error' ? 1 : 0,
    wantLines: false,
    lifetimeMs: 60_000,
  };
}
