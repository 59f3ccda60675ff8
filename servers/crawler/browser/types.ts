// The interface between the crawl engine and a browser.
import { KitError } from '../../../protocols/errors.js';

/** A request that a page makes while it loads. */
export interface PartRequest {
  /** Absolute. */
  readonly url: string;
  readonly method: string;
  /**
   * What it is for, in the names of browsers: `script`, `stylesheet`, `fetch`, `image`, `document` (a frame)
   * ...
   */
  readonly type: string;
  /** The header Origin of a request to another site; empty if absent. */
  readonly origin: string;
}

export interface PartResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Decoded. */
  readonly body: Uint8Array;
  /** The URL of the response, after redirects. */
  readonly url: string;
}

/** A page to load. */
export interface PageLoad {
  readonly url: string;
  /** The response to the first request of the browser. */
  readonly response: PartResponse;
  /** Milliseconds after which the document is taken as it is. */
  readonly timeoutMs: number;
  /** Characters of the largest document. */
  readonly maxLength: number;
  /** Whether the page is scrolled to its end. */
  readonly scroll: boolean;
  readonly signal: AbortSignal;
  /** Answers every other request; undefined aborts it. The signal is aborted when the page is closed. */
  readonly fetch: (request: PartRequest, signal: AbortSignal) => Promise<PartResponse | undefined>;
}

export interface LoadedPage {
  /** The document after its scripts ran. */
  readonly html: string;
  /** URLs to which the page wanted to go; the browser stays on the page. */
  readonly navigations: readonly string[];
  /** Whether the time was over before the page was idle. */
  readonly timedOut: boolean;
}

/** A browser without access to the network. */
export interface PageLoader extends AsyncDisposable {
  /**
   * Loads a page and runs its scripts.
   * @throws PageError if there is no document: the browser ended, the page does not answer
   * @throws the signal's reason
   */
  load(page: PageLoad): Promise<LoadedPage>;
}

/** Why a page has no document. */
export class PageError extends KitError {
  readonly code = 'ERR_PAGE';
  constructor(
    /** One word, for crawl.log. */
    readonly kind: 'crashed' | 'memory' | 'hung' | 'large' | 'start',
    message: string,
    /** Whether the browser ended, perhaps because of another page. */
    readonly browserEnded = false,
  ) {
    super(message);
  }
}
