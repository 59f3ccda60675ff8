// The requests of a References Server as methods; the client and the pool inherit them.
import { ConnectionError, ProtocolError, UsageError } from '../../protocols/errors.js';
import {
  CODES,
  codeBySymbol,
  codeOfKind,
  HEADERS,
  type LinkKind,
  type LinkReply,
  linkRequestMessage,
  MAX_U32,
  parseLinkReply,
  parseUrlDescription,
  type SstpHeader,
  type SstpMessage,
  sentUrl,
  type UrlDescription,
} from '../../protocols/sstp/index.js';
import {
  ABORT_OPTIONS,
  type Check,
  callback,
  checkArgument,
  checkOptions,
  filledText,
  listOf,
  oneOf,
  optional,
  type Shape,
  whole,
} from '../connection/arguments.js';
import type { AbortOptions } from '../connection/index.js';

/** A document (in the site calls a server), and the requested part of the result. */
export interface LinkQuery extends AbortOptions {
  /** 1..4294967295. Has priority over {@link url}. */
  readonly id?: number;
  /** URL of the document; in the site calls any URL of the site, or `HOST[:PORT]`. */
  readonly url?: string;
  /** Position of the first requested result, from 0. Default 0. */
  readonly start?: number | undefined;
  /** Default: as many as the server sends in one reply; 0 requests only the total. */
  readonly count?: number | undefined;
  /**
   * Requests the number of the server's data: that of an earlier reply, or 0. The reply has it if the server
   * knows this extension. Default: not requested.
   */
  readonly generation?: number;
}

/** A {@link LinkQuery} that reads a result to its end. */
export interface PagesQuery extends Omit<LinkQuery, 'count' | 'generation'> {
  /** IDs of one request. Default 1000. */
  readonly pageSize?: number;
  /**
   * Called when the data changed between two pages: the pages so far are void, and the next one is the first
   * again. Default: a ConnectionError. A server without `HEADER_GENERATION` does not tell.
   */
  readonly onRestart?: () => void;
}

const number = optional(whole(0, MAX_U32));

const LINK_QUERY: Shape<LinkQuery> = {
  ...ABORT_OPTIONS,
  id: number,
  url: optional(filledText),
  start: number,
  count: number,
  generation: number,
};

const PAGES_QUERY: Shape<PagesQuery> = {
  ...ABORT_OPTIONS,
  id: number,
  url: optional(filledText),
  start: number,
  pageSize: optional(whole(1, MAX_U32)),
  onRestart: optional(callback),
};

const LINK_KIND = oneOf('references', 'referers', 'site-references', 'site-referers' satisfies LinkKind);

const isHeader: Check = (value, name) =>
  Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string')
    ? undefined
    : `${name} must be a name and a value, both strings`;

const DEFAULT_PAGE_SIZE = 1000;

/** Times that a result begins again before the reading fails. */
const MAX_RESTARTS = 10;

/**
 * The requests of a References Server, over one connection or a pool. Every call rejects with PeerError
 * if the server refuses (its `status` is the code, S-42), ConnectionError if it cannot be reached, breaks the
 * connection or is silent for too long, ProtocolError if it does not speak SSTP, UsageError for wrong
 * arguments, or the signal's reason.
 */
export abstract class ReferencesCalls implements AsyncDisposable {
  /** Sends one request without a body; resolves with its reply, whatever its code. */
  protected abstract exchange(
    message: Omit<SstpMessage, 'body'>,
    signal: AbortSignal | undefined,
  ): Promise<SstpMessage>;

  abstract close(): Promise<void>;

  /** Documents that this document links to. */
  references(query: LinkQuery): Promise<LinkReply> {
    return this.links('references', query);
  }

  /** Documents that link to this document. */
  referers(query: LinkQuery): Promise<LinkReply> {
    return this.links('referers', query);
  }

  /** Outside documents that the site's pages link to. */
  siteReferences(query: LinkQuery): Promise<LinkReply> {
    return this.links('site-references', query);
  }

  /** Outside documents that link to the site's pages. */
  siteReferers(query: LinkQuery): Promise<LinkReply> {
    return this.links('site-referers', query);
  }

