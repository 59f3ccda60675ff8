import { LRUCache } from 'lru-cache';
import { failedBeforeConnection, isUnresolved } from '../../../clients/connection/index.js';
import { steadyTime } from '../../../clients/connection/monotonic-clock.js';
import {
  type Fetcher,
  type FetchRequest,
  type FetchResult,
  isPrivateAddress,
  MAX_REDIRECTS,
} from '../../../clients/fetch/index.js';
import { ConnectionError, RefusedError, UsageError } from '../../../protocols/errors.js';
import { untilAborted } from '../../../protocols/linked-abort.js';
import {
  isRobotsExpired,
  MAX_ROBOTS_LENGTH,
  parseRobots,
  type RobotsAnswer,
  type RobotsFetchRules,
  type RobotsOutcome,
  type RobotsTxt,
  robotsOutcome,
} from '../../../protocols/robots/index.js';
import type { UnixSeconds } from '../../../protocols/time.js';
import { withoutUserInfo } from '../../../protocols/urls/index.js';
import { lruCache } from '../lru.js';
import type { CrawlSettings } from '../order/settings.js';
import { proxyOf } from '../requests/request-settings.js';
import { retryAfter } from '../requests/retry-after.js';
import { HostLocks } from './host-locks.js';
import { politenessDelay } from './politeness.js';

/** The robots.txt of a server (G-63, CRAWL-13.3). */
export type RobotsState =
  | { readonly state: 'rules'; readonly rules: RobotsTxt }
  | { readonly state: 'allow-all' }
  | { readonly state: 'unavailable'; readonly reason: string; readonly unresolved: boolean };

/** An attempt to get robots.txt; it counts as a contact with the server (CRAWL-7.3). */
export interface RobotsContact {
  /** Milliseconds since 1970. */
  readonly begin: number;
  /** 0 if the connection failed: then the retry delay follows instead of the politeness wait. */
  readonly end: number;
  readonly bytes: number;
  /** Status of the last response; 0 without a response. */
  readonly status: number;
  /** CRAWL-13.3.11: Retry-After of a response after which another attempt is due, milliseconds. */
  readonly retryAfterMs?: number;
  /** This process had no robots.txt of the server before, as after a restart. */
  readonly first?: boolean;
  /** The host name has no address (CRAWL-8.1: -6). */
  readonly unresolved?: boolean;
  /** The server itself could not be reached, so that the reason concerns all of its documents. */
  readonly unreached?: boolean;
  /** Why it is unavailable; empty if it is available. */
  readonly reason: string;
}

export interface RobotsFilesOptions {
  readonly fetcher: Fetcher;
  /** Timeout without a byte, milliseconds. */
  readonly timeoutMs: number;
  /** Locks of the hosts that a redirect may lead to; default: new ones. */
  readonly locks?: HostLocks;
  /** Attempts after which robots.txt counts as unavailable (CRAWL-13.3.12). Default 3. */
  readonly tries?: number;
  /** Maximum number of servers whose failed attempts are counted; default 100 000. */
  readonly maxServers?: number;
  /**
   * Maximum number of bytes of robots.txt files in the cache; evicted ones are fetched again. Default 64 MiB.
   */
  readonly maxBytes?: number | undefined;
  /** G-81: the login that the configuration has for a URL. */
  readonly loginFor?: ((url: string) => string | undefined) | undefined;
  /** Gets each answer; its `record` must not reject. */
  readonly archive?: RobotsArchive | undefined;
  /** Milliseconds since 1970; default: the clock. */
  readonly now?: () => number;
}

/** The part of a request for robots.txt that an archive keeps. */
export interface RobotsArchive {
  readonly keepWire: FetchRequest['keepWire'];
  record(fetched: FetchResult): Promise<void>;
}

interface CachedRobots {
  readonly robots: RobotsState;
  readonly fetched: UnixSeconds;
  readonly bytes: number;
}

/** An attempt in flight. */
interface Attempt {
  readonly contact: Promise<RobotsContact>;
  readonly stop: AbortController;
  /** Number of callers that wait for it. */
  waiting: number;
}

interface Answer {
  readonly outcome: RobotsOutcome;
  readonly contact: RobotsContact;
  readonly body?: Uint8Array;
}

/** Bytes of an entry without its text. */
const ENTRY_BYTES = 64;

/** A cache of robots.txt files by origin. */
export class RobotsFiles {
  readonly #options: RobotsFilesOptions;
  readonly #cache: LRUCache<string, CachedRobots>;
  readonly #tries: LRUCache<string, number>;
  readonly #attempts = new Map<string, Attempt>();
  readonly #locks: HostLocks;

