import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Fetcher } from '../../../clients/fetch/index.js';
import { StorageError } from '../../../protocols/errors.js';
import { parseRobots, RobotsPolicy, RobotsTxt } from '../../../protocols/robots/index.js';
import type { HostReport } from '../control.js';
import type { DocumentEvent } from '../events.js';
import { lruCache } from '../lru.js';
import type { CrawlSettings } from '../order/settings.js';
import { type CountedEvent, countEvent, noTraffic, type Traffic, trafficSchema } from './counters.js';
import { HostAddresses } from './host-addresses.js';
import { HostLocks } from './host-locks.js';
import { type RobotsContact, RobotsFiles, type RobotsState } from './robots-files.js';
import { hasRobots, partsOf, type ServerOfUrl, serverOf } from './server-key.js';

export interface ServerCacheOptions {
  readonly fetcher: Fetcher;
  /** What holds for a URL (CRAWL-19.5): the sheets' answer, or one object for all. */
  readonly settingsFor: (url: string) => CrawlSettings;
  /** The agent name that robots.txt groups are matched against (G-63). */
  readonly robotsAgent: string;
  /** The User-Agent that is sent; default: `robotsAgent`. */
  readonly userAgent?: string;
  /** Milliseconds without a byte after which an attempt to get robots.txt is given up. */
  readonly timeoutMs: number;
  /** Tries before the robots.txt of a server counts as not to be had (CRAWL-13.3.12). Default 3. */
  readonly robotsTries?: number;
  /** Default: one of its own. */
  readonly addresses?: HostAddresses;
  /** Servers, and hosts, that are known at one time; those used longest ago are forgotten. Default 100 000. */
  readonly maxServers?: number;
  /** Bytes of robots.txt texts kept; default 64 MiB. */
  readonly maxRobotsBytes?: number;
  /** Milliseconds since 1970; default: the clock. */
  readonly now?: () => number;
}

/** What robots.txt says of a URL. */
export interface RobotsVerdict {
  readonly allowed: boolean;
  /** Not forbidden, but robots.txt cannot be had (-61). */
  readonly unavailable: boolean;
  /** The line that decided and its number, or why the server is skipped; empty when nothing forbids. */
  readonly reason: string;
  /** The User-Agent to send: ours, or the one that is allowed (CRAWL-13.5). */
  readonly fetchAs: string;
  /** CRAWL-12.5: it would be forbidden, but is only noted; goes into the annotations. */
  readonly annotation?: 'robotExcluded';
}

/** CRAWL-12.2. */
interface ServerRecord {
  readonly traffic: Traffic;
  /** Failed contacts in a row. */
  connectionErrors: number;
  /** Milliseconds since 1970. */
  lastContact: number;
}

/** CRAWL-12.2. */
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

/** The operator's own robots texts that are kept parsed; sheets may have one each. */
const MAX_CUSTOM_ROBOTS = 100;

/**
 * The servers and hosts met in this crawl (CRAWL-12.1, 12.2): robots.txt, addresses, counters, and when a host's bandwidth is free
 * again. Bounded: what was used longest ago is forgotten, and found out again.
 */
export class ServerCache {
  /** CRAWL-12.3. */
  readonly addresses: HostAddresses;
  /** Every request to a host runs under its lock. */
  readonly locks: HostLocks;
  readonly #robots: RobotsFiles;
  readonly #servers: LRUCache<string, ServerRecord>;
  readonly #hosts: LRUCache<string, HostRecord>;
  /** One policy for each object of settings: sheets share theirs. */
  readonly #policies = new WeakMap<CrawlSettings, RobotsPolicy>();
  readonly #custom = new LRUCache<string, RobotsTxt>({ max: MAX_CUSTOM_ROBOTS });

