// The interface that all fetchers share.
import type { UnixSeconds } from '../../protocols/time.js';
import type { UrlForm } from '../../protocols/urls/index.js';
import type { BodyBytes, BodyFile } from './stored-body.js';
import type { KeepWire, WireResponse } from './wire-tap.js';

/** One retrieval. */
export interface FetchRequest {
  /** A canonical URL. */
  readonly url: string;
  /**
   * `user:password`, escaped as in URLs (G-81): sent without a challenge, in place of a login in {@link url}. The
   * result has the URL without it, and is not cached.
   */
  readonly login?: string | undefined;
  /**
   * Validators of the previous retrieval. They make the request conditional (G-106): an unchanged document
   * answers 304.
   */
  readonly headers?: {
    readonly etag?: string | undefined;
    readonly lastModified?: UnixSeconds | undefined;
  };
  /** Bytes of the decoded body that are kept (G-86); default 10 MiB. */
  readonly maxBytes?: number | undefined;
  /** Milliseconds without a byte after which the retrieval is given up (G-85); default 120 000. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds from a request to the last byte. Default, and maximum: the fetcher's own limit. */
  readonly maxTransferMs?: number | undefined;
  /**
   * Whether a body that is not complete at that time is returned as far as it arrived; else the retrieval fails.
   * Default false.
   */
  readonly keepLate?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Further headers of an HTTP request, by names in lower case, e.g. `cookie`. A response to a request with
   * cookies is not cached.
   */
  readonly extraHeaders?: Readonly<Record<string, string>> | undefined;
  /**
   * The fields of a form, encoded as `application/x-www-form-urlencoded`: an HTTP request is a POST of them.
   * Its response is not cached.
   */
  readonly post?: string | undefined;
  /**
   * Proxy of an HTTP request (`parseProxy`): `direct` for none; empty or absent: the fetcher's own. A program
   * uses few different ones.
   */
  readonly proxy?: string | undefined;
  /** The login of {@link proxy}, `user:password`. */
  readonly proxyLogin?: string | undefined;
  /** Whether an HTTP result has the bytes of the messages ({@link FetchResult.wire}). Default: it has none. */
  readonly keepWire?: KeepWire | undefined;
  /**
   * With {@link keepWire}: where a body goes that is too long for memory, and its own limit; `maxBytes` then is that of
   * the result's `body` alone, which may be the beginning of it. The caller closes the result (`closeBodies`).
   * Default: memory, and `maxBytes`.
   */
  readonly spool?: BodySpool | undefined;
  /** Of {@link FetchResult.location}. Default: canonical. */
  readonly urlForm?: UrlForm | undefined;
  /** Overrides the fetcher's own, in protocols that have one (CRAWL-13.5). */
  readonly userAgent?: string | undefined;
  /** Bypasses the disk cache (G-98); the result is stored in it nevertheless. Default false. */
  readonly reload?: boolean | undefined;
  /**
   * Whether a body that cannot be decoded is returned as it was sent ({@link FetchResult.undecoded}); else the
   * retrieval fails. Default false.
   */
  readonly keepUndecoded?: boolean | undefined;
  /**
   * Whether a body that ends too soon is returned as far as it arrived ({@link LenientReading.problem}); else the
   * retrieval fails. Default false.
   */
  readonly keepIncomplete?: boolean | undefined;
  /**
   * Refuses addresses of private networks and of this machine after the name is resolved (G-174). For requests
   * that follow a redirect from a public host. Default false.
   */
  readonly publicOnly?: boolean | undefined;
}

/** Takes bodies that are too long for memory. */
export interface BodySpool {
  /** Bytes of a body that are kept, as it was sent; Infinity: all. */
  readonly maxBytes: number;
  /** Opens a file for a body. @throws KitError if there is no room */
  readonly open: () => Promise<BodyFile>;
}

/** About an HTTP response that breaks the rules, or a body that is not complete. */
export interface LenientReading {
  /**
   * What the message does not do by the rules (`Deviation` of `protocols/http`); `content-coding`: the body does not
   * have the coding that the header names, or bytes follow it.
   */
  readonly deviations: readonly string[];
  /** Status line and header as they were sent, to the empty line; empty for HTTP/0.9 and other protocols. */
  readonly head: Uint8Array;
  /** Why the body is not complete, as far as that can be known. */
  readonly problem?: string | undefined;
  /** What kind of {@link problem} it is; default `disconnect`. */
  readonly cut?: Exclude<Truncation, 'length'> | undefined;
}

/**
 * What ended a body before its end: a limit of length or time, the end of the connection, or bytes that do not show
 * where the rest is. The values of WARC-Truncated (WARC 1.1).
 */
export type Truncation = 'length' | 'time' | 'disconnect' | 'unspecified';

