// Answers a query as pages of result items (BRK-4.3).
import {
  clampLifetime,
  errorItem,
  fatalItem,
  indexFlags,
  MISSING_WORDS,
  type Query,
  type QueryFlags,
  REPLY,
  type ResultItem,
} from '../../../protocols/broker/index.js';
import type { BrokerConfig } from '../../../protocols/config/index.js';
import { PeerError, StorageError } from '../../../protocols/errors.js';
import {
  attributeOf,
  type ByteSource,
  bytesOfUrl,
  decodeSoif,
  type OutlineAttribute,
  rangeOf,
  readOutline,
} from '../../../protocols/soif/index.js';
import type { BrokerStore, RegistryEntry } from '../../../storage/index.js';
import {
  type Hit,
  type Indexer,
  type MatchedLine,
  type PlainWord,
  plainWordsOf,
} from '../../../storage/indexers/index.js';
import { isAscii, largeLineBytes, lineBytes } from './line-bytes.js';
import { groupByBytes } from './object-groups.js';
import type { PageItem } from './page-items.js';
import type { PublishedUrls } from './published-urls.js';
import type { RequestContext } from './request-context.js';

/** The parts of a Broker that answer queries. */
export interface SearchParts {
  readonly store: BrokerStore;
  readonly indexer: Indexer;
  readonly urls: Pick<PublishedUrls, 'objectUrl' | 'homePage'>;
  readonly settings: { readonly value: Pick<BrokerConfig, 'maxResults' | 'glimpseMaxLife' | 'opaqueMode'> };
  /** Why the index lacks objects of the store; undefined if it has them all. */
  readonly keeper: { readonly missing: string | undefined };
  /** Called when the index or the store fails, with the error that the client gets as `111`. */
  readonly onFailure: (error: StorageError) => void;
}

/** Summary of a finished search. */
export interface SearchSummary {
  readonly objects: number;
  /** Matched lines sent. */
  readonly lines: number;
  /** False if the search ended before it had examined every object. */
  readonly complete: boolean;
  readonly reason?: 'lifetime' | 'limit' | 'cost' | 'aborted' | 'error' | 'busy';
}

/** Largest number of objects in one page of results. One page is held in memory for a slow reader. */
const MAX_PAGE = 64;

/**
 * Items, and approximate bytes of them, that are made at a time, a third of a millisecond of work: then the other
 * clients have their turn.
 */
const PIECE_ITEMS = 96;
const PIECE_BYTES = 16 * 1024;
/** Reading an entry is as much work as making so many items. */
const ITEMS_PER_ENTRY = 2;
/** A line that is not ASCII is looked for in its object: as much work as this part of its bytes. */
const SEARCHED_SHARE = 16;

/** Objects with more bytes are not read into memory. */
const LARGE_BYTES = 1024 * 1024;
const NOTHING = new Uint8Array(0);

/** Name of the attribute with the description. */
const DESCRIPTION = 'Description';

/**
 * Yields the pages of result items of a query in the order of BRK-4.3; returns a summary.
 *
 * Each page is searched for when the consumer requests it, so that a slow consumer occupies the memory of one
 * page. An error in the query is not thrown; it is the last item (`111`).
 */
