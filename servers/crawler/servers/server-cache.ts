import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { steadyTime } from '../../../clients/connection/monotonic-clock.js';
import type { Fetcher } from '../../../clients/fetch/index.js';
import { StorageError } from '../../../protocols/errors.js';
import { parseRobots, RobotsPolicy, RobotsTxt } from '../../../protocols/robots/index.js';
import { queryOf } from '../../../protocols/urls/index.js';
import type { HostReport } from '../control.js';
import type { RecordedEvent } from '../events.js';
import { lruCache } from '../lru.js';
import type { CrawlSettings } from '../order/settings.js';
import { type CountedEvent, countEvent, noTraffic, type Traffic, trafficSchema } from './counters.js';
import { HostAddresses } from './host-addresses.js';
import { HostHolds } from './host-holds.js';
import { HostLocks } from './host-locks.js';
import { HostPauses } from './host-pauses.js';
import { type RobotsArchive, type RobotsContact, RobotsFiles, type RobotsState } from './robots-files.js';
import { hasRobots, parseServer, serverOf } from './server-key.js';

export interface ServerCacheOptions {
  readonly fetcher: Fetcher;
  /** The settings of a URL (CRAWL-19.5). URLs of the same sheets share one object. */
  readonly settingsFor: (url: string) => CrawlSettings;
  /** Product names that the groups of robots.txt may name, in addition to `userAgent` (G-63). */
  readonly robotsAgent: string;
  /** The User-Agent of requests; default: `robotsAgent`. */
  readonly userAgent?: string;
  /** Timeout without a byte of an attempt to get robots.txt, milliseconds. */
  readonly timeoutMs: number;
  /** G-81: the login that the configuration's URLs have for a URL. */
  readonly loginFor?: (url: string) => string | undefined;
  /** Keeps the requests for robots.txt. */
  readonly archive?: RobotsArchive | undefined;
  /** Default: a new one. */
  readonly addresses?: HostAddresses;
  /**
   * Maximum number of servers, and of hosts, in the cache; the least recently used are evicted. Default 100
   * 000.
   */
  readonly maxServers?: number;
  /** Maximum number of bytes of robots.txt files in the cache; default 64 MiB. */
  readonly maxRobotsBytes?: number;
  /** Milliseconds since 1970; default: the clock. */
  readonly now?: () => number;
}

/** The decision of robots.txt about a URL. */
export interface RobotsVerdict {
  readonly allowed: boolean;
  /** True if robots.txt is unavailable (-61). */
  readonly unavailable: boolean;
  /** True if it is unavailable because the host name has no address (-6). */
  readonly unresolved?: boolean;
  /** The deciding line and its number, or why the server is skipped; empty if the URL is allowed. */
  readonly reason: string;
  /** The User-Agent to send: the crawler's, or an allowed one (CRAWL-13.5). */
  readonly fetchAs: string;
  /** CRAWL-12.5: the annotation of a URL that robots.txt forbids, if it is only noted. */
  readonly annotation?: 'robotExcluded';
}

/** The counters of a server (CRAWL-12.2). */
interface ServerRecord {
  readonly traffic: Traffic;
  /** Failed contacts in a row. */
  connectionErrors: number;
  /** Milliseconds since 1970. */
  lastContact: number;
}

/** The counters of a host (CRAWL-12.2). */
interface HostRecord {
  readonly traffic: Traffic;
  /** Milliseconds since 1970 before which its bandwidth is used up (CRAWL-7.1 step 4); 0: free. */
  emission: number;
}

const snapshotSchema = z.strictObject({
  version: z.literal(1),
  servers: z.array(
    z.strictObject({
      server: z.string(),
      traffic: trafficSchema,
      connectionErrors: z.int().min(0),
      lastContact: z.number(),
    }),
  ),
  hosts: z.array(z.strictObject({ host: z.string(), traffic: trafficSchema, emission: z.number() })),
});

/** {@link ServerCache.snapshot}: plain JSON. */
export type ServerCacheSnapshot = z.output<typeof snapshotSchema>;

const NO_TRAFFIC: Readonly<Traffic> = noTraffic();
const NO_RECORD: Readonly<ServerRecord> = { traffic: NO_TRAFFIC, connectionErrors: 0, lastContact: 0 };

