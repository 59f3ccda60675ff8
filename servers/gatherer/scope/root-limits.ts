import { isIP } from 'node:net';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { RootNode, UrlFilter } from '../../../protocols/config/index.js';
import { type AccessMethod, accessMethod, queryOf } from '../../../protocols/urls/index.js';
import type { GathererBatch, GathererStore, MetaChange } from '../../../storage/index.js';
import type { SharedAdmission, SharedCounters } from './shared-admission.js';

/** Why a link does not become a LeafNode of its RootNode; shown in the log (G-148). */
export type Refusal =
  | 'url-max'
  | 'host-max'
  | 'depth'
  | 'access'
  | 'url-filter'
  | 'host-filter'
  /** The rules of the crawl's order. */
  | 'scope'
  /** A guess that follows another one (CRAWL-10.2.3). */
  | 'speculative'
  /** Too many URIs that differ only in their numbers (G-173). */
  | 'pattern'
  /** Too many links in one document (G-173). */
  | 'outlinks'
  /** Documents of which not all links could be read (CRAWL-22.13). */
  | 'unread'
  /** A login in the link; the link is followed without it (G-81). */
  | 'login'
  /** Hidden files and directories of this machine. */
  | 'hidden'
  /** A part of the path repeats itself (G-173). */
  | 'repeated-path'
  /** A private address, linked from a public host (G-174). */
  | 'private';

/** A RootNode's counters, which are stored so that an interrupted run continues with them. */
export interface RootProgress {
  readonly urls: number;
  readonly hosts: readonly string[];
  readonly names: readonly string[];
  /** Number of stored rows of hosts. */
  readonly rows: number;
}

/** The part of {@link HostAddresses} that the limits use. */
export interface KnownAddresses {
  addressesOf(hostname: string): readonly string[];
  identity(hostname: string): string;
}

/** A RootNode with its filter files loaded. */
export interface RootRules {
  readonly root: RootNode;
  readonly urlFilter: UrlFilter | undefined;
  readonly hostFilter: UrlFilter | undefined;
}

/** Number of remembered visits; only those of the URIs in process matter. */
const MAX_VISITS = 1000;

const DEFAULT_PORTS: Readonly<Record<string, string>> = {
  'http:': '80',
  'https:': '443',
  'ftp:': '21',
  'gopher:': '70',
};

/**
 * The enumeration limits of one RootNode (G-27 to G-38): URLs, hosts, depth, access methods, filters.
 * Everything is synchronous, so that a check and the following {@link countUrl} are atomic; names must be
 * resolved beforehand.
 */
export class RootLimits implements SharedCounters {
  readonly #addresses: KnownAddresses;
  readonly refused = new Map<Refusal, number>();
  readonly #hosts: Set<string>;
  /** Names of the counted hosts. */
  readonly #names: Set<string>;
  /** G-27: the server of a local or news RootNode, which has no host, is one of Host-Max as well. */
  readonly #ownServer: 0 | 1;
  /** Number of URLs generated so far. */
  urls: number;
  #dirty = false;
  /** Hosts and names that are not stored yet. */
  #newHosts: string[] = [];
  #newNames: string[] = [];
  #rows: number;
  /** Of a crawl that several processes share, with the number of the RootNode. */
  #shared: { readonly admission: SharedAdmission; readonly root: number } | undefined;
  /** The latest visits, which are repeated at once when robots.txt had to be fetched first. */
  readonly #visited = new LRUCache<string, true>({ max: MAX_VISITS });

  constructor(
    readonly rules: RootRules,
    addresses: KnownAddresses,
    progress?: RootProgress,
  ) {
    this.#addresses = addresses;
    this.#ownServer = hasHost(new URL(rules.root.url)) ? 0 : 1;
    this.#rows = progress?.rows ?? 0;
    this.urls = progress?.urls ?? 0;
    this.#hosts = new Set(progress?.hosts ?? []);
    this.#names = new Set(progress?.names ?? []);
  }

  /** Number of hosts so far, with that of the RootNode. */
  get hosts(): number {
    return this.#hosts.size + this.#ownServer;
  }

  /** From now on the counters are those of all processes that share the crawl, and {@link store} does nothing. */
  share(admission: SharedAdmission, root: number): void {
    this.#shared = { admission, root };
  }