export async function* search(
  query: Query,
  flags: QueryFlags,
  parts: SearchParts,
  request: RequestContext,
): AsyncGenerator<readonly PageItem[], SearchSummary, void> {
  const lifetime = clampLifetime(flags.lifetime, parts.settings.value.glimpseMaxLife);
  // BRK-3.5: an unknown #index flag gets a notice, and the query is answered.
  if (flags.unknown.length > 0) yield flags.unknown.map(REPLY.unknownFlag);

  const run = new SearchRun(query, flags, parts, request, performance.now() + lifetime * 1000);
  try {
    const pages = query.kind === 'all' ? run.everything() : run.matching(query, lifetime * 1000);
    for await (const page of pages) yield page;
  } catch (error) {
    if (request.signal.aborted) return run.summary('aborted');
    if (error instanceof StorageError) {
      // The end of a reply has no mark (BRK-4.12): without this item the client would take what it has for
      // everything.
      parts.onFailure(error);
      yield [REPLY.unusable(error.message)];
      return run.summary('error');
    }
    // BRK-2.19, 4.18: the engine does not support the query.
    if (!(error instanceof PeerError)) throw error;
    yield [fatalItem(error.message)];
    return run.summary('error');
  }
  if (run.stopped === 'aborted') return run.summary('aborted');
  const closing = run.warnings.map(errorItem);
  // Fewer results than the store has objects are not sent in silence.
  const missing = query.kind === 'all' ? undefined : parts.keeper.missing;
  if (missing !== undefined) closing.push(errorItem(missing));
  // BRK-4.13: an error that does not end the results; the objects found until then are sent (BRK-4.15).
  if (run.stopped === 'cost') closing.push(REPLY.costReached());
  if (run.stopped === 'lifetime') closing.push(REPLY.lifetimeReached(lifetime));
  else if (run.objects === 0) closing.push(REPLY.nothingMatched());
  if (closing.length > 0) yield closing;
  return run.summary(run.stopped);
}

class SearchRun {
  readonly #parts: SearchParts;
  /** On the clock of `performance.now()`. */
  readonly #deadline: number;
  objects = 0;
  lines = 0;
  stopped: 'lifetime' | 'limit' | 'cost' | 'aborted' | undefined;
  warnings: readonly string[] = [];
  readonly #maxObjects: number;
  readonly #wantLines: boolean;
  readonly #homePage: string;
  readonly #attributes: readonly string[];
  /** BRK-2.27: the words of which an object may lack some, and those that objects lack by their OIDs. */
  readonly #words: readonly PlainWord[];
  readonly #missing = new Map<number, Uint8Array>();

  constructor(
    query: Query,
    readonly flags: QueryFlags,
    parts: SearchParts,
    readonly request: RequestContext,
    deadline: number,
  ) {
    this.#parts = parts;
    this.#deadline = deadline;

    const { maxResults, opaqueMode } = parts.settings.value;
    this.#homePage = parts.urls.homePage;
    // BRK-3.2: whether this query requests its matched lines.
    this.#wantLines = flags.opaque === (opaqueMode === 'show');
    this.#attributes = distinctNames(flags.attributes);
    const asksForMissing = flags.mostWords === true && this.#attributes.some(isMissingWords);
    this.#words = asksForMissing && query.kind !== 'all' ? (plainWordsOf(query)?.words ?? []) : [];
    // BRK-8.11: without matched lines, which `#allb` never has, a result is an object, and `maxresult` counts
    // objects ("at most that many results").
    const results = this.#wantLines && query.kind !== 'all' ? undefined : flags.maxResults;
    this.#maxObjects = Math.min(limit(maxResults), limit(flags.maxFiles), limit(results));
  }

  summary(reason: SearchSummary['reason']): SearchSummary {
    const counts = { objects: this.objects, lines: this.lines, complete: reason === undefined };
    return reason === undefined ? counts : { ...counts, reason };
  }