/** Attempts after which the robots.txt of a server counts as unavailable (CRAWL-13.3.12). */
const ROBOTS_TRIES = 3;
/** Maximum number of servers whose failures in a row are counted. */
const MAX_FAILING_SERVERS = 10_000;
/** Maximum number of parsed robots texts of the operator in the cache; each sheet may have one. */
const MAX_CUSTOM_ROBOTS = 100;

function copyOf<T extends { readonly traffic: Traffic }>(record: T): T {
  return { ...record, traffic: { ...record.traffic } };
}

/**
 * The servers and hosts of a crawl (CRAWL-12.1, 12.2): robots.txt, addresses, counters, and emission times of
 * bandwidth limits. An LRU cache: evicted servers are looked up again.
 */
export class ServerCache {
  readonly #options: ServerCacheOptions;
  /** Addresses of hosts (CRAWL-12.3). */
  readonly addresses: HostAddresses;
  /** Every request to a host runs under its lock. */
  readonly locks: HostLocks;
  /** The pauses between the two schemes of a host. */
  readonly pauses: HostPauses;
  /** The hosts that asked to be left alone. */
  readonly holds: HostHolds;
  readonly #robots: RobotsFiles;
  readonly #servers: LRUCache<string, ServerRecord>;
  readonly #hosts: LRUCache<string, HostRecord>;
  /** Policies by settings object. */
  readonly #policies = new WeakMap<CrawlSettings, RobotsPolicy>();
  /** Lost connections, 429 and 503 in a row by server. */
  readonly #failures = new LRUCache<string, number>({ max: MAX_FAILING_SERVERS });
  readonly #custom = new LRUCache<string, RobotsTxt>({
    max: MAX_CUSTOM_ROBOTS,
    memoMethod: (text) => parseRobots(text),
  });

  constructor(options: ServerCacheOptions) {
    this.#options = options;

    const { maxServers = 100_000, now } = options;
    this.#servers = lruCache(maxServers, () => ({
      traffic: noTraffic(),
      connectionErrors: 0,
      lastContact: 0,
    }));
    this.#hosts = lruCache(maxServers, () => ({ traffic: noTraffic(), emission: 0 }));
    const clock = now === undefined ? {} : { now };
    this.addresses =
      options.addresses ??
      new HostAddresses({
        validitySeconds: (host) => options.settingsFor(`http://${host}/`).ipValiditySeconds,
        maxHosts: maxServers,
        ...clock,
      });
    this.locks = new HostLocks();
    this.pauses = new HostPauses(maxServers);
    this.holds = new HostHolds(now);
    this.#robots = new RobotsFiles({
      locks: this.locks,
      fetcher: options.fetcher,
      timeoutMs: options.timeoutMs,
      tries: ROBOTS_TRIES,
      maxServers,
      archive: options.archive,
      loginFor: options.loginFor,
      maxBytes: options.maxRobotsBytes,
      ...clock,
    });
  }

  /**
   * Whether robots.txt of the URL's server is known, or known to be unavailable. True for other schemes than
   * http and https (CRAWL-12.4).
   */
  robotsKnown(url: string): boolean {
    return !hasRobots(url) || this.#robotsOf(url) !== undefined;
  }

  /**
   * Fetches robots.txt; concurrent calls share one attempt. After it {@link robotsKnown} is true unless another
   * attempt is due.
   * @param publicOnly G-174: whether the server must have a public address, as for the document
   * @param settings those of the URI that needs it; its RootNode's Delay applies to redirects. Default: those
   *   of the URL
   * @returns the contact, for the politeness wait
   * @throws RefusedError if `publicOnly` forbids the server's address; the signal's reason
   */
  async fetchRobots(
    url: string,
    signal: AbortSignal,
    publicOnly = false,
    settings = this.#options.settingsFor(url),
  ): Promise<RobotsContact> {
    const { origin } = serverOf(url);
    return this.#robots.fetch(origin, settings, signal, publicOnly);
  }

  /** Whether robots.txt allows the URL (CRAWL-13.4); true before robots.txt is known. */
  verdict(url: string): RobotsVerdict {
    const fetchAs = this.#userAgent;
    const robots = hasRobots(url) ? this.#robotsOf(url) : undefined;
    if (robots === undefined) return { allowed: true, unavailable: false, reason: '', fetchAs };
    const settings = this.#options.settingsFor(url);
    if (robots.state === 'unavailable') {
      // CRAWL-12.5 applies here too: nothing is forbidden.
      if (settings.calculateRobotsOnly) return { allowed: true, unavailable: false, reason: '', fetchAs };
      const { unresolved, reason } = robots;
      return { allowed: false, unavailable: true, unresolved, reason, fetchAs };
    }
    // CRAWL-13.4 custom: the operator's text applies, whatever robots.txt says.
    const rules = robots.state === 'rules' ? robots.rules : RobotsTxt.ALLOW_ALL;
    const asked = new URL(url);
    const decision = this.#policyOf(settings).decide(rules, asked.pathname + queryOf(asked));
    const agent = decision.fetchAs;
    if (decision.allowed) return { allowed: true, unavailable: false, reason: '', fetchAs: agent };
    const line =
      decision.lineNumber === undefined || decision.lineNumber === 0 ? '' : ` (line ${decision.lineNumber})`;
    const reason = `robots.txt: ${decision.line ?? 'disallowed'}${line}`;
    return settings.calculateRobotsOnly
      ? { allowed: true, unavailable: false, reason, fetchAs, annotation: 'robotExcluded' }
      : { allowed: false, unavailable: false, reason, fetchAs };
  }

  /**
   * Returns the Crawl-delay for this crawler in seconds (CRAWL-7.1 step 3), from robots.txt or the operator's
   * text; undefined if neither has one.
   */
  crawlDelay(url: string): number | undefined {
    const robots = hasRobots(url) ? this.#robotsOf(url) : undefined;
    if (robots === undefined || robots.state === 'unavailable') return undefined;
    const rules = robots.state === 'rules' ? robots.rules : RobotsTxt.ALLOW_ALL;
    return this.#policyOf(this.#options.settingsFor(url)).crawlDelay(rules);
  }

  /** CRAWL-12.2: records a contact with the URL's server; consecutive failures are counted. */
  contact(url: string, ok: boolean): void {
    const server = this.#servers.memo(serverOf(url).server);
    server.connectionErrors = ok ? 0 : server.connectionErrors + 1;
    server.lastContact = this.#now();
  }

  /** Whether the URL's server has answered a request of this crawl. An evicted server counts as one that has not. */
  hasAnswered(url: string): boolean {
    const { server, origin } = serverOf(url);
    const robots = this.#robots.peek(origin);
    if (robots !== undefined && robots.state !== 'unavailable') return true;
    const { traffic, connectionErrors, lastContact } = this.#servers.peek(server) ?? NO_RECORD;
    return traffic.responses > 0 || (connectionErrors === 0 && lastContact > 0);
  }

  /** Records a lost connection or a 429 or 503. Returns how many there were in a row. */
  failed(url: string): number {
    const { server } = serverOf(url);
    const inRow = (this.#failures.get(server) ?? 0) + 1;
    this.#failures.set(server, inRow);
    return inRow;
  }

  /** Records another answer, which ends the row of {@link failed}. */
  answered(url: string): void {
    if (this.#failures.size > 0) this.#failures.delete(serverOf(url).server);
  }

  /** CRAWL-16.6: counts a URI that was returned to the frontier. */
  countEvent(event: CountedEvent & Pick<RecordedEvent, 'url'>): void {
    const server = serverOf(event.url);
    if (server.host === '') return;
    countEvent(this.#servers.memo(server.server).traffic, event);
    countEvent(this.#hosts.memo(server.host).traffic, event);
  }

  /** CRAWL-11.3: the counts of the URL's server. */
  serverTraffic(url: string): Readonly<Traffic> {
    return this.#servers.peek(serverOf(url).server)?.traffic ?? NO_TRAFFIC;
  }

  /** CRAWL-11.3: the counts of the URL's host, over all ports and schemes. */
  hostTraffic(url: string): Readonly<Traffic> {
    return this.#hosts.peek(serverOf(url).host)?.traffic ?? NO_TRAFFIC;
  }

  /**
   * CRAWL-12.2: the next emission time of the URL's host, milliseconds since 1970; 0 if the host has no next
   * time.
   */
  hostEmission(url: string): number {
    return this.#hosts.peek(serverOf(url).host)?.emission ?? 0;
  }

  /** Stores the emission time that `politenessDelay` returned. */
  setHostEmission(url: string, emission: number): void {
    const { host } = serverOf(url);
    if (host !== '' && (emission > 0 || this.#hosts.peek(host) !== undefined))
      this.#hosts.memo(host).emission = emission;
  }

  /**
   * CRAWL-12.2, 16.6: reports servers, the most recently used first. Default limit 100; `match` is a part of
   * the name, ignoring case.
   */
  report({
    limit = 100,
    match = '',
  }: {
    readonly limit?: number;
    readonly match?: string;
  } = {}): HostReport[] {
    const part = match.toLowerCase();
    const reports: HostReport[] = [];
    // The most recently used first.
    for (const [server, record] of this.#servers.entries()) {
      if (reports.length >= limit) break;
      if (server.includes(part)) reports.push(this.#report(server, record));
    }
    return reports;
  }

  /**
   * CRAWL-17.2: counters and emission times for a checkpoint, least recently used first. A restored crawl
   * fetches robots.txt and looks names up again.
   */
  snapshot(): ServerCacheSnapshot {
    return {
      version: 1,
      servers: this.#servers.dump().map(([server, { value }]) => ({ server, ...copyOf(value) })),
      hosts: this.#hosts.dump().map(([host, { value }]) => ({ host, ...copyOf(value) })),
    };
  }

  /**
   * Restores a {@link snapshot}; its entries replace those of the same servers and hosts.
   * @throws StorageError when it is not a snapshot
   */
  restore(snapshot: unknown): void {
    const result = snapshotSchema.safeParse(snapshot);
    if (!result.success)
      throw new StorageError(`the servers of a checkpoint are damaged: ${z.prettifyError(result.error)}`);
    for (const { server, ...record } of result.data.servers) this.#servers.set(server, record);
    for (const { host, ...record } of result.data.hosts) this.#hosts.set(host, record);
  }

  #report(server: string, { traffic, connectionErrors, lastContact }: ServerRecord): HostReport {
    const { host, origins } = parseServer(server);
    const robots = origins.map((origin) => this.#robots.peek(origin)).find((state) => state !== undefined);
    const pending = origins.some((origin) => this.#robots.pending(origin));
    const origin = origins[0] ?? '';
    const crawlDelay = robots?.state === 'rules' ? this.crawlDelay(`${origin}/`) : undefined;
    return {
      server,
      addresses: this.addresses.addressesOf(host),
      robots: robots?.state ?? (pending ? 'pending' : 'none'),
      crawlDelay,
      successes: traffic.successes,
      failures: traffic.failures,
      disregarded: traffic.disregarded,
      robotsDenials: traffic.robotsDenials,
      bytes: traffic.totalBytes,
      connectionErrors,
      lastContact,
    };
  }

  get #userAgent(): string {
    return this.#options.userAgent ?? this.#options.robotsAgent;
  }

  #robotsOf(url: string): RobotsState | undefined {
    return this.#robots.get(serverOf(url).origin, this.#options.settingsFor(url));
  }

  #policyOf(settings: CrawlSettings): RobotsPolicy {
    let policy = this.#policies.get(settings);
    if (policy === undefined) {
      policy = new RobotsPolicy({
        policy: settings.robotsPolicy,
        // CRAWL-13.2.10, G-63: the name that is sent, and the product's own.
        userAgent: this.#userAgent,
        alsoKnownAs: this.#options.robotsAgent,
        userAgents: settings.userAgents,
        masquerade: settings.masquerade,
        ...(settings.robotsPolicy === 'custom'
          ? { customRobots: this.#custom.memo(settings.customRobots) }
          : {}),
      });
      this.#policies.set(settings, policy);
    }
    return policy;
  }

  #now(): number {
    return this.#options.now?.() ?? steadyTime();
  }
}
