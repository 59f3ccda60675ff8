import type { UnixSeconds } from '../../protocols/time.js';

/** Which lists of IDs a generation holds ready. Keys of the first two are documents, of the site lists servers. */
export type LinkKind =
  /** Documents that the document links to. */
  | 'refs'
  /** Documents that link to the document. */
  | 'hubs'
  /** Outside documents that the server's pages link to. */
  | 'siterefs'
  /** Outside documents that link to the server's pages. */
  | 'sitehubs';

/** One finished answer: never empty, its order the same at every call. */
export interface LinkList {
  /** How many IDs there are. Known without counting. */
  readonly total: number;
  /**
   * The IDs from `start` (0 is the first) on, at most `count`; fewer, or none, at the end. The array may be a view of the
   * reader's own memory: it must not be written to, nor used after the reader was closed.
   */
  page(start: number, count: number): Uint32Array;
}

/** What `urldb` yields of a document. Unknown times and lengths are 0. */
export interface UrlRecord {
  /** u32. */
  readonly id: number;
  /** In canonical form. */
  readonly url: string;
  /** u32. */
  readonly serverId: number;
  /** The document's own scheme, e.g. `https`: R-38 leaves it out of the server's identity. */
  readonly protocol: string;
  /** Path with query, beginning with `/`. */
  readonly uri: string;
  readonly time: UnixSeconds;
  readonly checkTime: UnixSeconds;
  /** Bytes. */
  readonly length: number;
}

/** What `srvdb` yields of a server. `protocol` is that of its first document. */
export interface ServerRecord {
  /** u32. */
  readonly id: number;
  readonly protocol: string;
  /** Host in canonical form, an IPv6 address in brackets. */
  readonly name: string;
  readonly port: number;
}

/** `refdb` or `hubsdb`. */
export interface LinkStore {
  /** In stored order. */
  duplicates(key: number): Iterable<number>;
}

/** `urldb`. */
export interface UrlStore {
  byUrl(canonicalUrl: string): UrlRecord | undefined;
  byId(id: number): UrlRecord | undefined;
  /** Ascending. */
  idsOfServer(serverId: number): Iterable<number>;
}

/** `srvdb`. */
export interface ServerStore {
  /** @param nameAndPort `host:port`, both always there */
  byName(nameAndPort: string): ServerRecord | undefined;
  byId(id: number): ServerRecord | undefined;
}

/** How much a generation holds. */
export interface ReferencesCounts {
  readonly documents: number;
  readonly servers: number;
  /** Pairs of `refs`, which are those of `hubs` turned round. */
  readonly links: number;
  /** Pairs that were given again and left out. */
  readonly repeated: number;
}

/**
 * One published generation of documents and links. It does not change, whatever is published meanwhile. All answers are
 * given on the spot: from memory, or by one small read of a file that the system has in its cache.
 */
export interface References extends AsyncDisposable {
  readonly generation: number;
  readonly counts: ReferencesCounts;
  /** Whether {@link rank} knows anything: `harvest pagerank` has run. */
  readonly ranked: boolean;

  /** The list of a document or server; undefined when it has no links, known or not. */
  links(kind: LinkKind, id: number): LinkList | undefined;
  /** there is a URL record, or a record in `refs` or `hubs`. */
  knows(id: number): boolean;
  document(id: number): UrlRecord | undefined;
  /** @param canonicalUrl R-41 */
  documentByUrl(canonicalUrl: string): UrlRecord | undefined;
  /** Only the ID; cheaper than {@link documentByUrl}. */
  idByUrl(canonicalUrl: string): number | undefined;
  server(id: number): ServerRecord | undefined;
  /** @param nameAndPort `host:port` */
  serverByName(nameAndPort: string): ServerRecord | undefined;
  /** The server's documents, ascending; undefined if it has none. */
  documentsOfServer(serverId: number): LinkList | undefined;
  /** The document's PageRank, all of them sum to 1; undefined when it was not computed. */
  rank(id: number): number | undefined;

  /** The same data behind the interfaces of R-18. */
  readonly refdb: LinkStore;
  readonly hubsdb: LinkStore;
  readonly urldb: UrlStore;
  readonly srvdb: ServerStore;

  /** Lets go of files and memory. Later calls do nothing. */
  close(): Promise<void>;
}

/** A document as it is given to be published. */
export interface DocumentInput {
  /** u32. */
  readonly id: number;
  /** Absolute, in canonical form. */
  readonly url: string;
  readonly time?: UnixSeconds;
  readonly checkTime?: UnixSeconds;
  /** Bytes. */
  readonly length?: number;
  /** u32. Left out, servers are numbered from 1 in the order in which they are met. */
  readonly serverId?: number;
}
