// Cleaning, deleting, adding by hand and compressing the Registry.
import { resolve } from 'node:path';
import { exactBytes, readInput, readObjects, type StreamObject } from '../../../clients/soif-tools/index.js';
import { DEFAULT_FLAGS, indexFlags, type Query } from '../../../protocols/broker/index.js';
import { isDiskFull, messageOf, UsageError } from '../../../protocols/errors.js';
import { decodeSoif, hasEmptyValue, textOfUrl } from '../../../protocols/soif/index.js';
import { SpoolFile } from '../../../storage/files/spool-file.js';
import {
  type ApplyCounts,
  addCounts,
  type CollectedChange,
  NO_COUNTS,
  type RegistryEntry,
} from '../../../storage/index.js';
import { ClockWatch } from './clock-watch.js';
import { changeObserver } from './event-log.js';
import type { BrokerParts } from './parts.js';
import { markForRefresh, type RefreshMarks } from './refresh-marks.js';

/** The result of {@link Maintenance.addFiles}. */
export interface AddReport extends ApplyCounts {
  /** Number of faults in the files, including those that were tolerated. */
  readonly faults: number;
  /** Some of the reasons. */
  readonly reasons: readonly string[];
}

/** Fewer objects that expire at once are deleted without a question. */
const MIN_MOST = 3;

/** Objects that are read, applied or removed in one batch. */
const BATCH_OBJECTS = 256;

/** Bytes of objects applied in one batch; a larger object forms its own. */
const BATCH_BYTES = 1024 * 1024;

/** REG-27: fewer deleted records are not worth a compression. */
const MIN_DELETED = 100;

/** Reasons kept in a report. */
const MAX_REASONS = 10;

/** Milliseconds between two looks for space on a full disk. */
export const LOOK_MS = 5000;

/** Maintenance of a Broker's Registry: cleaning, deleting, adding by hand, compressing (BRK-5.1, BRK-7.10). */
export class Maintenance {
  readonly #parts: BrokerParts;
  /** Records deleted or replaced since the last compression, or since the start. */
  #deleted = 0;
  #refreshMarks: RefreshMarks | undefined;
  readonly #clockWatch = new ClockWatch();

  constructor(parts: BrokerParts) {
    this.#parts = parts;
  }

  /** Records deleted or replaced since the last compression (BRK-7.3 `Compress-Percent`). */
  get deletedRecords(): number {
    return this.#deleted;
  }

  /** BRK-7.14: the objects due for refresh at the last check; undefined before the first. */
  get refreshMarks(): RefreshMarks | undefined {
    return this.#refreshMarks;
  }

  /**
   * REG-25, 27: counts the records that a collection replaced or deleted, and compresses if there are enough.
   */
  async collected({ updated, refreshed, deleted }: ApplyCounts): Promise<void> {
    this.#deleted += updated + refreshed + deleted;
    if (this.compressible) await this.compress();
  }

  /**
   * BRK-7.14: deletes the objects whose time to live has passed; returns their number.
   *
   * @param confirmed whether most objects may go at once although the clock has jumped: after a collection, and
   *   if the administrator says so
   */
  async clean(confirmed = false): Promise<number> {
    const { events, log, timetable } = this.#parts;
    const expired = await timetable.observe(
      'Cleaning',
      () => this.#expire(confirmed),
      (count) => `${count} expired objects deleted`,
    );
    if (expired > 0 && events.isEnabled('Cleaned')) log.info(`Cleaned: ${expired} expired objects`);
    return expired;
  }

  /**
   * Like {@link clean}. On a full disk expired objects stay until there is space; stored objects are served.
   */
  async cleanIfRoom(): Promise<void> {
    try {
      await this.clean();
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      const { log } = this.#parts;
      log.error(`Cleaning failed: ${messageOf(error)}; it is tried again when there is space`);
      whenRoom(this.#parts, () =>
        this.cleanIfRoom().catch((cause: unknown) => log.error({ err: cause }, 'Cleaning failed')),
      );
    }
  }

