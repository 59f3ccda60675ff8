// Stores imported objects in a Broker's store under the OIDs of their original Broker.
import { type SoifBytes, type SoifObject, textOfUrl } from '../../protocols/soif/index.js';
import { deleteOrphans, writeParts } from '../broker/large-objects.js';
import {
  type Bookkeeping,
  contentMark,
  entryOf,
  missingAttributes,
  readBookkeeping,
  sameGatherer,
} from '../broker/registry-entry.js';
import { identityOfEntry } from '../broker/registry-removals.js';
import { RegistryRows } from '../broker/registry-rows.js';
import { BROKER_COUNTERS } from '../broker/tables.js';
import { Level } from '../level/level.js';
import type { BrokerCounters, RegistryEntry } from '../records/records.js';

/** An object that has the attributes that a store requires, with its OID. */
export interface ImportableObject {
  readonly bytes: SoifBytes;
  readonly book: Bookkeeping;
  readonly entry: RegistryEntry;
}

/** Outcome of the import of one object. */
export interface ImportOutcome {
  readonly oid: number;
  readonly outcome: 'imported' | 'known' | { readonly skipped: string };
}

/** Prepares an object; returns a sentence if it lacks an attribute that the Registry requires (REG-40). */
export function prepareImport(oid: number, object: SoifObject, bytes: SoifBytes): ImportableObject | string {
  const book = readBookkeeping(object);
  const missing = missingAttributes(book);
  if (missing.length > 0) return `no readable ${missing.join(', ')} (REG-40)`;
  return { bytes, book, entry: entryOf(oid, object, book, bytes.length) };
}

/** Stores objects in a Broker's store under given OIDs. It is the only owner of the store while it is open. */
export class StoreImporter implements AsyncDisposable {
  readonly #level: Level;
  #counters: BrokerCounters;

  private constructor(level: Level, counters: BrokerCounters) {
    this.#level = level;
    this.#counters = counters;
  }

  /** @throws StorageError if there is no store or it is in use */
  static async open(storeDirectory: string): Promise<StoreImporter> {
    const level = await Level.open(storeDirectory, { kind: 'broker', create: false });
    try {
      const counters = await BROKER_COUNTERS.read(level);
      await deleteOrphans(level, counters.sequence);
      return new StoreImporter(level, counters);
    } catch (error) {
      await level.close();
      throw error;
    }
  }

  /** Writes one atomic batch, including the next OID (REG-35). The outcomes are in the order of the objects. */
  async add(objects: readonly ImportableObject[]): Promise<ImportOutcome[]> {
    if (objects.length === 0) return [];
    await using rows = new RegistryRows(this.#level, this.#counters, Math.floor(Date.now() / 1000));
    const entries = objects.map(({ entry }) => entry);
    await rows.load(
      entries.map(({ url }) => url),
      entries.flatMap((entry) => contentMark(entry) ?? []),
    );
    await rows.loadRemovals(entries.map(identityOfEntry));
    const stored = new Map<number, RegistryEntry>();
    for (const entry of await rows.loadEntries(entries.map(({ oid }) => oid))) stored.set(entry.oid, entry);
    const outcomes = objects.map((object) => ({
      oid: object.entry.oid,
      outcome: addOne(rows, object, stored),
    }));
    const before = this.#counters;
    const highest = entries.reduce((oid, entry) => Math.max(oid, entry.oid), 0);
    await this.#write(rows, before, highest + 1, false);
    return outcomes;
  }

  /** Sets the lowest OID of the next new object (REG-35) and flushes the store to the disk. */
  async finish(nextOid: number): Promise<void> {
    await this.#write(new RegistryRows(this.#level, this.#counters, 0), this.#counters, nextOid, true);
  }

  async #write(rows: RegistryRows, before: BrokerCounters, nextOid: number, sync: boolean): Promise<void> {
    for (const large of rows.large) await writeParts(this.#level, large);
    const counters = { ...rows.counters, nextOid: Math.max(nextOid, rows.counters.nextOid) };
    // The later of two changes to one row wins.
    const batch = [...rows.rows(before), BROKER_COUNTERS.put(counters)];
    await this.#level.write(batch, sync);
    this.#counters = counters;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#level.close();
  }
}

/** @param stored the entries by OID, kept up to date. */
function addOne(
  rows: RegistryRows,
  { entry, book, bytes }: ImportableObject,
  stored: Map<number, RegistryEntry>,
): ImportOutcome['outcome'] {
  const { oid, url, updateTime } = entry;
  const existing = stored.get(oid);
  if (existing !== undefined) {
    if (existing.url !== url || !sameGatherer(existing, book)) {
      return { skipped: `its OID is already that of ${textOfUrl(existing.url)}` };
    }
    if (existing.updateTime >= updateTime) return 'known';
  }
  // REG-45: another summary of the URL by the same Gatherer.
  const other = rows.entriesOf(url).find((known) => known.oid !== oid && sameGatherer(known, book));
  if (other !== undefined && other.updateTime >= updateTime) {
    return { skipped: `object ${other.oid} is about ${textOfUrl(url)} too, and not older (REG-45)` };
  }
  // REG-47: an existing object stays.
  const duplicate = rows.oidOfMark(contentMark(entry));
  if (duplicate !== undefined && duplicate !== oid && duplicate !== other?.oid) {
    return { skipped: `it has the content of object ${duplicate} (REG-42)` };
  }
  if (other !== undefined) {
    rows.remove(other);
    stored.delete(other.oid);
  }
  rows.put(entry, bytes);
  stored.set(oid, entry);
  return 'imported';
}
