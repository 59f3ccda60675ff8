// A query engine of one's own, for the line `Indexer-Type /path/of/own-indexer.mjs` of broker.conf. It names objects that may match, here all of
// them; the kit tests them by the rules of the query language.
import { openObjectReader } from 'harvest-kit/storage';
import { MATCHER_CAPABILITIES, searchCandidates } from 'harvest-kit/storage/indexers';

/** What it answers: all that these rules have. */
export const capabilities = MATCHER_CAPABILITIES;

/** An engine without an index: every object is a candidate. */
class ScanIndexer {
  name = 'scan';
  capabilities = capabilities;
  watermark = 0;
  #reader;
  #oids = new Set();
  #updating = false;
  #closed = false;

  static async open({ storeDirectory }) {
    const indexer = new ScanIndexer();
    indexer.#reader = await openObjectReader(storeDirectory);
    return indexer;
  }
  async *candidates() {
    yield Array.from(this.#oids, (oid) => ({ oid }));
  }
  query(expression, options) {
    this.#require(!this.#closed, 'the index is closed');
    return searchCandidates(this, this.#reader, expression, options);
  }
  async beginUpdate() {
    this.#require(!this.#closed, 'the index is closed');
    this.#updating = true;
  }
  async add(oid) {
    this.#require(this.#updating, 'no run');
    this.#oids.add(oid);
  }
  async remove(oid) {
    this.#require(this.#updating, 'no run');
    this.#oids.delete(oid);
  }
  async flush(watermark) {
    this.#require(this.#updating, 'no run');
    this.watermark = watermark;
  }
  async clear() {
    await this.beginUpdate();
    this.#oids.clear();
    this.watermark = 0;
  }
  async close() {
    if (this.#closed) return;
    this.#closed = true;
    await this.#reader.close();
  }
  [Symbol.asyncDispose]() {
    return this.close();
  }
  #require(condition, message) {
    if (!condition) throw Object.assign(new Error(message), { code: 'ERR_STATE' });
  }
}

/** Called by the Broker, with `brokerDirectory`, `storeDirectory` and what broker.conf says of engines. @returns the engine */
export function openIndexer(options) {
  return ScanIndexer.open(options);
}