  async #expire(confirmed: boolean): Promise<number> {
    const { store, keeper, events, log, now } = this.#parts;
    events.write('Cleaner-On', `${store.count} objects`);
    const time = now();
    const hasPassed = this.#clockWatch.hasPassed(time, store.lastChange);
    const { count } = store;
    const due = await store.countExpired(time);
    const isMost = due >= MIN_MOST && due > count / 2;
    if (isMost && !confirmed && !hasPassed) {
      log.warn(
        `${due} of ${count} objects would expire at once, because the clock has jumped to ${new Date(time * 1000).toISOString()}: they are kept until a collection is complete, or #clean-broker says that the clock is right`,
      );
      return 0;
    }
    const expired = await store.expire(time);
    this.#deleted += expired;
    await keeper.settle();
    if (isMost) {
      await store.resetPoints();
      log.warn(
        `${expired} of ${count} objects have expired at once: the next collection requests everything`,
      );
    }
    if (expired > 0) events.write('Cleaned', `${expired} expired objects`);
    return expired;
  }

  /** BRK-7.14: counts the objects that are due for refresh. */
  async markForRefresh(): Promise<RefreshMarks> {
    const { closing, now, store, timetable } = this.#parts;
    this.#refreshMarks = await timetable.observe(
      'Refresh marks',
      () => markForRefresh(store, now(), closing),
      ({ due }) => `${due} objects are due for refresh`,
    );
    return this.#refreshMarks;
  }

  /** BRK-5.1 `#rem-object-oid`: deletes objects; returns the number of those that existed. */
  async remove(oids: readonly number[]): Promise<number> {
    const unique = [...new Set(oids)];
    let removed = 0;
    for (let i = 0; i < unique.length; i += BATCH_OBJECTS) {
      removed += await this.#removeSome(unique.slice(i, i + BATCH_OBJECTS));
    }
    await this.#parts.keeper.settle();
    return removed;
  }

  /**
   * BRK-5.1 `#rem-object-query`: deletes the objects that a query without flags matches. The limit of results
   * does not apply, but the lifetime does.
   *
   * @returns `complete` is false if the lifetime ended the search
   */
  async removeMatching(query: Query): Promise<{ readonly removed: number; readonly complete: boolean }> {
    const { store, indexer, settings, closing: signal, keeper } = this.#parts;
    if (query.kind === 'all') {
      const before = this.#deleted;
      for await (const page of store.all({ signal })) await this.#removeSome(page.map((entry) => entry.oid));
      await keeper.settle();
      return { removed: this.#deleted - before, complete: true };
    }
    await keeper.complete(signal);
    const hits = indexer.query(query, {
      ...indexFlags(DEFAULT_FLAGS),
      wantLines: false,
      ordered: false,
      lifetimeMs: settings.value.glimpseMaxLife * 1000,
      signal,
    });
    // All are found before the first is deleted, because deletions change the index that the query reads.
    const oids: number[] = [];
    for await (const { oid } of hits) oids.push(oid);
    const { complete } = await hits.outcome;
    return { removed: await this.remove(oids), complete };
  }

  /**
   * BRK-5.1 `#rem-dups`, REG-46: deletes all but the newest of several objects with one URL; returns their
   * number.
   */
  async removeDuplicates(): Promise<number> {
    const { store, keeper, closing: signal } = this.#parts;
    let removed = 0;
    for await (const page of store.all({ signal })) {
      for (let i = 0; i < page.length; i += BATCH_OBJECTS) {
        const some = page.slice(i, i + BATCH_OBJECTS);
        const candidates = await Promise.all(some.map((entry) => store.byUrl(entry.url)));
        const older = some.filter((entry, index) =>
          candidates[index]?.some((other) => supersedes(other, entry)),
        );
        removed += await this.#removeSome(older.map((entry) => entry.oid));
      }
    }
    await keeper.settle();
    return removed;
  }

  /**
   * BRK-5.1 `#add-object`: adds the objects of SOIF files, plain, wrapped or gzip.
   *
   * @param files names, relative to Broker-Directory
   * @throws StorageError when a file cannot be read; objects read before are added. UsageError when no file has
   *   an object.
   */
  async addFiles(files: readonly string[]): Promise<AddReport> {
    const { keeper, closing: signal, settings, store, events, debug } = this.#parts;
    const directory = settings.value.brokerDirectory;
    const observe = changeObserver(events, debug);
    let report: AddReport = { ...NO_COUNTS, faults: 0, reasons: [] };
    /** A sentence for each file without objects. */
    const empty: string[] = [];
    const addReasons = (faults: number, why: readonly string[]): void => {
      const reasons = [...report.reasons, ...why].slice(0, MAX_REASONS);
      report = { ...report, faults: report.faults + faults, reasons };
    };
    const apply = async (batch: readonly CollectedChange[]): Promise<void> => {
      const result = await store.apply(batch, undefined, observe);
      this.#deleted += result.updated;
      report = { ...addCounts(report, result), faults: report.faults, reasons: report.reasons };
      addReasons(0, result.reasons);
      await keeper.follow();
    };
    try {
      for (const name of files) {
        let batch: CollectedChange[] = [];
        let size = 0;
        const input = readInput(resolve(directory, name), { signal });
        let objects = 0;
        let faults = 0;
        const sentences: string[] = [];
        // The file may be private to another user: a fault names its rule and offset, without the text.
        const onWarning = ({ rule, offset }: { readonly rule: string; readonly offset: number }) => {
          faults += 1;
          if (sentences.length < MAX_REASONS) sentences.push(`breaks ${rule} at byte ${offset}`);
        };
        const large = { open: () => SpoolFile.open(directory) };
        for await (const item of readObjects(input, { onWarning, large })) {
          const bytes = exactBytes(withoutEmpty(item), onWarning);
          if (bytes === undefined) continue;
          objects += 1;
          if (!(bytes instanceof Uint8Array)) {
            await apply([...batch, { kind: 'update', object: item.object, bytes }]);
            batch = [];
            size = 0;
            continue;
          }
          // The reader's bytes are valid only until its next object.
          const copy = bytes.slice();
          const object = decodeSoif(copy, { maxObjectBytes: copy.length });
          batch.push({ kind: 'update', object, bytes: copy });
          size += copy.length;
          if (batch.length < BATCH_OBJECTS && size < BATCH_BYTES) continue;
          await apply(batch);
          batch = [];
          size = 0;
        }
        await apply(batch);
        if (objects === 0) {
          const [fault] = sentences;
          empty.push(`${name}: no SOIF objects in it${fault === undefined ? '' : ` (${fault})`}`);
          faults = Math.max(faults, 1);
        }
        addReasons(faults, objects === 0 ? empty.slice(-1) : sentences.map((what) => `${name}: ${what}`));
      }
    } finally {
      await keeper.settle();
    }
    if (empty.length === files.length) throw new UsageError(empty.slice(0, MAX_REASONS).join('; '));
    return report;
  }

  /** REG-27: whether enough records were deleted for a compression. */
  get compressible(): boolean {
    const { store, settings } = this.#parts;
    const all = this.#deleted + store.count;
    return this.#deleted >= MIN_DELETED && this.#deleted * 100 >= all * settings.value.compressPercent;
  }

  /**
   * BRK-5.1 `#compress-registry`, REG-26: rewrites the store's files without deleted records; returns their
   * number.
   */
  compress(): Promise<number> {
    const { store, events, debug, timetable } = this.#parts;
    const compress = async () => {
      const deleted = this.#deleted;
      events.write('Compressing-Registry', `${store.count} objects, ${deleted} deleted records`);
      debug(70, 1, `compressing: ${store.count} objects, ${deleted} deleted records`);
      await store.compress();
      this.#deleted -= deleted;
      return deleted;
    };
    const outcomeOf = (records: number) => `compressed, ${records} deleted records removed`;
    return timetable.observe('Registry compression', compress, outcomeOf);
  }

  async #removeSome(oids: readonly number[]): Promise<number> {
    if (oids.length === 0) return 0;
    const { store, events, keeper } = this.#parts;
    const entries = events.isEnabled('Delete') ? await store.entries.getMany(oids) : [];
    const removed = await store.remove(oids);
    for (const entry of entries) if (entry !== undefined) events.write('Delete', textOfUrl(entry.url));
    this.#deleted += removed;
    await keeper.follow();
    return removed;
  }
}

