// A database in memory: a gatherd over the objects of a program, without a store on disk.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { firstIndex } from '../../protocols/binary-search.js';
import type { Complete } from '../../protocols/defined.js';
import { GATHERD_VERSION } from '../../protocols/gatherd/index.js';
import { decodeSoif, encodeSoif, type SoifObject, timesOf } from '../../protocols/soif/index.js';
import type { UnixSeconds } from '../../protocols/time.js';
import { addGatherer } from '../../storage/generations/export/gatherer-defaults.js';
import { type GathererNames, Survey } from '../../storage/generations/export/survey.js';
import type { PublishedGeneration } from '../../storage/generations/generations.js';
import type {
  NumberedChange,
  NumberedChanges,
  SnapshotInfo,
  SummarySnapshot,
} from '../../storage/generations/snapshot.js';
import type { ExportChunk, ExportOptions, Summary } from '../../storage/summaries/summary-store.js';
import type { Tombstone } from '../../storage/summaries/tables.js';
import { tombstoneOf } from '../../storage/summaries/tombstones.js';
import type { SnapshotSource } from './current-snapshot.js';

export interface MemoryDatabaseOptions {
  /** Name of the Gatherer. Objects that name none get it, with host and version (SOIF-6.5). */
  readonly name: string;
  /** Host of the Gatherer. Default: the system's name. */
  readonly host?: string;
  /** Default: that of the protocol, GATHERD_VERSION. */
  readonly version?: string;
  /** The time in seconds since 1970. Default: the system's. */
  readonly now?: () => UnixSeconds;
}

/** With the numbers of the object's last change and of the one that made its content. */
type Row = Complete<Summary> & { readonly sequence: number };
type NumberedTombstone = Tombstone & { readonly sequence: number };

/**
 * The objects that a gatherd serves, held in memory. Every change is visible to the next command; a transfer that runs
 * keeps the objects that it began with (GATHERD-12.4).
 *
 * Takes about the length of the encoded objects. The first command after a change sorts all of them, so a program that
 * changes many objects one by one while clients read wants a store instead.
 */
export class MemoryDatabase implements SnapshotSource {
  readonly #rows = new Map<string, Row>();
  readonly #tombstones = new Map<string, NumberedTombstone>();
  readonly #origin = randomUUID();
  readonly #gatherer: GathererNames;
  readonly #now: () => UnixSeconds;
  #changes = 1;

  constructor(options: MemoryDatabaseOptions, objects: Iterable<SoifObject> = []) {
    const { name, host = hostname(), version = GATHERD_VERSION } = options;
    this.#gatherer = { gathererName: name, gathererHost: host, gathererVersion: version };
    this.#now = options.now ?? (() => Math.floor(Date.now() / 1000));
    for (const object of objects) this.put(object);
  }

  /** Number of objects. */
  get size(): number {
    return this.#rows.size;
  }