  /** BRK-2.11 `#allb`: every object, by identifier. */
  async *everything(): AsyncGenerator<readonly PageItem[], void, void> {
    const { since } = this.flags;
    // The store's `since` includes the second itself, `#since` does not.
    const after = since === undefined ? {} : { since: since + 1 };
    for await (const entries of this.#parts.store.all({ ...after, pageRows: MAX_PAGE })) {
      this.request.charge(ITEMS_PER_ENTRY * entries.length, 0);
      if (this.#isOver()) return;
      yield* this.#render(entries.map((entry) => ({ entry, lines: [] })));
      // The next entries are read in a turn of the client, too.
      await this.request.turn();
    }
  }

  /** Yields the objects that the index finds. */
  async *matching(
    expression: Exclude<Query, { readonly kind: 'all' }>,
    lifetimeMs: number,
  ): AsyncGenerator<readonly PageItem[], void, void> {
    const { flags, request } = this;
    const hits = this.#parts.indexer.query(expression, {
      ...indexFlags(flags),
      wantLines: this.#wantLines,
      lifetimeMs,
      maxResults: this.#wantLines ? flags.maxResults : undefined,
      // With #since some hits are dropped afterwards, so that the index must not limit their number.
      maxFiles: flags.since === undefined && Number.isFinite(this.#maxObjects) ? this.#maxObjects : undefined,
      signal: request.signal,
      client: request.client,
      pause: request.slot.pause,
    });
    let page: Hit[] = [];
    let characters = 0;
    // Hits that arrive together are one page, since reading their entries together costs less; none waits for a
    // later one. Of an engine that does not say what has arrived, the first hit is sent immediately.
    let pageSize = 1;
    const isComplete = () => (hits.arrived === undefined ? page.length >= pageSize : hits.arrived === 0);
    for await (const hit of hits) {
      page.push(hit);
      for (const line of hit.lines) characters += line.text.length;
      const isFull = page.length >= MAX_PAGE || characters >= request.pages.pageBytes;
      if (!isFull && !isComplete()) continue;
      request.needsSlot = hits.isDelivered !== true;
      yield* this.#renderHits(page);
      if (this.#isOver()) return;
      page = [];
      characters = 0;
      pageSize = Math.min(MAX_PAGE, pageSize * 4);
    }
    yield* this.#renderHits(page);
    const outcome = await hits.outcome;
    this.warnings = outcome.warnings;
    this.stopped ??= outcome.complete ? undefined : outcome.reason;
  }

  async *#renderHits(hits: readonly Hit[]): AsyncGenerator<readonly PageItem[], void, void> {
    if (hits.length === 0) return;
    const entries = await this.#parts.store.entries.getMany(hits.map((hit) => hit.oid));
    const found: { entry: RegistryEntry; lines: readonly MatchedLine[] }[] = [];
    hits.forEach((hit, i) => {
      const entry = entries[i];
      // The store may have lost the object since it was indexed.
      if (entry === undefined) return;
      // `#since`: only objects updated after that time.
      if (this.flags.since !== undefined && entry.updateTime <= this.flags.since) return;
      found.push({ entry, lines: hit.lines });
      this.#noteMissing(hit);
    });
    yield* this.#render(found);
    this.#missing.clear();
  }

