// Selects and reads the objects of a bulk transfer.
import { sortedIndexOf } from '../../../protocols/binary-search.js';
import { errorSentence, indexFlags, type Query, type QueryFlags } from '../../../protocols/broker/index.js';
import type { ChangeKind } from '../../../protocols/bulk/index.js';
import type { BrokerConfig } from '../../../protocols/config/index.js';
import { PeerError, StorageError } from '../../../protocols/errors.js';
import {
  decodeSoif,
  encodeSoif,
  escapeBlanks,
  hasExpired,
  readOutline,
  SoifObject,
} from '../../../protocols/soif/index.js';
import type { UnixSeconds } from '../../../protocols/time.js';
import type { BrokerStore, RegistryEntry, Removal, StoredParts } from '../../../storage/index.js';
import type { Indexer } from '../../../storage/indexers/index.js';
import { groupByBytes } from '../query/object-groups.js';
import type { RequestContext } from '../query/request-context.js';
import { DigestCache } from './digest.js';
import { type BulkPage, ReadyObjects } from './ready-objects.js';

/** The parts of a Broker that {@link BulkTransfers} works with. */
export interface BulkParts {
  readonly store: BrokerStore;
  readonly indexer: Indexer;
  readonly keeper: { complete(signal: AbortSignal): Promise<void> };
  readonly settings: { readonly value: BrokerConfig };
  readonly now: () => UnixSeconds;
  /** Called when the index or the store fails before the first object. */
  readonly onFailure: (error: StorageError) => void;
}

/** A transfer that is ready. Its objects are read on demand. */
export interface BulkTransfer {
  /** The latest second whose changes are all in the transfer: the time for the next request. */
  readonly time: UnixSeconds;
  /** The objects of one group, in pages of a megabyte at most (BT-21); a larger object is sent in several. */
  pages(group: ChangeKind): AsyncGenerator<BulkPage, void, undefined>;
}

/** Why a transfer is refused: a sentence for the peer, and the number of BP-23. */
export interface BulkRefusal {
  readonly refused: string;
  readonly error: 'unsupported' | 'busy' | 'lifetime' | 'internal';
}

/** Entries of a query that are read together; they are in memory while the client reads their objects. */
const PAGE_ENTRIES = 128;
/**
 * BT-21: the attributes of a refresh, if the object has them, in this order. Of the bookkeeping attributes
 * (BOOKKEEPING_NAMES) Type and File-Size are missing: they belong to the content, which has not changed.
 */
const REFRESH_NAMES = [
  'Gatherer-Name',
  'Gatherer-Host',
  'Gatherer-Version',
  'Update-Time',
  'Refresh-Rate',
  'Time-to-Live',
  'Last-Modification-Time',
  'MD5',
] as const;
/** Objects with more bytes are stored in parts of this size, and sent in pieces. */
const PIECE_BYTES = 1024 * 1024;
const MIB = 1 << 20;
const LF = 0x0a;
const NEWLINE = Uint8Array.of(LF);

/** The bulk transfers of a Broker, and the digests by which two Brokers compare themselves. */
export class BulkTransfers implements AsyncDisposable {
  /** Digests of the stored objects. */
  readonly digests: DigestCache;
  readonly #parts: BulkParts;
  /** The objects of a complete transfer, as far as they are kept. */
  readonly #ready: ReadyObjects;