/** HTTP messages as they went over the wire. */
export interface WireMessages extends WireResponse {
  /** Request line and header, to the empty line. */
  readonly request: Uint8Array;
  /** Without its transfer coding, with its content coding. */
  readonly body: BodyBytes;
  /** The body is longer, or its transfer coding is longer than what was kept of it. */
  readonly truncated: boolean;
}

/** The result of a retrieval, whatever the scheme. */
export interface FetchResult {
  readonly url: string;
  /**
   * HTTP status. Other schemes use its numbers: 200, 304 unchanged, 401 login refused, 403 or 404 not
   * available, 503 not available now. The reply of an FTP or news server is in `headers` as `ftp-reply`,
   * `nntp-reply`; why a local file is not read as `file-refusal`.
   */
  readonly status: number;
  /** Names in lower case; repeated headers joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** The values of the headers Set-Cookie; absent without any. */
  readonly setCookies?: readonly string[];
  /** Media type in lower case without parameters; {@link DIRECTORY_TYPE} for a directory. */
  readonly contentType?: string | undefined;
  /** In lower case, as the server names it. */
  readonly charset?: string | undefined;
  /** 0 if unknown. */
  readonly lastModified: UnixSeconds;
  /** '' if the server sends none. */
  readonly etag: string;
  /** Decoded. Its buffer is not shared and may be transferred. */
  readonly body: Uint8Array;
  /**
   * Why the body could not be decoded; it is then as it was sent. Only with {@link FetchRequest.keepUndecoded}.
   */
  readonly undecoded?: string;
  /** Present if the HTTP response breaks the rules, or the body is not complete. */
  readonly lenient?: LenientReading | undefined;
  /**
   * The HTTP messages as they went over the wire; only with {@link FetchRequest.keepWire}, and not from the
   * disk cache.
   */
  readonly wire?: WireMessages | undefined;
  /** The document is longer than `body`. */
  readonly truncated: boolean;
  /** Why the rest of a truncated body did not arrive in time; only with {@link FetchRequest.keepLate}. */
  readonly late?: string | undefined;
  /**
   * The canonical target URL of a redirect, with a login only if the server wrote one. Redirects are not followed:
   * the frontier decides about them.
   */
  readonly location?: string | undefined;
  /** The request had a login, so the answer may differ from that of others. */
  readonly personal?: boolean | undefined;
  /** Read from this machine's files, by a `file:` URL or a Local-Mapping (G-71). */
  readonly local: boolean;
  /** Number of the user who owns a local file (E-76). */
  readonly ownerId?: number | undefined;
  /** When a local file was created (E-76); 0 if unknown. */
  readonly creationTime?: UnixSeconds | undefined;
  /** Answered from the disk cache (G-98); the times are those of the cache lookup. */
  readonly cached?: boolean;
  /** Names in a directory, sorted; those of directories end in `/`. Only with {@link DIRECTORY_TYPE}. */
  readonly entries?: readonly string[] | undefined;
  /** Hidden entries of a local directory that are left out. */
  readonly hiddenEntries?: number | undefined;
  /** Canonical URLs in a Gopher menu, a newsgroup or a list of groups. */
  readonly links?: readonly string[] | undefined;
  /** Milliseconds since 1970. */
  readonly beginTime: number;
  readonly endTime: number;
  /** IP address of the server; absent for files and if a proxy was used. */
  readonly remoteAddress?: string | undefined;
}

/** What a fetcher knows of a document; the rest has the value of a plain one. */
export type Answer = Pick<FetchResult, 'status'> & Partial<FetchResult>;

/** Returns the result of a retrieval that ends now. @param beginTime milliseconds since 1970 */
export function resultOf(url: string, beginTime: number, answer: Answer): FetchResult {
  return {
    url,
    headers: {},
    lastModified: 0,
    etag: '',
    body: new Uint8Array(0),
    truncated: false,
    local: false,
    beginTime,
    ...answer,
    endTime: Date.now(),
  };
}

/** Content type of a directory listing. */
export const DIRECTORY_TYPE = 'inode/directory';

/** Milliseconds without a byte after which a read fails (G-85). */
export const DEFAULT_TIMEOUT_MS = 120_000;
/** Bytes of a body that are kept (G-86). */
export const DEFAULT_MAX_BYTES = 10 * 1024 * 1024;

/** Retrieves documents of one scheme or of several. */
export interface Fetcher extends AsyncDisposable {
  /**
   * @throws ConnectionError if the network fails, the server does not answer in time or breaks its protocol
   * @throws UsageError for a scheme that is not supported; RefusedError for an address that `publicOnly`
   *   forbids
   * @throws the signal's reason if the signal is aborted
   */
  fetch(request: FetchRequest): Promise<FetchResult>;
  /** Aborts all retrievals in progress and closes all connections. */
  close(): Promise<void>;
}
