// Answers a query as pages of result items (BRK-4.3).
import {
  clampLifetime,
  errorItem,
  fatalItem,
  type Query,
  type QueryFlags,
  REPLY,
  type ResultItem,
} from '../../protocols/broker/index.js';
import { PeerError } from '../../protocols/errors.js';
import { decodeSoif } from '../../protocols/soif/index.js';
import type { BrokerStore, RegistryEntry } from '../../storage/index.js';
import type { Hit, Indexer, MatchedLine } from '../../storage/indexers/index.js';
import { isAscii, lineBytes } from './line-bytes.js';
import { groupByBytes } from './object-groups.js';

/** Context of {@link search}. */
export interface SearchContext {
  readonly store: BrokerStore;
  readonly indexer: Indexer;
  /** BRK-4.10: URL of an object's content summary. */
  readonly objectUrl: (oid: number) => string;
  /** BRK-4.11. */
  readonly homePage: string;
  /** BRK-7.3 `Max-Results`: largest number of objects in one reply, whatever the query requests. */
  readonly maxResults: number;
  /** BRK-8.14 `Glimpse-MaxLife`: seconds that a query may take. */
  readonly maxLife: number;
  /** BRK-3.2. */
  readonly opaqueMode: 'suppress' | 'show';
}

/** Summary of a finished search. */
export interface SearchSummary {
  readonly objects: number;
  /** Matched lines sent. */
  readonly lines: number;
  /** False if the search ended before it had examined every object. */
  readonly complete: boolean;
  readonly reason?: 'lifetime' | 'limit' | 'aborted' | 'error';
}

/** Largest number of objects in one page of results. One page is held in memory for a slow reader. */
const MAX_PAGE = 64;

/** Bytes of objects that are read for one page; a larger object is read alone. */
const PAGE_BYTES = 1024 * 1024;

/** Name of the attribute with the description. */
const DESCRIPTION = 'Description';

/** BRK-3.2: whether this query requests its matched lines. */
function requestsLines(flags: QueryFlags, opaqueMode: 'suppress' | 'show'): boolean {
  return flags.opaque === (opaqueMode === 'show');
}

/**
 * Yields the pages of result items of a query in the order of BRK-4.3; returns a summary.
 *
 * Each page is searched for when the consumer requests it, so that a slow consumer occupies the memory of one page. An error in the
 * query is not thrown; it is the last item (`111`).
 */
export async function* search(
  query: Query,
  flags: QueryFlags,
  context: SearchContext,
  signal?: AbortSignal,
): AsyncGenerator<readonly ResultItem[], SearchSummary, void> {
  const lifetime = clampLifetime(flags.lifetime, context.maxLife);
  // BRK-3.5: an unknown #index flag gets a notice, and the query is answered.
  if (flags.unknown.length > 0) yield flags.unknown.map(REPLY.unknownFlag);

  const run = new SearchRun(flags, context, performance.now() + lifetime * 1000, signal);
  try {
    const pages = query.kind === 'all' ? run.everything() : run.matching(query, lifetime * 1000);
    for await (const page of pages) yield page;
  } catch (error) {
    if (signal?.aborted) return run.summary('aborted');
    // BRK-2.19, 4.18: the engine does not support the query.
    if (!(error instanceof PeerError)) throw error;
    yield [errorText(error.message)];
    return run.summary('error');
  }
  if (run.stopped === 'aborted') return run.summary('aborted');
  const closing = run.warnings.map(errorItem);
  if (run.stopped === 'lifetime') closing.push(REPLY.lifetimeReached(lifetime));
  else if (run.objects === 0) closing.push(REPLY.nothingMatched());
  if (closing.length > 0) yield closing;
  return run.summary(run.stopped);
}

/** BRK-4.14: returns the item for an error of the engine, whose text may already begin with `ERROR: `. */
function errorText(text: string): ResultItem {
  return fatalItem(text.replace(/^(?:111 - )?ERROR: /, ''));
}

