import type { Fetcher } from '../../../clients/fetch/index.js';
import { ConnectionError } from '../../../protocols/errors.js';
import { parseRobots, type RobotsTxt } from '../../../protocols/robots/index.js';

/** What we know of a server's robots.txt (G-63). */
type Robots =
  | { readonly state: 'rules'; readonly rules: RobotsTxt }
  | { readonly state: 'allow-all' }
  | { readonly state: 'unavailable'; readonly reason: string };

export interface ServerCacheOptions {
  readonly fetcher: Fetcher;
  /** The agent name that robots.txt groups are matched against (G-63). */
  readonly robotsAgent: string;
  /** Tries before a server whose robots.txt cannot be had is skipped in this run (CRAWL-13.3). */
  readonly robotsTries: number;
  readonly timeoutMs: number;
}

/** RFC 9309 asks that at least 500 KiB be parsed; more is cut (CRAWL-13.1). */
const MAX_ROBOTS_BYTES = 512_000;
/** RFC 9309: at least five redirects are followed for robots.txt. */
const MAX_ROBOTS_REDIRECTS = 5;

/** The servers met in this run (CRAWL-1.6, 12.2): their robots rules, fetched once per host:port and run. */
export class ServerCache {
  readonly #robots = new Map<string, Robots>();
  readonly #tries = new Map<string, number>();

  constructor(readonly options: ServerCacheOptions) {}

  /** Is robots.txt of this URL's server settled, one way or the other? Only http and https have one. */
  robotsKnown(url: string): boolean {
    return !/^https?:/.test(url) || this.#robots.has(originOf(url));
  }

  /** Fetches robots.txt. After this, unless tries are left, {@link robotsKnown} is true. */
  async fetchRobots(url: string, signal: AbortSignal): Promise<void> {
    const origin = originOf(url);
    const robots = await this.#fetch(`${origin}/robots.txt`, signal);
    const tries = (this.#tries.get(origin) ?? 0) + 1;
    this.#tries.set(origin, tries);
    if (robots.state === 'unavailable' && tries < this.options.robotsTries) return;
    this.#robots.set(origin, robots);
  }

  /** May the URL be fetched? `reason` says which line of robots.txt decided, or why the server is skipped. */
  verdict(url: string): {
    readonly allowed: boolean;
    readonly unavailable: boolean;
    readonly reason: string;
  } {
    const robots = /^https?:/.test(url) ? this.#robots.get(originOf(url)) : undefined;
    if (robots === undefined || robots.state === 'allow-all') {
      return { allowed: true, unavailable: false, reason: '' };
    }
    if (robots.state === 'unavailable') {
      return { allowed: false, unavailable: true, reason: `robots.txt: ${robots.reason}` };
    }
    const { pathname, search } = new URL(url);
    const { allowed, line } = robots.rules.allowed(this.options.robotsAgent, pathname + search);
    return { allowed, unavailable: false, reason: allowed ? '' : `robots.txt: ${line ?? 'disallowed'}` };
  }

  /** Seconds of Crawl-delay for us, if the server names them. */
  crawlDelay(url: string): number | undefined {
    const robots = /^https?:/.test(url) ? this.#robots.get(originOf(url)) : undefined;
    return robots?.state === 'rules' ? robots.rules.crawlDelay(this.options.robotsAgent) : undefined;
  }

  async #fetch(url: string, signal: AbortSignal): Promise<Robots> {
    let at = url;
    try {
      for (let redirects = 0; redirects <= MAX_ROBOTS_REDIRECTS; redirects++) {
        const { fetcher, timeoutMs } = this.options;
        const result = await fetcher.fetch({ url: at, maxBytes: MAX_ROBOTS_BYTES, timeoutMs, signal });
        if (result.status >= 500) return { state: 'unavailable', reason: `status ${result.status}` };
        if (result.location !== undefined && /^https?:/.test(result.location)) {
          at = result.location;
          continue;
        }
        // G-63: 4xx means that everything is allowed.
        if (result.status < 200 || result.status > 299) return { state: 'allow-all' };
        return { state: 'rules', rules: parseRobots(new TextDecoder().decode(result.body)) };
      }
      return { state: 'allow-all' };
    } catch (error) {
      if (signal.aborted || !(error instanceof ConnectionError)) throw error;
      return { state: 'unavailable', reason: error.message };
    }
  }
}

function originOf(url: string): string {
  return new URL(url).origin;
}