  constructor(parts: BulkParts) {
    const { now, settings, store } = parts;
    this.#parts = parts;
    this.digests = new DigestCache(store, now);
    this.#ready = new ReadyObjects({
      store,
      directory: settings.value.brokerDirectory,
      maxBytes: () => settings.value.bulkCacheSize * MIB,
      now,
    });
  }

  /**
   * Prepares a bulk transfer: fixes its moment and finds the objects of a query (BT-4 to BT-6), or returns why
   * it is refused. A query takes one of the slots of `Max-Queries` until its objects are found.
   *
   * Its moment is a second of the store's clock that has not ended yet. A change in the rest of that second, or
   * while the transfer runs, is sent now or in the next transfer, whose `#SINCE` is the second before.
   */
  async prepare(
    query: Query,
    flags: QueryFlags,
    request: RequestContext,
  ): Promise<BulkTransfer | BulkRefusal> {
    const moment = await this.#parts.store.moment();
    const matching =
      query.kind === 'all' ? undefined : await findMatching(query, flags, this.#parts, request);
    if (matching !== undefined && 'refused' in matching) return matching;
    const since = flags.since === undefined ? undefined : this.#parts.store.sentSince(flags.since, moment);
    return new Transfer({ ...this.#parts, ready: this.#ready, request, moment, since, matching });
  }

  /** Closes the file of a complete transfer. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#ready[Symbol.asyncDispose]();
  }
}

/** What a transfer works with. */
interface TransferContext extends Pick<BulkParts, 'store' | 'now'> {
  readonly ready: ReadyObjects;
  readonly request: RequestContext;
  readonly moment: UnixSeconds;
  readonly since: UnixSeconds | undefined;
  /** OIDs that the query matches, ascending; undefined for all. */
  readonly matching: Uint32Array | undefined;
}

class Transfer implements BulkTransfer {
  readonly #context: TransferContext;
  readonly time: UnixSeconds;

  constructor(context: TransferContext) {
    this.#context = context;
    this.time = Math.max(0, context.moment - 1);
  }

  pages(group: ChangeKind): AsyncGenerator<BulkPage, void, undefined> {
    switch (group) {
      case 'delete':
        return this.#deleted();
      case 'refresh':
        return this.#refreshed();
      case 'update':
        return this.#updated();
    }
  }

  /**
   * BT-5, BT-21. All deletions are sent, because a query cannot be matched against deleted objects. A peer that
   * requests everything, `#SINCE 0`, gets none (BT-22): it has nothing to delete, and the clients of 1998 that
   * send this take the objects of every group for new ones (BT-3, BT-20).
   */
  async *#deleted(): AsyncGenerator<BulkPage, void, undefined> {
    const { moment, request, since, store } = this.#context;
    if (since === undefined || since === 0) return;
    const { signal, pages: share } = request;
    for await (const removals of store.removalsSince({ after: since, upTo: moment, signal, share })) {
      yield toPage(removals.map(encodeDeleted));
    }
  }

  async *#refreshed(): AsyncGenerator<BulkPage, void, undefined> {
    const { since = 0 } = this.#context;
    // An empty peer has no objects to refresh.
    if (since === 0) return;
    for await (const entries of this.#entriesSince(since)) {
      const refreshed = entries.filter((entry) => this.#isRefreshed(entry, since));
      for await (const found of this.#read(refreshed)) {
        const objects = 'pieces' in found ? [(await readOutline(found)).head] : found.map(bookkeepingOf);
        yield toPage(objects.map(encodeRefreshed));
      }
    }
  }

  async *#updated(): AsyncGenerator<BulkPage, void, undefined> {
    const { matching, ready, request, since = 0 } = this.#context;
    if (since === 0 && matching === undefined) {
      yield* ready.pages(() => this.#all(), request);
      return;
    }
    for await (const entries of since === 0 ? this.#matchingEntries() : this.#entriesSince(since)) {
      const updated = entries.filter((entry) => !this.#isRefreshed(entry, since));
      for await (const found of this.#read(updated)) yield* this.#pagesOf(found);
    }
  }

  async *#all(): AsyncGenerator<BulkPage, void, undefined> {
    const { now, request, store } = this.#context;
    const { signal, pages: share } = request;
    for await (const found of store.validParts(now(), { signal, share })) yield* this.#pagesOf(found);
  }

  /** Yields objects, or a large one in pieces. While it waits for the memory of a piece it holds none. */
  async *#pagesOf(found: readonly Uint8Array[] | StoredParts): AsyncGenerator<BulkPage, void, undefined> {
    if (!('pieces' in found)) {
      yield toPage(found);
      return;
    }
    const { signal, pages: share } = this.#context.request;
    const pieces = found.pieces()[Symbol.asyncIterator]();
    for (let at = 0; at < found.length; ) {
      signal.throwIfAborted();
      using _held = await share.hold(Math.min(PIECE_BYTES, found.length - at), signal);
      const { value: bytes } = await share.read(() => pieces.next());
      if (bytes === undefined) return;
      at += bytes.length;
      if (at < found.length) yield { bytes, objects: 0 };
      else yield toPage([bytes]);
    }
  }

  async *#entriesSince(after: UnixSeconds): AsyncGenerator<RegistryEntry[], void, undefined> {
    const { matching, moment, request, store } = this.#context;
    const { signal, pages: share } = request;
    for await (const entries of store.copiesSince({ after, upTo: moment, signal, share })) {
      yield entries.filter(
        (entry) =>
          this.#isValid(entry) && (matching === undefined || sortedIndexOf(matching, entry.oid) >= 0),
      );
    }
  }

  async *#matchingEntries(): AsyncGenerator<RegistryEntry[], void, undefined> {
    const { matching = new Uint32Array(), request, store } = this.#context;
    for (let at = 0; at < matching.length; at += PAGE_ENTRIES) {
      request.signal.throwIfAborted();
      const entries = await store.entries.getMany([...matching.subarray(at, at + PAGE_ENTRIES)]);
      yield entries.filter((entry) => entry !== undefined).filter((entry) => this.#isValid(entry));
    }
  }

  /** Reads objects in groups that fit into the memory of the reply, and large ones one by one. */
  async *#read(
    entries: readonly RegistryEntry[],
  ): AsyncGenerator<readonly Uint8Array[] | StoredParts, void, undefined> {
    const { request, store } = this.#context;
    const { signal, pages: share } = request;
    for (const group of groupByBytes(entries, share.pageBytes)) {
      signal.throwIfAborted();
      const [first] = group;
      if (first !== undefined && first.length > PIECE_BYTES) {
        await using large = await store.large(first.oid);
        if (large !== undefined) {
          yield large;
          continue;
        }
      }
      using _held = await share.hold(
        group.reduce((sum, { length }) => sum + length, 0),
        signal,
      );
      const objects = await share.read(() => store.objects(group.map((entry) => entry.oid)));
      yield objects.filter((bytes) => bytes !== undefined);
    }
  }

  /**
   * BT-21: whether the peer already has the content, by our clock and by the object's times. When the time to
   * live that came with the content has passed, the peer has dropped the object and needs all of it.
   */
  #isRefreshed(entry: RegistryEntry, since: UnixSeconds): boolean {
    if (entry.contentChanged > since || entry.contentTime > since) return false;
    if (entry.contentTime === entry.updateTime) return false;
    return !hasExpired({ updateTime: entry.contentTime, timeToLive: entry.timeToLive }, this.#context.now());
  }

  /** REG-48: expired objects are not relayed, even before the cleaning. */
  #isValid(entry: RegistryEntry): boolean {
    return !hasExpired(entry, this.#context.now());
  }
}