  /** One page of links. An empty result is not an error, in whichever form the server sends it (S-41). */
  async links(kind: LinkKind, query: LinkQuery): Promise<LinkReply> {
    checkArgument('the kind of links', kind, LINK_KIND);
    checkOptions('links', query, LINK_QUERY);
    const { id, url, start, count, generation, signal } = query;
    if (id === undefined && url === undefined)
      throw new UsageError('links: a query needs an id or a url (R-21)');
    const message = linkRequestMessage({
      kind,
      id,
      url,
      start,
      count,
      generation,
    });
    const reply = parseLinkReply(await this.exchange(message, signal), codeOfKind(kind));
    if (count !== undefined && reply.ids.length > count)
      throw new ProtocolError(`${reply.ids.length} IDs where ${count} were requested`, {
        protocol: 'sstp',
        rule: 'R-31',
        offset: 0,
      });
    return reply;
  }

  /** The description of a document; undefined if the server does not know the URL. */
  async urlByName(url: string, options: AbortOptions = {}): Promise<UrlDescription | undefined> {
    checkArgument('the URL', url, filledText);
    checkOptions('urlByName', options, ABORT_OPTIONS);
    const { signal } = options;
    const headers: SstpHeader[] = [[HEADERS.url.name, sentUrl(url)]];
    return parseUrlDescription(await this.exchange({ code: CODES.urlByName.number, headers }, signal));
  }

  /**
   * Any request by a published name of its code: `REQ_GET_URLBYNAME` and `REQ_GET_URL_BYNAME` are the same
   * (P-22). Resolves with the reply, whatever its code.
   */
  async request(
    symbol: string,
    headers: readonly SstpHeader[],
    options: AbortOptions = {},
  ): Promise<SstpMessage> {
    checkArgument('the name of the code', symbol, filledText);
    checkArgument('the headers', headers, listOf(isHeader));
    checkOptions('request', options, ABORT_OPTIONS);
    const { signal } = options;
    const entry = codeBySymbol(symbol);
    if (entry === undefined) throw new UsageError(`no SSTP code is named ${symbol}`);
    return this.exchange({ code: entry.number, headers }, signal);
  }

  /**
   * The whole result, page by page. Each page starts at start + returned, because a server may return fewer
   * than requested. Yields at least one page, which has the total. All pages are of the same data (see
   * {@link PagesQuery.onRestart}).
   */
  pages(kind: LinkKind, query: PagesQuery): AsyncGenerator<LinkReply, void, undefined> {
    checkArgument('the kind of links', kind, LINK_KIND);
    checkOptions('pages', query, PAGES_QUERY);
    return this.#pages(kind, query);
  }

  async *#pages(kind: LinkKind, query: PagesQuery): AsyncGenerator<LinkReply, void, undefined> {
    const { pageSize = DEFAULT_PAGE_SIZE, start: first = 0, onRestart, ...rest } = query;
    let generation: number | undefined;
    let restarts = 0;
    for (let start = first; ; ) {
      const page = await this.links(kind, { ...rest, start, count: pageSize, generation: generation ?? 0 });
      generation ??= page.generation;
      if (page.generation !== generation) {
        if (onRestart === undefined || ++restarts > MAX_RESTARTS)
          throw new ConnectionError('the links changed while they were read');
        onRestart();
        generation = undefined;
        start = first;
        continue;
      }
      yield page;
      query.signal?.throwIfAborted();
      start += page.ids.length;
      if (page.ids.length === 0 || start >= page.found) return;
    }
  }

  /** The IDs of the whole result at once, begun again when the data change between two pages. */
  async allIds(kind: LinkKind, query: Omit<PagesQuery, 'onRestart'>): Promise<Uint32Array> {
    let pages: Uint32Array[] = [];
    const onRestart = () => {
      pages = [];
    };
    for await (const { ids } of this.pages(kind, { ...query, onRestart })) pages.push(ids);
    const all = new Uint32Array(pages.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const ids of pages) {
      all.set(ids, at);
      at += ids.length;
    }
    return all;
  }

  /**
   * The IDs of the whole result, in the server's order. Rejects with ConnectionError if the data change
   * meanwhile.
   */
  ids(kind: LinkKind, query: PagesQuery): AsyncGenerator<number, void, undefined> {
    return this.#ids(this.pages(kind, query), query.signal);
  }

  async *#ids(
    pages: AsyncIterable<LinkReply>,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<number, void, undefined> {
    for await (const page of pages) {
      for (const id of page.ids) {
        // The rest of a page that was received before an abort is not delivered.
        signal?.throwIfAborted();
        yield id;
      }
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