/** SOIF-3.2, BT-16: the stored bytes are those that are sent, so values of no bytes are not stored. */
function withoutEmpty(item: StreamObject): StreamObject {
  const { large, object } = item;
  const isEmitted = item.exact && !hasEmptyValue(large?.outline ?? object);
  return { ...item, exact: isEmitted };
}

/** Whether `other` is newer than `entry`, or has the same time and was added later. */
function supersedes(other: RegistryEntry, entry: RegistryEntry): boolean {
  if (other.oid === entry.oid) return false;
  if (other.updateTime !== entry.updateTime) return other.updateTime > entry.updateTime;
  return other.oid > entry.oid;
}

/**
 * Looks for space on the disk of a store, after a pause and then from time to time, and runs `work` once when
 * there is some. Its failures are its own to report.
 *
 * @returns ends the looking
 */
export function whenRoom(
  { store, closing }: Pick<BrokerParts, 'store' | 'closing'>,
  work: () => Promise<void> | void,
  pauseMs = LOOK_MS,
): () => void {
  const look = async (): Promise<void> => {
    if (closing.aborted) return;
    if (await store.hasRoom()) await work();
    else timer = setTimeout(() => void look(), LOOK_MS).unref();
  };
  let timer = setTimeout(() => void look(), pauseMs).unref();
  return () => clearTimeout(timer);
}
