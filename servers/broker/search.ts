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

/** What of the broker a search needs. */
export interface SearchContext {
  readonly store: BrokerStore;
  readonly indexer: Indexer;
  /** BRK-4.10: URL of an object's content summary. */
  readonly objectUrl: (oid: number) => string;
  /** BRK-4.11. */
  readonly homePage: string;
  /** BRK-7.3 `Max-Results`: most objects of one reply, whatever the query asks for. */
  readonly maxResults: number;
  /** BRK-8.14 `Glimpse-MaxLife`: most seconds a query may take. */
  readonly maxLife: number;
  /** BRK-3.2. */
  readonly opaqueMode: 'suppress' | 'show';
}

/** What a finished search amounts to. */
export interface SearchSummary {
  readonly objects: number;
  /** Matched lines sent. */
  readonly lines: number;
  /** False when the search ended before every object was looked at. */
  readonly complete: boolean;
  readonly reason?: 'lifetime' | 'limit' | 'aborted' | 'error';
}

/** Objects of one page of results at most; a page of results is what waits in memory for a slow reader. */
const MAX_PAGE = 64;

/** Bytes of objects read for one page at most (a single larger object is read alone). */
const PAGE_BYTES = 1024 * 1024;

/** Attributes that hold a description (SOIF's own, by name). */
const DESCRIPTION = 'Description';

/** BRK-3.2: whether this query wants its matched lines. */
export function wantsLines(flags: QueryFlags, opaqueMode: 'suppress' | 'show'): boolean {
  return flags.opaque === (opaqueMode === 'show');
}

/**
 * Answers a query as pages of result items in the order of BRK-4.3; returns what it amounts to.
 *
 * Pages come as the consumer asks for them: nothing is searched for a consumer that does not ask, and what a
 * slow one costs is one page. Never throws for the query's sake: an error of the query is the last item (`111`).
 */
export async function* search(
  query: Query,
  flags: QueryFlags,
  context: SearchContext,
  signal?: AbortSignal,
): AsyncGenerator<readonly ResultItem[], SearchSummary, void> {
  const lifetime = clampLifetime(flags.lifetime, context.maxLife);
  // BRK-3.5: an unknown #index flag is worth a notice, not a refusal.
  if (flags.unknown.length > 0) yield flags.unknown.map(REPLY.unknownFlag);

  const run = new SearchRun(flags, context, performance.now() + lifetime * 1000, signal);
  try {
    const pages = query.kind === 'all' ? run.everything() : run.matching(query, lifetime * 1000);
    for await (const page of pages) yield page;
  } catch (error) {
    if (signal?.aborted) return run.summary('aborted');
    // BRK-2.19, 4.18: the engine cannot do what was asked.
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

/** BRK-4.14: the error of an engine, which may word it as a whole `ERROR: ...` itself. */
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
    this.#wantLines = wantsLines(flags, context.opaqueMode);
    this.#attributes = distinctNames(flags.attributes);
    // Without matched lines a result is an object, and `maxresult` counts those (seed: "at most that many results").
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
    // The store gives what is not before a time, `#since` means after it.
    for await (const entries of this.context.store.all(since === undefined ? {} : { since: since + 1 })) {
      for (let at = 0; at < entries.length; at += MAX_PAGE) {
        if (this.#over()) return;
        yield* this.#render(entries.slice(at, at + MAX_PAGE).map((entry) => ({ entry, lines: [] })));
      }
    }
  }

  /** What the index finds. */
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
      // With #since some hits are dropped afterwards, so the index must not count objects for us.
      ...(flags.since === undefined && Number.isFinite(this.#maxObjects)
        ? { maxFiles: this.#maxObjects }
        : {}),
      ...(signal === undefined ? {} : { signal }),
    });
    let page: Hit[] = [];
    // The first hits go out at once; then pages grow, so that reading their entries costs little each.
    let pageSize = 1;
    for await (const hit of hits) {
      page.push(hit);
      if (page.length < pageSize) continue;
      yield* this.#renderHits(page);
      if (this.#over()) return;
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
    const wanted = found.slice(0, Math.max(0, this.#maxObjects - this.objects));
    const lines = new Map(wanted.map(({ entry, lines }) => [entry.oid, lines]));
    for (const group of groupByBytes(
      wanted.map(({ entry }) => entry),
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

  /** The objects' bytes, if any item needs more than the registry says. */
  #objectsOf(
    entries: readonly RegistryEntry[],
    lines: ReadonlyMap<number, readonly MatchedLine[]>,
  ): Promise<readonly (Uint8Array | undefined)[]> {
    const needed =
      this.flags.attributes.length > 0 ||
      (this.flags.desc && entries.some((e) => e.description !== '')) ||
      // BRK-1.10: what is not ASCII goes out in the bytes of the object.
      entries.some((e) => lines.get(e.oid)?.some((line) => !isAscii(line.text)));
    return needed ? this.context.store.objects(entries.map((entry) => entry.oid)) : Promise.resolve([]);
  }

  /** BRK-4.3: 120, 125, 126, 124, 127s in the order asked, 122s, 130. */
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
      // BRK-4.5: only objects that have one.
      if (description !== undefined && description.length > 0)
        items.push({ kind: 'description', value: description });
      for (const name of this.#attributes) {
        // BRK-4.6: the name as the client spelled it; what the object lacks is left out. BRK-2.18: URL is one.
        const value = object.get(name) ?? (name.toLowerCase() === 'url' ? Buffer.from(entry.url) : undefined);
        if (value !== undefined) items.push({ kind: 'attribute', name, value });
      }
    }
    // BRK-4.8.
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

  #over(): boolean {
    if (this.signal?.aborted) this.stopped = 'aborted';
    else if (this.objects >= this.#maxObjects) this.stopped ??= 'limit';
    else if (performance.now() >= this.deadline) this.stopped ??= 'lifetime';
    return this.stopped !== undefined;
  }
}

/** Each attribute once, in its first spelling (BRK-2.16): a large value asked for a thousand times would fill the memory. */
function distinctNames(names: readonly string[]): readonly string[] {
  const spellings = new Map<string, string>();
  for (const name of names) {
    const key = name.toLowerCase();
    if (!spellings.has(key)) spellings.set(key, name);
  }
  return [...spellings.values()];
}

/** BRK-8.11: 0 or nothing means no limit. */
function limit(value: number | undefined): number {
  return value === undefined || value === 0 ? Number.POSITIVE_INFINITY : value;
}