  constructor(options: RobotsFilesOptions) {
    this.#options = options;

    const { maxServers = 100_000, maxBytes = 64 * 1024 * 1024 } = options;
    this.#cache = new LRUCache({
      maxSize: maxBytes,
      // A file that is larger than the cache replaces all others.
      sizeCalculation: ({ bytes }) => Math.min(bytes + ENTRY_BYTES, maxBytes),
    });
    this.#tries = lruCache(maxServers);
    this.#locks = options.locks ?? new HostLocks();
  }

  /** Returns the valid robots.txt; undefined if it is not known or has expired (CRAWL-13.3.13). */
  get(origin: string, { robotsValiditySeconds }: CrawlSettings): RobotsState | undefined {
    const cached = this.#cache.get(origin);
    if (cached === undefined) return undefined;
    const expired = isRobotsExpired(cached.fetched, this.#seconds(), robotsValiditySeconds);
    return expired ? undefined : cached.robots;
  }

  /** Returns robots.txt, expired or not, without marking it as used; for reports. */
  peek(origin: string): RobotsState | undefined {
    return this.#cache.peek(origin)?.robots;
  }

  /** Whether robots.txt is being fetched or another attempt is due. */
  pending(origin: string): boolean {
    const inFlight = [true, false].some((publicOnly) => this.#attempts.has(attemptKey(origin, publicOnly)));
    return inFlight || this.#tries.peek(origin) !== undefined;
  }

  /**
   * Makes one attempt; concurrent callers share it. After it {@link get} returns the file unless another
   * attempt is due (CRAWL-13.3.12).
   * @param signal ends the wait; the attempt is aborted when no caller waits
   * @param publicOnly G-174: as for the document; callers with and without it do not share an attempt
   * @throws RefusedError if `publicOnly` forbids the server's address; the signal's reason
   */
  async fetch(
    origin: string,
    settings: CrawlSettings,
    signal: AbortSignal,
    publicOnly = false,
  ): Promise<RobotsContact> {
    signal.throwIfAborted();
    const key = attemptKey(origin, publicOnly);
    const attempt = this.#attempts.get(key) ?? this.#begin(origin, settings, publicOnly);
    attempt.waiting++;
    try {
      return await untilAborted(() => attempt.contact, signal);
    } finally {
      attempt.waiting--;
      if (attempt.waiting === 0 && this.#attempts.get(key) === attempt) {
        // A later call starts a new attempt.
        this.#attempts.delete(key);
        attempt.stop.abort(signal.reason);
      }
    }
  }

  #begin(origin: string, settings: CrawlSettings, publicOnly: boolean): Attempt {
    const stop = new AbortController();
    const contact = this.#attempt(origin, settings, stop.signal, publicOnly);
    const attempt: Attempt = { contact, stop, waiting: 0 };
    const key = attemptKey(origin, publicOnly);
    this.#attempts.set(key, attempt);
    const remove = (): void => {
      if (this.#attempts.get(key) === attempt) this.#attempts.delete(key);
    };
    contact.then(remove, remove);
    return attempt;
  }

  async #attempt(
    origin: string,
    settings: CrawlSettings,
    signal: AbortSignal,
    publicOnly: boolean,
  ): Promise<RobotsContact> {
    const tries = (this.#tries.get(origin) ?? 0) + 1;
    const first = this.#cache.peek(origin) === undefined;
    const answer = await this.#request(
      `${origin}/robots.txt`,
      rulesOf(settings, this.#options.tries ?? 3),
      tries,
      settings,
      signal,
      publicOnly,
    );
    if (answer.outcome === 'retry') this.#tries.set(origin, tries);
    else {
      this.#tries.delete(origin);
      this.#store(origin, answer);
    }
    return { ...answer.contact, first };
  }

  #store(origin: string, { outcome, contact, body = new Uint8Array() }: Answer): void {
    let robots: RobotsState = { state: 'allow-all' };
    if (outcome === 'parse') {
      robots = { state: 'rules', rules: parseRobots(body) };
    } else if (outcome === 'unavailable') {
      // RFC 9309 2.4: an expired copy may be used while the file is unavailable.
      const old = this.#cache.peek(origin);
      if (old !== undefined && old.robots.state !== 'unavailable') {
        this.#cache.set(origin, { ...old, fetched: this.#seconds() });
        return;
      }
      const { unresolved = false, unreached = false } = contact;
      const reason = unreached ? contact.reason : `robots.txt: ${contact.reason}`;
      robots = { state: 'unavailable', reason, unresolved };
    }
    this.#cache.set(origin, { robots, fetched: this.#seconds(), bytes: body.length });
  }

  async #request(
    url: string,
    interpretation: ResponseRules,
    tries: number,
    settings: CrawlSettings,
    signal: AbortSignal,
    requirePublic: boolean,
  ): Promise<Answer> {
    const begin = this.#now();
    let currentUrl = url;
    let publicOnly = requirePublic;
    let delayMs = settings.minDelayMs;
    let bytes = 0;
    for (let redirects = 0; ; redirects++) {
      let result: FetchResult;
      try {
        const { fetcher, timeoutMs } = this.#options;
        // CRAWL-13.1.7: a longer file is cut, and one octet more shows that the last line is not whole.
        const request = {
          url: currentUrl,
          login: this.#options.loginFor?.(currentUrl),
          maxBytes: MAX_ROBOTS_LENGTH + 1,
          timeoutMs,
          signal,
          publicOnly,
          ...proxyOf(settings),
          keepWire: this.#options.archive?.keepWire,
          keepIncomplete: true,
        };
        // The first request belongs to a queue of the host; the host of a redirect does not expect one.
        const { hostname: host } = new URL(currentUrl);
        const firstDelayMs = delayMs;
        const fetchFile = () => fetcher.fetch(request);
        result =
          redirects === 0
            ? await this.#locks.shared(host, signal, fetchFile)
            : await this.#locks.exclusive(host, firstDelayMs, signal, fetchFile);
        await this.#options.archive?.record(result);
        const problem = result.lenient?.problem;
        // A rule could be missing.
        if (problem !== undefined)
          throw new ConnectionError(`${host}: robots.txt is not complete: ${problem}`);
      } catch (error) {
        // G-174: a redirect that is refused counts as a missing robots.txt.
        if ((error instanceof RefusedError || error instanceof UsageError) && redirects > 0)
          return { outcome: 'allow-all', contact: { begin, end: this.#now(), bytes, status: 0, reason: '' } };
        if (signal.aborted || !(error instanceof ConnectionError)) throw error;
        const outcome = robotsOutcome(interpretation.failure(error), interpretation.rules, tries);
        const contact = { begin, end: 0, bytes, status: 0, reason: error.message };
        const unreached = redirects === 0 && failedBeforeConnection(error);
        return { outcome, contact: { ...contact, unresolved: isUnresolved(error), unreached } };
      }
      bytes += result.body.length;
      const { status } = result;
      const outcome = robotsOutcome(interpretation.answer(status), interpretation.rules, tries, redirects);
      const reason = outcome === 'retry' || outcome === 'unavailable' ? `status ${status}` : '';
      const contact = { begin, end: this.#now(), bytes, status, reason };
      if (outcome === 'retry') {
        const retryAfterMs = retryAfter(result.headers['retry-after'], this.#now(), result.headers.date);
        return { outcome, contact: { ...contact, ...(retryAfterMs > 0 ? { retryAfterMs } : {}) } };
      }
      if (outcome !== 'follow') return { outcome, contact, body: result.body };
      if (result.location === undefined || !/^https?:/.test(result.location))
        return { outcome: 'allow-all', contact };
      currentUrl = withoutUserInfo(result.location);
      // CRAWL-7.1: the next request is one more contact, possibly with the same host.
      delayMs = politenessDelay(settings, {
        begin: result.beginTime,
        end: result.endTime,
        bytes: result.body.length,
        now: this.#now(),
      }).delayMs;
      publicOnly ||= result.remoteAddress === undefined || !isPrivateAddress(result.remoteAddress);
    }
  }

  #seconds(): UnixSeconds {
    return Math.floor(this.#now() / 1000);
  }

  #now(): number {
    return this.#options.now?.() ?? steadyTime();
  }
}

function attemptKey(origin: string, publicOnly: boolean): string {
  return publicOnly ? `public ${origin}` : origin;
}

/** How the responses to the request for robots.txt are interpreted. */
interface ResponseRules {
  readonly rules: RobotsFetchRules;
  answer(status: number): RobotsAnswer;
  failure(error: ConnectionError): RobotsAnswer;
}

function rulesOf(settings: CrawlSettings, tries: number): ResponseRules {
  const common = {
    tries,
    unreachable: settings.robotsUnreachable === 'allow' ? 'allow-all' : 'unavailable',
    // RFC 9309 2.3.1.2: at least five redirects are followed.
    redirects: MAX_REDIRECTS,
    // CRAWL-13.3.14: robots.txt is fetched even if it is ignored.
    ignore: settings.robotsPolicy === 'ignore',
  } as const;
  if (settings.robotsAnswers === 'original' && settings.robotsPolicy !== 'rfc9309') {
    // CRAWL-13.3.11, 13.3.12: every response counts, and a connection that is lost without one counts as 404.
    return {
      rules: common,
      answer: (status) => ({ kind: 'status', status }),
      failure: (error) => ({ kind: isConnectionLost(error) ? 'empty' : 'failure' }),
    };
  }
  return {
    rules: { ...common, rfc9309: true },
    answer: (status) => ({ kind: 'status', status }),
    failure: () => ({ kind: 'failure' }),
  };
}

/** Error codes of a connection that was lost after it was established. */
const LOST_CODES = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'ERR_STREAM_PREMATURE_CLOSE']);

function isConnectionLost({ cause }: ConnectionError): boolean {
  return cause instanceof Error && 'code' in cause && LOST_CODES.has(String(cause.code));
}