/**
 * Finds the OIDs of the objects that a query matches, ascending. All are found before the first object is sent,
 * so that a query that cannot be answered completely is refused (BT-10). The broker's own limit of results does
 * not apply. The peer's limit does (BT-8), and selects among all that match, so that a later `#SINCE` continues
 * with the same objects.
 */
async function findMatching(
  query: Exclude<Query, { readonly kind: 'all' }>,
  flags: QueryFlags,
  { indexer, keeper, onFailure, settings }: BulkParts,
  { client, slot, signal, waitMs }: RequestContext,
): Promise<Uint32Array | BulkRefusal> {
  using _slot = slot;
  const hasEntered = await slot.enter(waitMs);
  signal.throwIfAborted();
  const maxLife = settings.value.glimpseMaxLife;
  if (!hasEntered) return { refused: 'Broker is too busy, try again later', error: 'busy' };
  // Without matched lines a result is an object. BRK-8.11: 0 means no limit.
  const max = Math.min(
    flags.maxResults || Number.POSITIVE_INFINITY,
    flags.maxFiles || Number.POSITIVE_INFINITY,
  );
  try {
    // The index must contain all changes before the moment.
    await keeper.complete(signal);
    const hits = indexer.query(query, {
      ...indexFlags(flags),
      maxFiles: Number.isFinite(max) ? max : undefined,
      wantLines: false,
      // A limit is for the best ones.
      ordered: Number.isFinite(max),
      lifetimeMs: maxLife * 1000,
      signal,
      client,
      pause: slot.pause,
    });
    const found = new Oids();
    for await (const { oid } of hits) {
      if (found.length < max) found.add(oid);
    }
    const { complete, reason } = await hits.outcome;
    signal.throwIfAborted();
    if (complete || (reason === 'limit' && found.length >= max)) return found.sorted();
    if (reason === 'cost') return { refused: 'The query is too expensive', error: 'lifetime' };
    return { refused: `The query took more than ${maxLife} seconds`, error: 'lifetime' };
  } catch (error) {
    if (error instanceof StorageError) {
      onFailure(error);
      return { refused: `The Broker cannot answer now: ${error.message}`, error: 'internal' };
    }
    // BRK-2.19: the engine does not support the query.
    if (!(error instanceof PeerError)) throw error;
    return { refused: errorSentence(error.message), error: 'unsupported' };
  }
}

/** A growing list of object identifiers, four bytes each. */
class Oids {
  #oids = new Uint32Array(1024);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(oid: number): void {
    if (this.#length === this.#oids.length) {
      const larger = new Uint32Array(this.#length * 2);
      larger.set(this.#oids);
      this.#oids = larger;
    }
    this.#oids[this.#length++] = oid;
  }

  sorted(): Uint32Array {
    return this.#oids.subarray(0, this.#length).sort();
  }
}

function toPage(objects: readonly Uint8Array[]): BulkPage {
  const pieces: Uint8Array[] = [];
  for (const bytes of objects) {
    pieces.push(bytes);
    if (bytes.at(-1) !== LF) pieces.push(NEWLINE);
  }
  return { bytes: Buffer.concat(pieces), objects: objects.length };
}

/** BT-21: encodes the attributes by which a peer finds its own copy and records its deletion. */
function encodeDeleted(removal: Removal): Uint8Array {
  const { url, gathererName, gathererHost, gathererVersion, updateTime, timeToLive, md5 } = removal;
  const attributes: [string, string][] = [
    ['Gatherer-Name', gathererName],
    ['Gatherer-Host', gathererHost],
    ['Gatherer-Version', gathererVersion],
    ['Update-Time', String(updateTime)],
    ['Time-to-Live', String(timeToLive)],
  ];
  if (md5 !== '') attributes.push(['MD5', md5]);
  return encodeSoif(SoifObject.of('FILE', escapeBlanks(url), attributes));
}

function bookkeepingOf(bytes: Uint8Array): SoifObject {
  return decodeSoif(bytes, { maxObjectBytes: Math.max(bytes.length, 1) });
}

/**
 * BT-21: encodes the object's own bookkeeping values, so that the peer's copy becomes equal to it byte by byte.
 */
function encodeRefreshed(object: SoifObject): Uint8Array {
  const attributes = REFRESH_NAMES.flatMap((name) => {
    const value = object.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return encodeSoif(SoifObject.of(object.type, object.url, attributes));
}
