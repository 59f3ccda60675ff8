import type { UnixSeconds } from '../../protocols/time.js';

/**
 * The lists of IDs in a generation. The keys of the first two are document IDs, the keys of the site lists are
 * server IDs.
 */
export type LinkKind =
  /** Documents that the document links to. */
  | 'refs'
  /** Documents that link to the document. */
  | 'hubs'
  /** Documents outside the server that its pages link to. */
  | 'siterefs'
  /** Documents outside the server that link to its pages. */
  | 'sitehubs';

/** A list of IDs. It is never empty, and its order is the same at every call. */
export interface LinkList {
  /** The number of IDs. Reading it takes constant time. */
  readonly total: number;
  /**
   * Returns at most `count` IDs, starting at the zero-based `start`; fewer or none at the end of the list. The
   * array may be a view of the reader's memory: do not write to it, and do not use it after the reader is
   * closed.
   */
  page(start: number, count: number): Uint32Array;
}

/** A record of `urldb`: a document. Unknown times and lengths are 0. */
export interface UrlRecord {
  /** u32. */
  readonly id: number;
  /** In canonical form. */
  readonly url: string;
  /** u32. */
  readonly serverId: number;
  /** The document's own scheme, e.g. `https`. R-38 excludes it from the server's identity. */
  readonly protocol: string;
  /** Path with query, beginning with `/`. */
  readonly uri: string;
  readonly time: UnixSeconds;
  readonly checkTime: UnixSeconds;
  /** Bytes. */
  readonly length: number;
}

/** A record of `srvdb`: a server. `protocol` is the scheme of its first document. */
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
  /** @param nameAndPort `host:port`; both are required */
  byName(nameAndPort: string): ServerRecord | undefined;
  byId(id: number): ServerRecord | undefined;
}

/** The size of a generation. */
export interface ReferencesCounts {
  readonly documents: number;
  readonly servers: number;
  /** The number of pairs in `refs`; `hubs` holds the same pairs reversed. */
  readonly links: number;
  /** The number of repeated pairs, which are dropped. */
  readonly repeated: number;
}

/**
 * One published generation of documents and links. It is immutable: later publications do not affect it. All
 * calls are synchronous and answer from memory or with one small read from the page cache.
 */
export interface References extends AsyncDisposable {
  readonly generation: number;
  /** A u32 above 0: equal numbers mean equal data, also in different directories. */
  readonly stamp: number;
  readonly counts: ReferencesCounts;
  /** Whether the generation has ranks, that is, `harvest pagerank` computed them. */
  readonly ranked: boolean;

  /** Returns the list of a document or server; undefined if it has no links or is unknown. */
  links(kind: LinkKind, id: number): LinkList | undefined;
  /** Whether the ID has a URL record or a record in `refs` or `hubs`. */
  knows(id: number): boolean;
  document(id: number): UrlRecord | undefined;
  /** @param canonicalUrl in canonical form */
  documentByUrl(canonicalUrl: string): UrlRecord | undefined;
  /** Returns the ID of {@link documentByUrl} alone. */
  idByUrl(canonicalUrl: string): number | undefined;
  server(id: number): ServerRecord | undefined;
  /** @param nameAndPort `host:port` */
  serverByName(nameAndPort: string): ServerRecord | undefined;
  /** Returns the IDs of the server's documents, ascending; undefined if it has no documents. */
  documentsOfServer(serverId: number): LinkList | undefined;
  /** Returns the document's PageRank; undefined if it was not computed. All ranks sum to 1. */
  rank(id: number): number | undefined;

  /** The same data through the interfaces of R-18. */
  readonly refdb: LinkStore;
  readonly hubsdb: LinkStore;
  readonly urldb: UrlStore;
  readonly srvdb: ServerStore;

  /** Closes the files and releases the memory. Later calls do nothing. */
  close(): Promise<void>;
}

/** A document to publish. */
export interface DocumentInput {
  /** u32. */
  readonly id: number;
  /** Absolute, in canonical form. */
  readonly url: string;
  readonly time?: UnixSeconds;
  readonly checkTime?: UnixSeconds;
  /** Bytes. */
  readonly length?: number;
  /** u32. By default servers are numbered from 1 in the order in which they are first seen. */
  readonly serverId?: number | undefined;
}
