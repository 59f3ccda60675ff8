import { join } from 'node:path';
import type { Expression } from '../../../protocols/broker/index.js';
import { CloseStack } from '../../../protocols/close-stack.js';
import { StateError, StorageError } from '../../../protocols/errors.js';
import { Waiters } from '../../../protocols/waiters.js';
import type {
  IndexedWord,
  Indexer,
  IndexerCapabilities,
  SearchOptions,
  SearchResults,
  WordRequest,
} from '../contract.js';
import { IndexDirectory, removeIndex } from '../index-directory.js';

/** Opens the engine of one index in a directory. */
export type OpenEngine = (directory: string) => Promise<Indexer>;

/** An engine and the queries that run in it. */
interface Generation {
  readonly directory: string;
  readonly engine: Indexer;
  queries: number;
  /** Replaced by another one; closed when its last query ends. */
  retired: boolean;
}

/**
 * Makes an engine that answers during a rebuild: {@link Indexer.clear} opens a second engine, which replaces
 * the first one at the next flush.
 *
 * @param path directory of the indexes, by number
 * @throws StorageError if a directory cannot be used; also the errors of `open`
 */
export async function openRebuildable(path: string, open: OpenEngine): Promise<Indexer> {
  const directory = await IndexDirectory.open(path);
  const fresh = directory.current === undefined;
  const current = directory.current ?? (await directory.prepare());
  await using opened = new CloseStack();
  // The threads of an engine keep the process alive until it is closed.
  const engine = opened.adopt(await open(current), (engine) => engine.close());
  if (fresh) await directory.publish(current, {});
  opened.move();
  return new RebuildableIndexer(directory, open, { directory: current, engine, queries: 0, retired: false });
}

class RebuildableIndexer implements Indexer {
  readonly #directory: IndexDirectory;
  readonly #open: OpenEngine;
  #current: Generation;
  #next: Generation | undefined;
  readonly #retiring = new Set<Promise<void>>();
  /** Calls that wait until a query ends. */
  readonly #queryEnds = new Waiters();
  #closing: Promise<void> | undefined;

  constructor(directory: IndexDirectory, open: OpenEngine, current: Generation) {
    this.#directory = directory;
    this.#open = open;
    this.#current = current;
  }

  get name(): string {
    return this.#current.engine.name;
  }

  get capabilities(): IndexerCapabilities {
    return this.#current.engine.capabilities;
  }

  get watermark(): number {
    return this.#current.engine.watermark;
  }

  get objects(): number | undefined {
    return this.#current.engine.objects;
  }

  get maxIndexedBytes(): number | undefined {
    return this.#current.engine.maxIndexedBytes;
  }

  beginUpdate(): Promise<void> {
    return this.#target.engine.beginUpdate();
  }

  add(oid: number, object: Uint8Array): Promise<void> {
    return this.#change((engine) => engine.add(oid, object));
  }

  remove(oid: number): Promise<void> {
    return this.#change((engine) => engine.remove(oid));
  }

  async clear(): Promise<void> {
    if (this.#closing !== undefined) throw new StateError('the index is closed');
    await this.#abandon();
    const directory = await this.#directory.prepare();
    const engine = await this.#open(directory);
    this.#next = { directory, engine, queries: 0, retired: false };
    await engine.beginUpdate();
  }

  async flush(watermark: number): Promise<void> {
    await this.#change((engine) => engine.flush(watermark));
    const next = this.#next;
    if (next === undefined) return;
    const former = this.#current;
    // The former engine keeps its files until its queries have ended.
    const lease = this.#directory.lease();
    try {
      await this.#directory.publish(next.directory, {});
    } catch (error) {
      await lease?.[Symbol.asyncDispose]();
      await this.#abandon();
      throw error;
    }
    this.#current = next;
    this.#next = undefined;
    former.retired = true;
    const retired = (async () => {
      while (former.queries > 0) await this.#queryEnds.wait();
      await former.engine.close();
      await lease?.[Symbol.asyncDispose]();
    })();
    this.#retiring.add(retired);
    // What could not be closed is removed with its files; close() reports what fails until then.
    retired.finally(() => this.#retiring.delete(retired)).catch(() => undefined);
  }

  query(expression: Expression, options: SearchOptions): SearchResults {
    const generation = this.#current;
    const results = generation.engine.query(expression, options);
    // A query that is never iterated never ends, and uses no resources.
    const counted = () => {
      generation.queries++;
      void results.outcome.then(() => {
        this.#endQuery(generation);
      });
      return results[Symbol.asyncIterator]();
    };
    return {
      outcome: results.outcome,
      get arrived() {
        return results.arrived;
      },
      get isDelivered() {
        return results.isDelivered;
      },
      [Symbol.asyncIterator]: counted,
    };
  }

  async words(request: WordRequest): Promise<readonly IndexedWord[]> {
    const generation = this.#current;
    const { engine } = generation;
    if (engine.words === undefined) return [];
    generation.queries++;
    try {
      return await engine.words(request);
    } finally {
      this.#endQuery(generation);
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  get #target(): Generation {
    return this.#next ?? this.#current;
  }

  async #change(work: (engine: Indexer) => Promise<void>): Promise<void> {
    try {
      await work(this.#target.engine);
    } catch (error) {
      // The run is over: the former index stays in use.
      if (error instanceof StorageError) await this.#abandon();
      throw error;
    }
  }

  async #abandon(): Promise<void> {
    const next = this.#next;
    this.#next = undefined;
    if (next === undefined) return;
    try {
      await next.engine.close();
    } finally {
      await removeIndex(next.directory);
    }
  }

  #endQuery(generation: Generation): void {
    generation.queries--;
    this.#queryEnds.wakeAll();
  }

  async #close(): Promise<void> {
    await using resources = new CloseStack();
    // Retired engines end with their queries, which their readers or lifetimes end.
    resources.defer(() => Promise.all(this.#retiring));
    resources.defer(() => this.#current.engine.close());
    resources.defer(() => this.#abandon());
  }
}

/** The index file within a directory of {@link openRebuildable}. */
export function indexFileIn(directory: string): string {
  return join(directory, 'index.sqlite');
}