class SearchRun {
  objects = 0;
  lines = 0;
  stopped: 'lifetime' | 'limit' | 'aborted' | undefined;
  warnings: readonly string[] = [];
  readonly #maxObjects: number;
  readonly #wantLines: boolean;
  readonly #attributes: readonly string[];

  constructor(
    readonly flags: QueryFlags,
    readonly context: SearchContext,
    /** On the clock of `performance.now()`. */
    readonly deadline: number,
    readonly signal: AbortSignal | undefined,
  ) {
    this.#wantLines = requestsLines(flags, context.opaqueMode);
    this.#attributes = distinctNames(flags.attributes);
    // Without matched lines a result is an object, and `maxresult` counts objects ("at most that many results").
    const results = this.#wantLines ? undefined : flags.maxResults;
    this.#maxObjects = Math.min(limit(context.maxResults), limit(flags.maxFiles), limit(results));
  }

  summary(reason: SearchSummary['reason']): SearchSummary {
    const counts = { objects: this.objects, lines: this.lines, complete: reason === undefined };
    return reason === undefined ? counts : { ...counts, reason };
  }

  /** BRK-2.11 `#allb`: every object, by identifier. */
  async *everything(): AsyncGenerator<readonly ResultItem[], void, void> {
    const { since } = this.flags;
    // The store's `since` includes the second itself, `#since` does not.
    for await (const entries of this.context.store.all(since === undefined ? {} : { since: since + 1 })) {
      for (let at = 0; at < entries.length; at += MAX_PAGE) {
        if (this.#isOver()) return;
        yield* this.#render(entries.slice(at, at + MAX_PAGE).map((entry) => ({ entry, lines: [] })));
      }
    }
  }

  /** Yields the objects that the index finds. */
  async *matching(
    expression: Exclude<Query, { readonly kind: 'all' }>,
    lifetimeMs: number,
  ): AsyncGenerator<readonly ResultItem[], void, void> {
    const { flags, signal } = this;
    const hits = this.context.indexer.query(expression, {
      ignoreCase: flags.ignoreCase,
      matchWord: flags.matchWord,
      errors: flags.errors,
      wantLines: this.#wantLines,
      lifetimeMs,
      ...(this.#wantLines && flags.maxResults !== undefined ? { maxResults: flags.maxResults } : {}),
      ...(flags.maxLines === undefined ? {} : { maxLines: flags.maxLines }),
      // With #since some hits are dropped afterwards, so that the index must not limit their number.
      ...(flags.since === undefined && Number.isFinite(this.#maxObjects)
        ? { maxFiles: this.#maxObjects }
        : {}),
      ...(signal === undefined ? {} : { signal }),
    });
    let page: Hit[] = [];
    // The first hit is sent immediately. Later pages are larger, because reading entries in larger batches costs less.
    let pageSize = 1;
    for await (const hit of hits) {
      page.push(hit);
      if (page.length < pageSize) continue;
      yield* this.#renderHits(page);
      if (this.#isOver()) return;
      page = [];
      pageSize = Math.min(MAX_PAGE, pageSize * 4);
    }
    yield* this.#renderHits(page);
    const outcome = await hits.outcome;
    this.warnings = outcome.warnings;
    this.stopped ??= outcome.complete ? undefined : outcome.reason;
  }

  async *#renderHits(hits: readonly Hit[]): AsyncGenerator<readonly ResultItem[], void, void> {
    if (hits.length === 0) return;
    const entries = await this.context.store.entries(hits.map((hit) => hit.oid));
    const found: { entry: RegistryEntry; lines: readonly MatchedLine[] }[] = [];
    hits.forEach((hit, i) => {
      const entry = entries[i];
      // The store may have lost the object since it was indexed.
      if (entry === undefined) return;
      // `#since`: only objects updated after that time.
      if (this.flags.since !== undefined && entry.updateTime <= this.flags.since) return;
      found.push({ entry, lines: hit.lines });
    });
    yield* this.#render(found);
  }

  async *#render(
    found: readonly { readonly entry: RegistryEntry; readonly lines: readonly MatchedLine[] }[],
  ): AsyncGenerator<readonly ResultItem[], void, void> {
    const shown = found.slice(0, Math.max(0, this.#maxObjects - this.objects));
    const lines = new Map(shown.map(({ entry, lines }) => [entry.oid, lines]));
    for (const group of groupByBytes(
      shown.map(({ entry }) => entry),
      PAGE_BYTES,
    )) {
      const objects = await this.#objectsOf(group, lines);
      const items: ResultItem[] = [];
      group.forEach((entry, i) => {
        this.#renderObject(entry, lines.get(entry.oid) ?? [], objects[i], items);
      });
      if (items.length > 0) yield items;
    }
    if (this.objects >= this.#maxObjects) this.stopped ??= 'limit';
  }

  /** Returns the objects' bytes, if an item needs more than the Registry contains. */
  #objectsOf(
    entries: readonly RegistryEntry[],
    lines: ReadonlyMap<number, readonly MatchedLine[]>,
  ): Promise<readonly (Uint8Array | undefined)[]> {
    const needed =
      this.flags.attributes.length > 0 ||
      (this.flags.desc && entries.some((e) => e.description !== '')) ||
      // BRK-1.10: a line that is not ASCII is sent in the bytes of the object.
      entries.some((e) => lines.get(e.oid)?.some((line) => !isAscii(line.text)));
    return needed ? this.context.store.objects(entries.map((entry) => entry.oid)) : Promise.resolve([]);
  }

  /** BRK-4.3: 120, 125, 126, 124, 127s in the requested order, 122s, 130. */
  #renderObject(
    entry: RegistryEntry,
    lines: readonly MatchedLine[],
    bytes: Uint8Array | undefined,
    items: ResultItem[],
  ): void {
    const { flags, context } = this;
    items.push(
      { kind: 'match', url: entry.url },
      { kind: 'object-url', url: context.objectUrl(entry.oid) },
      { kind: 'home-page', url: context.homePage },
    );
    if (bytes !== undefined) {
      const object = decodeSoif(bytes, { maxObjectBytes: bytes.length });
      const description = flags.desc ? object.get(DESCRIPTION) : undefined;
      // BRK-4.5: only for objects that have one.
      if (description !== undefined && description.length > 0)
        items.push({ kind: 'description', value: description });
      for (const name of this.#attributes) {
        // BRK-4.6: the name as the client spelled it; missing attributes are left out. BRK-2.18: URL is an attribute.
        const value = object.get(name) ?? (name.toLowerCase() === 'url' ? Buffer.from(entry.url) : undefined);
        if (value !== undefined) items.push({ kind: 'attribute', name, value });
      }
    }
    // BRK-4.8
    for (const line of lines) {
      const item = { kind: 'opaque', text: `Matched line: ${line.attribute}# ${line.text}` } as const;
      if (bytes === undefined || isAscii(line.text)) items.push(item);
      else {
        const head = Buffer.from(`Matched line: ${line.attribute}# `);
        items.push({ ...item, bytes: Buffer.concat([head, lineBytes(line.text, bytes)]) });
      }
    }
    items.push({ kind: 'object-end' });
    this.objects += 1;
    this.lines += lines.length;
  }

  #isOver(): boolean {
    if (this.signal?.aborted) this.stopped = 'aborted';
    else if (this.objects >= this.#maxObjects) this.stopped ??= 'limit';
    else if (performance.now() >= this.deadline) this.stopped ??= 'lifetime';
    return this.stopped !== undefined;
  }
}

/**
 * Returns each attribute once, in its first spelling (BRK-2.16). Otherwise a large value that the query names a thousand times would
 * fill the memory.
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