  constructor(readonly options: ServerCacheOptions) {
    const { maxServers = 100_000, now } = options;
    this.#servers = lruCache(maxServers);
    this.#hosts = lruCache(maxServers);
    const clock = now === undefined ? {} : { now };
    this.addresses =
      options.addresses ??
      new HostAddresses({
        validitySeconds: (host) => options.settingsFor(`http://${host}/`).ipValiditySeconds,
        maxHosts: maxServers,
        ...clock,
      });
    this.locks = new HostLocks();
    this.#robots = new RobotsFiles({
      locks: this.locks,
      fetcher: options.fetcher,
      timeoutMs: options.timeoutMs,
      tries: options.robotsTries ?? 3,
      maxServers,
      ...(options.maxRobotsBytes === undefined ? {} : { maxBytes: options.maxRobotsBytes }),
      ...clock,
    });
  }

  /** Is robots.txt of this URL's server settled, one way or the other? Only http and https have one (CRAWL-12.4). */
  robotsKnown(url: string): boolean {
    return !hasRobots(url) || this.#robotsOf(url) !== undefined;
  }

  /**
   * Fetches robots.txt, once for all who ask at the same time. After this, unless tries are left, {@link robotsKnown} is true.
   * @returns how the contact went, for the politeness wait; an attempt that others share is one contact
   * @throws the signal's reason
   */
  async fetchRobots(url: string, signal: AbortSignal): Promise<RobotsContact> {
    const { origin } = serverOf(url);
    return this.#robots.fetch(origin, this.options.settingsFor(url), signal);
  }

  /** May the URL be fetched (CRAWL-13.4)? Before robots.txt is known: yes. */
  verdict(url: string): RobotsVerdict {
    const fetchAs = this.#userAgent;
    const robots = hasRobots(url) ? this.#robotsOf(url) : undefined;
    if (robots === undefined) return { allowed: true, unavailable: false, reason: '', fetchAs };
    const settings = this.options.settingsFor(url);
    if (robots.state === 'unavailable') {
      // CRAWL-12.5 holds here too: nothing is forbidden.
      if (settings.calculateRobotsOnly) return { allowed: true, unavailable: false, reason: '', fetchAs };
      return { allowed: false, unavailable: true, reason: `robots.txt: ${robots.reason}`, fetchAs };
    }
    // CRAWL-13.4 custom: the operator's text holds, whatever the site has.
    const rules = robots.state === 'rules' ? robots.rules : RobotsTxt.ALLOW_ALL;
    const { pathname, search } = new URL(url);
    const decision = this.#policyOf(settings).decide(rules, pathname + search);
    const disguise = decision.fetchAs === this.options.robotsAgent ? fetchAs : decision.fetchAs;
    if (decision.allowed) return { allowed: true, unavailable: false, reason: '', fetchAs: disguise };
    const line =
      decision.lineNumber === undefined || decision.lineNumber === 0 ? '' : ` (line ${decision.lineNumber})`;
    const reason = `robots.txt: ${decision.line ?? 'disallowed'}${line}`;
    return settings.calculateRobotsOnly
      ? { allowed: true, unavailable: false, reason, fetchAs, annotation: 'robotExcluded' }
      : { allowed: false, unavailable: false, reason, fetchAs };
  }

  /** Seconds of Crawl-delay for us (CRAWL-7.1 step 3), if the server or the operator's own text names them. */
  crawlDelay(url: string): number | undefined {
    const robots = hasRobots(url) ? this.#robotsOf(url) : undefined;
    if (robots === undefined || robots.state === 'unavailable') return undefined;
    const rules = robots.state === 'rules' ? robots.rules : RobotsTxt.ALLOW_ALL;
    return this.#policyOf(this.options.settingsFor(url)).crawlDelay(rules);
  }

  /** CRAWL-12.2: a contact with the URL's server is over; failed ones in a row are counted. */
  contact(url: string, ok: boolean): void {
    const server = this.#server(serverOf(url));
    server.connectionErrors = ok ? 0 : server.connectionErrors + 1;
    server.lastContact = this.#now();
  }

  /** CRAWL-16.6: counts a URI that was handed back. */
  note(event: CountedEvent & Pick<DocumentEvent, 'url'>): void {
    const at = serverOf(event.url);
    if (at.host === '') return;
    countEvent(this.#server(at).traffic, event);
    countEvent(this.#host(at.host).traffic, event);
  }

  /** CRAWL-11.3: what was counted of the URL's server. */
  serverTraffic(url: string): Readonly<Traffic> {
    return this.#servers.peek(serverOf(url).server)?.traffic ?? NO_TRAFFIC;
  }

  /** CRAWL-11.3: what was counted of the URL's host, over all its ports and schemes. */
  hostTraffic(url: string): Readonly<Traffic> {
    return this.#hosts.peek(serverOf(url).host)?.traffic ?? NO_TRAFFIC;
  }

  /** CRAWL-12.2: the next emission time of the URL's host, milliseconds since 1970; 0: none. */
  hostEmission(url: string): number {
    return this.#hosts.peek(serverOf(url).host)?.emission ?? 0;
  }

  /** Keeps what `politenessDelay` returned. */
  setHostEmission(url: string, emission: number): void {
    const { host } = serverOf(url);
    if (host !== '' && (emission > 0 || this.#hosts.peek(host) !== undefined))
      this.#host(host).emission = emission;
  }

  /** CRAWL-12.2, 16.6: the servers used last come first. Default limit 100; `match` is a part of the name, in any case. */
  report({
    limit = 100,
    match = '',
  }: {
    readonly limit?: number;
    readonly match?: string;
  } = {}): HostReport[] {
    const wanted = match.toLowerCase();
    const reports: HostReport[] = [];
    // The most recently used first.
    for (const [server, record] of this.#servers.entries()) {
      if (reports.length >= limit) break;
      if (server.includes(wanted)) reports.push(this.#report(server, record));
    }
    return reports;
  }

  /**
   * CRAWL-17.2: what a checkpoint keeps: counters and wait times. robots.txt is fetched anew, names are looked up anew. As many
   * entries as the cache has, those used longest ago first.
   */
  snapshot(): ServerCacheSnapshot {
    return {
      version: 1,
      servers: this.#servers.dump().map(
        ([
          server,
          {
            value: { traffic, connectionErrors, lastContact },
          },
        ]) => ({
          server,
          traffic: { ...traffic },
          connectionErrors,
          lastContact,
        }),
      ),
      hosts: this.#hosts.dump().map(
        ([
          host,
          {
            value: { traffic, emission },
          },
        ]) => ({
          host,
          traffic: { ...traffic },
          emission,
        }),
      ),
    };
  }

  /**
   * Takes over what {@link snapshot} returned, in place of what is known of the same servers and hosts.
   * @throws StorageError when it is nothing of that kind
   */
  restore(snapshot: unknown): void {
    const result = snapshotSchema.safeParse(snapshot);
    if (!result.success)
      throw new StorageError(`the servers of a checkpoint: ${z.prettifyError(result.error)}`);
    for (const { server, ...record } of result.data.servers) this.#servers.set(server, record);
    for (const { host, ...record } of result.data.hosts) this.#hosts.set(host, record);
  }

  #report(server: string, { traffic, connectionErrors, lastContact }: ServerRecord): HostReport {
    const { host, origins } = partsOf(server);
    const robots = origins.map((origin) => this.#robots.peek(origin)).find((state) => state !== undefined);
    const pending = origins.some((origin) => this.#robots.pending(origin));
    const origin = origins[0] ?? '';
    const crawlDelay = robots?.state === 'rules' ? this.crawlDelay(`${origin}/`) : undefined;
    return {
      server,
      addresses: this.addresses.of(host),
      robots: robots?.state ?? (pending ? 'pending' : 'none'),
      ...(crawlDelay === undefined ? {} : { crawlDelay }),
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
    return this.options.userAgent ?? this.options.robotsAgent;
  }

  #robotsOf(url: string): RobotsState | undefined {
    return this.#robots.of(serverOf(url).origin, this.options.settingsFor(url));
  }

  #policyOf(settings: CrawlSettings): RobotsPolicy {
    let policy = this.#policies.get(settings);
    if (policy === undefined) {
      policy = new RobotsPolicy({
        policy: settings.robotsPolicy,
        userAgent: this.options.robotsAgent,
        userAgents: settings.userAgents,
        masquerade: settings.masquerade,
        ...(settings.robotsPolicy === 'custom'
          ? { customRobots: this.#customRobots(settings.customRobots) }
          : {}),
      });
      this.#policies.set(settings, policy);
    }
    return policy;
  }

  #customRobots(text: string): RobotsTxt {
    let robots = this.#custom.get(text);
    if (robots === undefined) {
      robots = parseRobots(text);
      this.#custom.set(text, robots);
    }
    return robots;
  }

  #server({ server }: ServerOfUrl): ServerRecord {
    let record = this.#servers.get(server);
    if (record === undefined) {
      record = { traffic: noTraffic(), connectionErrors: 0, lastContact: 0 };
      this.#servers.set(server, record);
    }
    return record;
  }

  #host(host: string): HostRecord {
    let record = this.#hosts.get(host);
    if (record === undefined) {
      record = { traffic: noTraffic(), emission: 0 };
      this.#hosts.set(host, record);
    }
    return record;
  }

  #now(): number {
    return this.options.now?.() ?? Date.now();
  }
}