  /** Begins to count in the store. */
  reset(meta: MetaChange): void {
    meta.put(progressKey(this.#shared!.root), JSON.stringify({ urls: 0, rows: 0 }));
  }

  async renew(meta: MetaChange): Promise<void> {
    const stored = await readProgress(meta, this.#shared!.root, this.#rows);
    for (const host of this.#newHosts) this.#hosts.delete(host);
    for (const name of this.#newNames) this.#names.delete(name);
    this.#forgetNew();
    this.urls = stored?.urls ?? 0;
    this.#rows = stored?.rows ?? 0;
    for (const host of stored?.hosts ?? []) this.#hosts.add(host);
    for (const name of stored?.names ?? []) this.#names.add(name);
  }

  put(meta: MetaChange): void {
    if (!this.#dirty) return;
    const { root } = this.#shared!;
    // They are new until the next change finds them in the store.
    const isNew = this.#newHosts.length + this.#newNames.length > 0;
    const rows = this.#rows + (isNew ? 1 : 0);
    if (isNew)
      meta.put(
        `${progressKey(root)}.${rows}`,
        JSON.stringify({ hosts: this.#newHosts, names: this.#newNames }),
      );
    meta.put(progressKey(root), JSON.stringify({ urls: this.urls, rows }));
  }

  /** Puts the counters into the batch if they changed; new hosts form a new row. */
  store(root: number, batch: GathererBatch): void {
    if (!this.#dirty || this.#shared !== undefined) return;
    this.#dirty = false;
    if (this.#newHosts.length + this.#newNames.length > 0) {
      this.#rows++;
      const row = { hosts: this.#newHosts, names: this.#newNames };
      batch.putMeta(`${progressKey(root)}.${this.#rows}`, JSON.stringify(row));
      this.#forgetNew();
    }
    batch.putMeta(progressKey(root), JSON.stringify({ urls: this.urls, rows: this.#rows }));
  }

  #forgetNew(): void {
    this.#dirty = false;
    this.#newHosts = [];
    this.#newNames = [];
  }

  /**
   * Checks the limits that require no look-up for a URL that is `depth` steps from the RootNode. Only URL-Max
   * applies to the RootNode itself (depth 0).
   *
   * @param isEmbedded - whether a page shows it, and such documents are wanted: the default filter, which
   *   denies images, does not apply
   */
  refusal(url: URL, depth: number, isEmbedded = false): Refusal | undefined {
    const { root, urlFilter } = this.rules;
    // G-32: URL-Max limits what enumeration generates, over all depths.
    if (this.urls >= root.urlMax) return 'url-max';
    if (depth === 0) return undefined;
    // G-34: Depth=0 is unlimited.
    if (root.depth > 0 && depth > root.depth) return 'depth';
    if (!isFollowed(root, accessMethod(url.href))) return 'access';
    // G-44, G-48: the filter is applied to the path with its query.
    const isFiltered = root.urlFilter !== undefined || !isEmbedded;
    if (isFiltered && urlFilter?.allows(url.pathname + queryOf(url)) === false) return 'url-filter';
    return undefined;
  }

  /**
   * Whether the name must be resolved before {@link hostRefusal} can decide. Below Host-Max it must, because
   * the host would be contacted anyway. At Host-Max only an alias of a counted host can pass (G-33), and a page
   * may name hundreds of foreign hosts whose look-ups may hang: only names without a dot, or of a counted
   * host's domain, are resolved then.
   */
  needsAddress(hostname: string): boolean {
    if (this.hosts < this.rules.root.hostMax || !hostname.includes('.') || isIP(hostname) !== 0) return true;
    const domain = domainOf(hostname);
    for (const name of this.#names) if (domainOf(name) === domain) return true;
    return false;
  }

  /** Checks the limits on hosts (G-33, G-45). */
  hostRefusal(url: URL, depth: number): Refusal | undefined {
    if (!hasHost(url)) return undefined;
    if (!this.#hosts.has(this.#addresses.identity(url.hostname)) && this.hosts >= this.rules.root.hostMax)
      return 'host-max';
    const { hostFilter } = this.rules;
    if (depth > 0 && hostFilter !== undefined) {
      // G-45: `name:port` and `address:port` are tried; a line matches if either does.
      const port = url.port === '' ? (DEFAULT_PORTS[url.protocol] ?? '') : url.port;
      const addresses = this.#addresses.addressesOf(url.hostname).map((address) => `${address}:${port}`);
      if (!hostFilter.allows(`${url.hostname}:${port}`, ...addresses)) return 'host-filter';
    }
    return undefined;
  }

  /**
   * Whether URLs count when they are gathered, not when they are found. A search in depth would otherwise end
   * at the links of its first pages, and never be deep (G-30, G-32).
   */
  get countsVisits(): boolean {
    return this.rules.root.search === 'depth';
  }

  /**
   * Counts a URL of a search in depth that is gathered now. Returns false if URL-Max is reached.
   * @param isRepeated whether an earlier attempt was counted
   */
  async countVisit(href: string, isRepeated: boolean): Promise<boolean> {
    if (isRepeated || this.#visited.has(href)) return true;
    const isLeft = (): boolean => this.urls < this.rules.root.urlMax;
    const isCounted = await this.#decide(isLeft, () => this.#count(new URL(href)));
    if (isCounted) this.#visited.set(href, true);
    else this.countRefusal('url-max');
    return isCounted;
  }

  /**
   * Counts a new URL and its host unless something refuses it. In a crawl that several processes share this is decided in
   * the store.
   *
   * @param isSeed whether it is the RootNode itself
   */
  async admit(url: URL, refusalNow: () => Refusal | undefined, isSeed = false): Promise<Refusal | undefined> {
    let refusal: Refusal | undefined;
    const isAllowed = (): boolean => {
      refusal = refusalNow();
      return refusal === undefined;
    };
    await this.#decide(isAllowed, () => this.countUrl(url, isSeed));
    return refusal;
  }

  /** Counters only grow: what is refused by those that are known here stays refused. */
  async #decide(isAllowed: () => boolean, count: () => void): Promise<boolean> {
    const decide = (): boolean => {
      const allowed = isAllowed();
      if (allowed) count();
      return allowed;
    };
    if (this.#shared === undefined) return decide();
    return isAllowed() && this.#shared.admission.decide(this, decide);
  }

  #count(url: URL): void {
    // G-26: a directory is expanded to LeafNodes and is not one itself.
    if (url.protocol !== 'file:' || !url.pathname.endsWith('/')) this.urls++;
    this.#dirty = true;
  }

  /** Counts an accepted URL and its host. @param isSeed whether it is the RootNode itself */
  countUrl(url: URL, isSeed = false): void {
    if (isSeed || !this.countsVisits) this.#count(url);
    this.#dirty = true;
    if (!hasHost(url)) return;
    if (!this.#names.has(url.hostname)) this.#newNames.push(url.hostname);
    this.#names.add(url.hostname);
    const host = this.#addresses.identity(url.hostname);
    if (!this.#hosts.has(host)) this.#newHosts.push(host);
    this.#hosts.add(host);
  }

  /** Counts refused links. */
  countRefusal(reason: Refusal, count = 1): void {
    this.refused.set(reason, (this.refused.get(reason) ?? 0) + count);
  }
}

/** Whether Host-Max counts the host of a URL. */
function hasHost(url: URL): boolean {
  return url.hostname !== '' && url.protocol !== 'file:';
}

const progressKey = (root: number): string => `root.${root}`;

const storedProgress = z.object({
  urls: z.number(),
  rows: z.number().default(0),
  // Older versions wrote everything in one row.
  hosts: z.array(z.string()).default([]),
  names: z.array(z.string()).default([]),
});
const storedHosts = z.object({ hosts: z.array(z.string()), names: z.array(z.string()) });

/**
 * Reads the counters that {@link RootLimits.store} wrote; undefined if there are no counters.
 *
 * @param after the number of rows of hosts that are known already
 */
export async function readProgress(
  meta: Pick<GathererStore['meta'], 'get'>,
  root: number,
  after = 0,
): Promise<RootProgress | undefined> {
  const stored = await meta.get(progressKey(root));
  if (typeof stored !== 'string') return undefined;
  const { urls, rows, hosts, names } = storedProgress.parse(JSON.parse(stored));
  for (let row = after + 1; row <= rows; row++) {
    const text = await meta.get(`${progressKey(root)}.${row}`);
    const more = storedHosts.parse(JSON.parse(String(text)));
    hosts.push(...more.hosts);
    names.push(...more.names);
  }
  return { urls, hosts, names, rows };
}

/**
 * G-36: Access limits the links of an HTTP RootNode; other RootNodes always follow their own method, and those of
 * Gopher no other (G-37).
 */
function isFollowed({ url, access }: RootNode, method: AccessMethod): boolean {
  const rootMethod = accessMethod(url);
  if (rootMethod === 'gopher') return method === 'gopher';
  if (access.includes(method)) return true;
  return rootMethod !== 'http' && rootMethod !== 'https' && rootMethod === method;
}

/** Returns the last two labels, which a site's aliases usually share. */
function domainOf(hostname: string): string {
  return hostname.split('.').slice(-2).join('.');
}