  /**
   * Adds an object, or replaces the one with the same URL. An object without a readable Update-Time gets the present
   * time, by which clients ask for changes (GATHERD-4.3).
   *
   * @throws ProtocolError for an object that must not be written (SOIF-2.8, SOIF-2.9)
   */
  put(object: SoifObject): void {
    const dated =
      timesOf(object).updateTime === undefined ? object.with([['Update-Time', String(this.#now())]]) : object;
    const soif = addGatherer(dated, this.#gatherer) ?? encodeSoif(dated);
    const { updateTime = 0, timeToLive } = timesOf(dated);
    const { url } = object;
    const sequence = ++this.#changes;
    this.#rows.set(url, { url, updateTime, timeToLive, soif, contentTime: updateTime, sequence });
    this.#tombstones.delete(url);
  }

  /**
   * Removes the object of a URL, and tells clients that ask for deletions (GATHERD-4.9) until it would have expired.
   *
   * @returns whether there was one
   */
  delete(url: string): boolean {
    const row = this.#rows.get(url);
    if (row === undefined) return false;
    this.#rows.delete(url);
    const deletionTime = this.#now();
    const record = tombstoneOf(row, deletionTime);
    const sequence = ++this.#changes;
    if (record !== undefined) this.#tombstones.set(url, { ...record, url, deletionTime, sequence });
    return true;
  }

  async published(): Promise<PublishedGeneration> {
    return { generation: this.#changes, identity: String(this.#changes) };
  }

  async open(): Promise<SummarySnapshot> {
    const now = this.#now();
    for (const [url, { expires }] of this.#tombstones) if (expires < now) this.#tombstones.delete(url);
    return new MemorySnapshot(this.#changes, this.#origin, new Map(this.#rows), [
      ...this.#tombstones.values(),
    ]);
  }

  /** Old generations hold no files, so that the next command is early enough for a new one. */
  follow(): Disposable {
    return { [Symbol.dispose]() {} };
  }
}

/** Maximum bytes of a chunk, unless one object is longer. */
const CHUNK_BYTES = 256 * 1024;

class MemorySnapshot implements SummarySnapshot {
  /** Ascending by (Update-Time, URL), the order of an export (GATHERD-4.6). */
  readonly #sorted: readonly Row[];
  readonly #rows: ReadonlyMap<string, Row>;
  readonly #tombstones: readonly NumberedTombstone[];
  readonly numbered: NumberedChanges;
  #info: SnapshotInfo | undefined;

  constructor(
    readonly generation: number,
    origin: string,
    rows: ReadonlyMap<string, Row>,
    tombstones: readonly NumberedTombstone[],
  ) {
    this.#rows = rows;
    this.#tombstones = tombstones;
    this.numbered = {
      origin,
      sequence: generation,
      has: (name, number) => name === origin && number > 0 && number <= generation,
      after: (sequence) => this.#changesAfter(sequence),
    };
    this.#sorted = [...rows.values()].sort((a, b) => a.updateTime - b.updateTime || (a.url < b.url ? -1 : 1));
  }

  get count(): number {
    return this.#rows.size;
  }

  async *exportSince(
    since: UnixSeconds,
    options: ExportOptions = {},
  ): AsyncGenerator<ExportChunk, void, undefined> {
    for await (const page of this.summariesSince(since, options)) {
      const objects = page.map(({ soif }) => soif);
      yield { bytes: Buffer.concat(objects), objects: objects.length, updateTime: page.at(-1)!.updateTime };
    }
  }

  async *summariesSince(
    since: UnixSeconds,
    { signal }: ExportOptions = {},
  ): AsyncGenerator<readonly Row[], void, undefined> {
    const rows = this.#sorted;
    let page: Row[] = [];
    let bytes = 0;
    for (let i = firstIndex(0, rows.length, (at) => rows[at]!.updateTime >= since); i < rows.length; i++) {
      const row = rows[i]!;
      page.push(row);
      bytes += row.soif.length;
      if (bytes < CHUNK_BYTES) continue;
      signal?.throwIfAborted();
      yield page;
      page = [];
      bytes = 0;
    }
    if (page.length > 0) yield page;
  }

  async *deletionsSince(since: UnixSeconds): AsyncGenerator<readonly Tombstone[], void, undefined> {
    const found = this.#tombstones.filter(({ deletionTime }) => deletionTime >= since);
    if (found.length > 0) yield found;
  }

  async *#changesAfter(from: number): AsyncGenerator<readonly NumberedChange[], void, undefined> {
    const deleted = this.#tombstones.map((row) => ({ ...row, kind: 'deleted' as const }));
    const present = this.#sorted.map((row) => ({
      ...row,
      kind: 'present' as const,
      contentSequence: row.sequence,
    }));
    const changes = [...deleted, ...present].filter(({ sequence }) => sequence > from);
    if (changes.length > 0) yield changes.sort((a, b) => a.sequence - b.sequence);
  }

  async get(url: string): Promise<Uint8Array | undefined> {
    return this.#rows.get(url)?.soif;
  }

  async info(): Promise<SnapshotInfo> {
    this.#info ??= survey(this.#sorted);
    return this.#info;
  }

  retain(): void {}
  async release(): Promise<void> {}
  async close(): Promise<void> {}
  async [Symbol.asyncDispose](): Promise<void> {}
}

function survey(rows: readonly Row[]): SnapshotInfo {
  const survey = new Survey();
  for (const { soif } of rows) survey.add(decodeSoif(soif, { maxObjectBytes: soif.length }));
  const gatherer = survey.gatherer();
  const times = rows.filter(({ updateTime }) => updateTime > 0);
  const info = {
    count: rows.length,
    oldest: times[0]?.updateTime,
    newest: times.at(-1)?.updateTime,
    attributes: survey.attributes(),
  };
  return gatherer === undefined ? info : { ...info, gatherer };
}
