import { LRUCache } from 'lru-cache';
import { type Fetcher, type FetchResult, isPrivateAddress } from '../../../clients/fetch/index.js';
import { ConnectionError, RefusedError, UsageError } from '../../../protocols/errors.js';
import {
  MAX_ROBOTS_LENGTH,
  parseRobots,
  type RobotsAnswer,
  type RobotsFetchRules,
  type RobotsOutcome,
  RobotsTxt,
  robotsExpired,
  robotsOutcome,
} from '../../../protocols/robots/index.js';
import type { UnixSeconds } from '../../../protocols/time.js';
import { lruCache } from '../lru.js';
import type { CrawlSettings } from '../order/settings.js';
import { unlessAborted } from './host-addresses.js';
import { HostLocks } from './host-locks.js';

/** What is known of a server's robots.txt (G-63, CRAWL-13.3). */
export type RobotsState =
  | { readonly state: 'rules'; readonly rules: RobotsTxt }
  | { readonly state: 'allow-all' }
  | { readonly state: 'unavailable'; readonly reason: string };

/** How an attempt to get robots.txt went; whoever made it counts it as a contact with the server (CRAWL-7.3). */
export interface RobotsContact {
  /** Milliseconds since 1970. */
  readonly begin: number;
  /** 0: the connection failed, so no politeness wait follows but the retry delay. */
  readonly end: number;
  readonly bytes: number;
  /** Of the last answer; 0: none came. */
  readonly status: number;
  /** Why it could not be had; empty when it could. */
  readonly reason: string;
}

export interface RobotsFilesOptions {
  readonly fetcher: Fetcher;
  /** Milliseconds without a byte after which an attempt is given up. */
  readonly timeoutMs: number;
  /** Locks of the hosts that a redirect may lead to; default: new ones. */
  readonly locks?: HostLocks;
  /** CRAWL-13.3.12: default 3. */
  readonly tries?: number;
  /** Servers of which something is kept; default 100 000. */
  readonly maxServers?: number;
  /** Bytes of all robots.txt texts that are kept; those used longest ago are fetched again. Default 64 MiB. */
  readonly maxBytes?: number;
  /** Milliseconds since 1970; default: the clock. */
  readonly now?: () => number;
}

interface Kept {
  readonly robots: RobotsState;
  readonly fetched: UnixSeconds;
  readonly bytes: number;
}

/** One attempt that is under way, and how many wait for it. */
interface Attempt {
  readonly contact: Promise<RobotsContact>;
  readonly stop: AbortController;
  waiting: number;
}

interface Answer {
  readonly outcome: RobotsOutcome;
  readonly contact: RobotsContact;
  readonly body?: Uint8Array;
}

/** RFC 9309 2.3.1.2: at least five redirects are followed. */
const MAX_REDIRECTS = 5;
/** What an entry weighs beside its text. */
const ENTRY_BYTES = 64;

/** The robots.txt files of the servers met, by origin: fetched once, kept while they hold. */
export class RobotsFiles {
  readonly #kept: LRUCache<string, Kept>;
  readonly #tries: LRUCache<string, number>;
  readonly #attempts = new Map<string, Attempt>();
  readonly #locks: HostLocks;