  #noteMissing({ oid, lacks = 0 }: Hit): void {
    const missing = this.#words.filter((_, i) => (lacks & (1 << i)) !== 0);
    if (missing.length > 0) this.#missing.set(oid, Buffer.from(missing.map(({ text }) => text).join(' ')));
  }

  /** BRK-2.27: what an object itself has by this name is not sent. */
  #isMade(name: string): boolean {
    return this.flags.mostWords === true && isMissingWords(name);
  }

  /** The value of an attribute that is not in the object itself. */
  #madeValue(name: string, { oid, url }: RegistryEntry): Uint8Array | undefined {
    if (name.toLowerCase() === 'url') return bytesOfUrl(url);
    return isMissingWords(name) ? this.#missing.get(oid) : undefined;
  }

  async *#render(
    found: readonly { readonly entry: RegistryEntry; readonly lines: readonly MatchedLine[] }[],
  ): AsyncGenerator<readonly PageItem[], void, void> {
    const shown = found.slice(0, Math.max(0, this.#maxObjects - this.objects));
    const lines = new Map(shown.map(({ entry, lines }) => [entry.oid, lines]));
    for (const group of groupByBytes(
      shown.map(({ entry }) => entry),
      this.request.pages.pageBytes,
    )) {
      const [first] = group;
      if (first !== undefined && first.length > LARGE_BYTES && this.#needsObjects(group, lines)) {
        // One part of it is in memory while the client reads.
        using _part = await this.request.hold(LARGE_BYTES);
        await using large = await this.#parts.store.large(first.oid);
        if (large !== undefined) {
          const items = await this.#renderLarge(first, lines.get(first.oid) ?? [], large);
          yield* this.#inPieces(items.map((item) => ({ item, cost: 'text' in item ? item.text.length : 0 })));
          continue;
        }
      }
      using _held = await this.#hold(group, lines);
      const objects = await this.#objectsOf(group, lines);
      yield* this.#inPieces(this.#itemsOf(group, lines, objects));
    }
    if (this.objects >= this.#maxObjects) this.stopped ??= 'limit';
  }

  /** Divides items into small pages. Each is made in a turn of the client, which pays for it. */
  async *#inPieces(
    items: Iterable<{ readonly item: PageItem; readonly cost: number }>,
  ): AsyncGenerator<readonly PageItem[], void, void> {
    let piece: PageItem[] = [];
    let bytes = 0;
    await this.request.turn();
    for (const { item, cost } of items) {
      piece.push(item);
      bytes += cost;
      if (piece.length < PIECE_ITEMS && bytes < PIECE_BYTES) continue;
      this.request.charge(piece.length, bytes);
      yield piece;
      piece = [];
      bytes = 0;
      await this.request.turn();
    }
    if (piece.length === 0) return;
    this.request.charge(piece.length, bytes);
    yield piece;
  }

  /** An object that is not read into memory: the reply reads its values when it sends them. */
  async #renderLarge(
    entry: RegistryEntry,
    lines: readonly MatchedLine[],
    large: ByteSource,
  ): Promise<PageItem[]> {
    const { flags, request } = this;
    const read = async () => {
      const outline = await readOutline(large, { whole: true });
      const texts = lines.map(({ text }) => text).filter((text) => !isAscii(text));
      return {
        outline,
        encoded: texts.length === 0 ? undefined : await largeLineBytes(texts, large, () => request.turn()),
      };
    };
    const { outline, encoded } = await request.pages.read(read);
    const items: PageItem[] = this.#head(entry);
    const rangeOfValue = ({ start, end }: OutlineAttribute) => rangeOf(large, start, end);
    const description = flags.desc ? attributeOf(outline, DESCRIPTION) : undefined;
    if (description !== undefined && description.end > description.start)
      items.push({ kind: 'description', value: NOTHING, large: rangeOfValue(description) });
    for (const name of this.#attributes) {
      const found = this.#isMade(name) ? undefined : attributeOf(outline, name);
      const made = found === undefined ? this.#madeValue(name, entry) : undefined;
      if (found !== undefined)
        items.push({ kind: 'attribute', name, value: NOTHING, large: rangeOfValue(found) });
      else if (made !== undefined) items.push({ kind: 'attribute', name, value: made });
    }
    for (const line of lines) items.push(opaqueItem(line, encoded?.get(line.text)));
    this.#end(lines, items);
    return items;
  }

  /** Returns the objects' bytes, if an item needs more than the Registry contains. */
  async #objectsOf(
    entries: readonly RegistryEntry[],
    lines: ReadonlyMap<number, readonly MatchedLine[]>,
  ): Promise<readonly (Uint8Array | undefined)[]> {
    if (!this.#needsObjects(entries, lines)) return [];
    await this.request.turn();
    this.request.charge(
      entries.length,
      entries.reduce((sum, { length }) => sum + length, 0),
    );
    return this.request.pages.read(() => this.#parts.store.objects(entries.map((entry) => entry.oid)));
  }

  /** Waits for the memory of the objects, which are in the page while its consumer has it. */
  async #hold(
    entries: readonly RegistryEntry[],
    lines: ReadonlyMap<number, readonly MatchedLine[]>,
  ): Promise<Disposable | undefined> {
    if (!this.#needsObjects(entries, lines)) return undefined;
    const bytes = entries.reduce((sum, { length }) => sum + length, 0);
    return this.request.hold(bytes);
  }

  #needsObjects(
    entries: readonly RegistryEntry[],
    lines: ReadonlyMap<number, readonly MatchedLine[]>,
  ): boolean {
    return (
      this.flags.attributes.length > 0 ||
      (this.flags.desc && entries.some((e) => e.description !== '')) ||
      // BRK-1.10: a line that is not ASCII is sent in the bytes of the object.
      entries.some((e) => lines.get(e.oid)?.some((line) => !isAscii(line.text)))
    );
  }

  /** BRK-4.3: 120, 125, 126, 124, 127s in the requested order, 122s, 130; each with the bytes that it costs. */
  *#itemsOf(
    entries: readonly RegistryEntry[],
    linesOf: ReadonlyMap<number, readonly MatchedLine[]>,
    objects: readonly (Uint8Array | undefined)[],
  ): Generator<{ readonly item: ResultItem; readonly cost: number }, void, undefined> {
    for (const [i, entry] of entries.entries()) {
      const bytes = objects[i];
      const lines = linesOf.get(entry.oid) ?? [];
      for (const item of this.#head(entry)) yield { item, cost: entry.url.length };
      if (bytes !== undefined) yield* this.#attributesOf(entry, bytes);
      for (const line of lines) {
        const isEncoded = bytes === undefined || isAscii(line.text);
        const searched = isEncoded ? 0 : Math.ceil(bytes.length / SEARCHED_SHARE);
        const item = opaqueItem(line, isEncoded ? undefined : lineBytes(line.text, bytes));
        yield { item, cost: line.text.length + searched };
      }
      const end: ResultItem[] = [];
      this.#end(lines, end);
      for (const item of end) yield { item, cost: 0 };
    }
  }

  *#attributesOf(
    entry: RegistryEntry,
    bytes: Uint8Array,
  ): Generator<{ readonly item: ResultItem; readonly cost: number }, void, undefined> {
    const object = decodeSoif(bytes, { maxObjectBytes: bytes.length });
    const description = this.flags.desc ? object.get(DESCRIPTION) : undefined;
    // BRK-4.5: only for objects that have one.
    if (description !== undefined && description.length > 0)
      yield { item: { kind: 'description', value: description }, cost: description.length };
    for (const name of this.#attributes) {
      // BRK-4.6: the name as the client spelled it; missing attributes are left out. BRK-2.18: URL is an
      // attribute.
      const value = (this.#isMade(name) ? undefined : object.get(name)) ?? this.#madeValue(name, entry);
      if (value !== undefined) yield { item: { kind: 'attribute', name, value }, cost: value.length };
    }
  }

  #head({ url, oid }: RegistryEntry): ResultItem[] {
    return [
      { kind: 'match', url },
      { kind: 'object-url', url: this.#parts.urls.objectUrl(oid) },
      { kind: 'home-page', url: this.#homePage },
    ];
  }

  #end(lines: readonly MatchedLine[], items: PageItem[]): void {
    items.push({ kind: 'object-end' });
    this.objects += 1;
    this.lines += lines.length;
  }

  #isOver(): boolean {
    if (this.request.signal.aborted) this.stopped = 'aborted';
    else if (this.objects >= this.#maxObjects) this.stopped ??= 'limit';
    else if (performance.now() >= this.#deadline) this.stopped ??= 'lifetime';
    return this.stopped !== undefined;
  }
}

function isMissingWords(name: string): boolean {
  return name.toLowerCase() === MISSING_WORDS.toLowerCase();
}

/** BRK-4.8; `bytes` are those of a line that is not ASCII. */
function opaqueItem(line: MatchedLine, bytes: Uint8Array | undefined): ResultItem {
  const item = { kind: 'opaque', text: `Matched line: ${line.attribute}# ${line.text}` } as const;
  if (bytes === undefined) return item;
  return { ...item, bytes: Buffer.concat([Buffer.from(`Matched line: ${line.attribute}# `), bytes]) };
}

/**
 * Returns each attribute once, in its first spelling (BRK-2.16). Otherwise a large value that the query names a
 * thousand times would fill the memory.
 */
function distinctNames(names: readonly string[]): readonly string[] {
  const spellings = new Map<string, string>();
  for (const name of names) {
    const key = name.toLowerCase();
    if (!spellings.has(key)) spellings.set(key, name);
  }
  return [...spellings.values()];
}

/** BRK-8.11: 0 means no limit. */
function limit(value: number | undefined): number {
  return value === undefined || value === 0 ? Number.POSITIVE_INFINITY : value;
}
