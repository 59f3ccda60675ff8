import type { UnixSeconds } from '../../protocols/time.js';

/** One retrieval. */
export interface FetchRequest {
  /** A canonical URL. */
  readonly url: string;
  /** What is known from last time: makes the request conditional (G-106); an unchanged document answers 304. */
  readonly headers?: {
    readonly etag?: string | undefined;
    readonly lastModified?: UnixSeconds | undefined;
  };
  /** Bytes of the decoded body that are kept (G-86); default 10 MiB. */
  readonly maxBytes?: number | undefined;
  /** Milliseconds without a byte after which the retrieval is given up (G-85); default 120 000. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** In place of the fetcher's own, where the protocol has such a thing (CRAWL-13.5). */
  readonly userAgent?: string | undefined;
  /** Do not answer from the disk cache (G-98); what comes is put there all the same. Default false. */
  readonly reload?: boolean | undefined;
  /**
   * G-174: refuse addresses of private networks and of this machine, looked at when the name is resolved. For requests
   * that follow a redirect from a public host. Default false.
   */
  readonly publicOnly?: boolean | undefined;
}

/** What came back, whatever the scheme. */
export interface FetchResult {
  readonly url: string;
  /**
   * HTTP status. Other schemes use its numbers: 200, 304 unchanged, 401 login refused, 403 or 404 not to be had, 503 not
   * now; what an FTP or news server said is in `headers` as `ftp-reply`, `nntp-reply`.
   */
  readonly status: number;
  /** Names in lower case; repeated headers joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** Media type in lower case without parameters; {@link DIRECTORY_TYPE} for a directory. */
  readonly contentType?: string;
  /** In lower case, as the server says. */
  readonly charset?: string;
  /** 0 = unknown. */
  readonly lastModified: UnixSeconds;
  /** '' = none. */
  readonly etag: string;
  /** Decoded; its buffer belongs to it alone and may be transferred. */
  readonly body: Uint8Array;
  /** The document is longer than `body`. */
  readonly truncated: boolean;
  /** Where a redirect points, as canonical URL. Redirects are not followed: limits and rules are the frontier's. */
  readonly location?: string;
  /** Read from this machine's files, by a `file:` URL or a Local-Mapping (G-71). */
  readonly local: boolean;
  /** Answered from the disk cache (G-98); the times are those of the look-up. */
  readonly cached?: boolean;
  /** Names in a directory, sorted; those of directories end in `/`. Only with {@link DIRECTORY_TYPE}. */
  readonly entries?: readonly string[];
  /** Canonical URLs that a listing other than a directory's leads to: Gopher menus, newsgroups, lists of groups. */
  readonly links?: readonly string[];
  /** Milliseconds since 1970. */
  readonly beginTime: number;
  readonly endTime: number;
  /** Address of the server that answered; absent for files and behind a proxy. */
  readonly remoteAddress?: string;
}

/** Content type of a directory listing. */
export const DIRECTORY_TYPE = 'inode/directory';

/** G-85: a read that brings nothing for so long is given up. */
export const DEFAULT_TIMEOUT_MS = 120_000;
/** G-86. */
export const DEFAULT_MAX_BYTES = 10 * 1024 * 1024;

/** Retrieves documents of one scheme or of several. */
export interface Fetcher extends AsyncDisposable {
  /**
   * @throws ConnectionError when the network fails, the server does not answer in time or breaks its protocol
   * @throws UsageError for a scheme that is not supported; RefusedError for an address that `publicOnly` forbids
   * @throws the signal's reason when the signal is aborted
   */
  fetch(request: FetchRequest): Promise<FetchResult>;
  /** Gives up what is under way and closes all connections. */
  close(): Promise<void>;
}