  constructor(readonly options: RobotsFilesOptions) {
    const { maxServers = 100_000, maxBytes = 64 * 1024 * 1024 } = options;
    this.#kept = new LRUCache({
      maxSize: maxBytes,
      // The newest file stays even if it alone is too large.
      sizeCalculation: ({ bytes }) => Math.min(bytes + ENTRY_BYTES, maxBytes),
    });
    this.#tries = lruCache(maxServers);
    this.#locks = options.locks ?? new HostLocks();
  }

  /** What holds; undefined while nothing does, or it has expired (CRAWL-13.3.13). */
  of(origin: string, { robotsValiditySeconds }: CrawlSettings): RobotsState | undefined {
    const kept = this.#kept.get(origin);
    if (kept === undefined) return undefined;
    const expired = robotsExpired(kept.fetched, this.#seconds(), robotsValiditySeconds);
    return expired ? undefined : kept.robots;
  }

  /** The same, expired or not, and without marking it as used: for reports. */
  peek(origin: string): RobotsState | undefined {
    return this.#kept.peek(origin)?.robots;
  }

  /** Is it being fetched, or to be tried again? */
  pending(origin: string): boolean {
    return this.#attempts.has(origin) || this.#tries.peek(origin) !== undefined;
  }

  /**
   * Makes one attempt; callers that come while it is under way wait for the same one. After it {@link of} answers, unless tries
   * are left (CRAWL-13.3.12).
   * @param signal ends the wait; the attempt itself when nobody waits any more
   * @throws the signal's reason
   */
  async fetch(origin: string, settings: CrawlSettings, signal: AbortSignal): Promise<RobotsContact> {
    signal.throwIfAborted();
    const attempt = this.#attempts.get(origin) ?? this.#begin(origin, settings);
    attempt.waiting++;
    try {
      return await unlessAborted(attempt.contact, signal);
    } finally {
      attempt.waiting--;
      if (attempt.waiting === 0 && this.#attempts.get(origin) === attempt) {
        // Whoever comes now begins anew.
        this.#attempts.delete(origin);
        attempt.stop.abort(signal.reason);
      }
    }
  }

  #begin(origin: string, settings: CrawlSettings): Attempt {
    const stop = new AbortController();
    const contact = this.#attempt(origin, settings, stop.signal);
    const attempt: Attempt = { contact, stop, waiting: 0 };
    this.#attempts.set(origin, attempt);
    const end = (): void => {
      if (this.#attempts.get(origin) === attempt) this.#attempts.delete(origin);
    };
    contact.then(end, end);
    return attempt;
  }

  async #attempt(origin: string, settings: CrawlSettings, signal: AbortSignal): Promise<RobotsContact> {
    const tries = (this.#tries.get(origin) ?? 0) + 1;
    const answer = await this.#ask(
      `${origin}/robots.txt`,
      rulesOf(settings, this.options.tries ?? 3),
      tries,
      settings.minDelayMs,
      signal,
    );
    if (answer.outcome === 'retry') this.#tries.set(origin, tries);
    else {
      this.#tries.delete(origin);
      this.#keep(origin, answer);
    }
    return answer.contact;
  }

  #keep(origin: string, { outcome, contact, body = new Uint8Array() }: Answer): void {
    let robots: RobotsState = { state: 'allow-all' };
    if (outcome === 'parse') {
      robots = { state: 'rules', rules: parseRobots(new TextDecoder().decode(body)) };
    } else if (outcome === 'deny-all') {
      robots = { state: 'rules', rules: RobotsTxt.DENY_ALL };
    } else if (outcome === 'unavailable') {
      // RFC 9309 2.4: a copy that has expired may be used while the file cannot be had.
      const old = this.#kept.peek(origin);
      if (old !== undefined && old.robots.state !== 'unavailable') {
        this.#kept.set(origin, { ...old, fetched: this.#seconds() });
        return;
      }
      robots = { state: 'unavailable', reason: contact.reason };
    }
    this.#kept.set(origin, { robots, fetched: this.#seconds(), bytes: body.length });
  }

  async #ask(
    url: string,
    judged: JudgedBy,
    tries: number,
    delayMs: number,
    signal: AbortSignal,
  ): Promise<Answer> {
    const begin = this.#now();
    let at = url;
    let publicOnly = false;
    let bytes = 0;
    for (let redirects = 0; ; redirects++) {
      let result: FetchResult;
      try {
        const { fetcher, timeoutMs } = this.options;
        // CRAWL-13.1.7: what is longer is cut.
        const request = { url: at, maxBytes: MAX_ROBOTS_LENGTH, timeoutMs, signal, publicOnly };
        // The first request has the turn of the queue that it is for; where redirects lead, it is a guest.
        const { host } = new URL(at);
        const ask = (): Promise<FetchResult> => fetcher.fetch(request);
        result = await (redirects === 0
          ? this.#locks.shared(host, signal, ask)
          : this.#locks.exclusive(host, delayMs, signal, ask));
      } catch (error) {
        // G-174: a redirect that is refused leads nowhere.
        if ((error instanceof RefusedError || error instanceof UsageError) && redirects > 0)
          return { outcome: 'allow-all', contact: { begin, end: this.#now(), bytes, status: 0, reason: '' } };
        if (signal.aborted || !(error instanceof ConnectionError)) throw error;
        const outcome = robotsOutcome(judged.failure(error), judged.rules, tries);
        return { outcome, contact: { begin, end: 0, bytes, status: 0, reason: error.message } };
      }
      bytes += result.body.length;
      const { status } = result;
      const outcome = robotsOutcome(judged.answer(status), judged.rules, tries, redirects);
      const reason = outcome === 'retry' || outcome === 'unavailable' ? `status ${status}` : '';
      const contact = { begin, end: this.#now(), bytes, status, reason };
      if (outcome !== 'follow') return { outcome, contact, body: result.body };
      if (result.location === undefined || !/^https?:/.test(result.location))
        return { outcome: 'allow-all', contact };
      at = result.location;
      publicOnly ||= result.remoteAddress === undefined || !isPrivateAddress(result.remoteAddress);
    }
  }

  #seconds(): UnixSeconds {
    return Math.floor(this.#now() / 1000);
  }

  #now(): number {
    return this.options.now?.() ?? Date.now();
  }
}

/** How answers are read: the rules, and what an answer counts as before them. */
interface JudgedBy {
  readonly rules: RobotsFetchRules;
  answer(status: number): RobotsAnswer;
  failure(error: ConnectionError): RobotsAnswer;
}

function rulesOf(settings: CrawlSettings, tries: number): JudgedBy {
  const common = {
    tries,
    unreachable: settings.robotsUnreachable === 'allow' ? 'allow-all' : 'unavailable',
    redirects: MAX_REDIRECTS,
    // CRAWL-13.3.14: it is fetched all the same.
    ignore: settings.robotsPolicy === 'ignore',
  } as const;
  if (settings.robotsAnswers === 'original' && settings.robotsPolicy !== 'rfc9309') {
    // CRAWL-13.3.11, 13.3.12: every answer is one, and a connection that is lost without one counts as 404.
    return {
      rules: common,
      answer: (status) => ({ kind: 'status', status }),
      failure: (error) => ({ kind: brokeOff(error) ? 'empty' : 'failure' }),
    };
  }
  return {
    rules: { ...common, rfc9309: true },
    // G-63: a 5xx is no answer; RFC 9309 forbids everything at once.
    answer: (status) =>
      status >= 500 && settings.robotsPolicy !== 'rfc9309' ? { kind: 'failure' } : { kind: 'status', status },
    failure: () => ({ kind: 'failure' }),
  };
}

/** Codes of a connection that was made and then lost. */
const LOST = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'ERR_STREAM_PREMATURE_CLOSE']);

function brokeOff({ cause }: ConnectionError): boolean {
  return cause instanceof Error && 'code' in cause && LOST.has(String(cause.code));
}
