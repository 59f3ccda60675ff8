// Decides which addresses the requests of a crawl may reach (G-174), so that the decision outlives a restart.
import { LRUCache } from 'lru-cache';
import { type HostKnowledge, isPrivateHost, mustBePublic } from '../../../clients/fetch/index.js';
import { hostOf } from '../../../protocols/urls/index.js';
import { NETWORK, type QueuedUri } from '../../../storage/index.js';
import type { CrawlUri } from '../../crawler/crawl-uri.js';

/** The largest number of hosts that are known to be public; the least recently used are forgotten first. */
const MAX_PINNED_HOSTS = 100_000;

/**
 * G-174: public pages do not lead to private addresses. Whether a page is public is decided when its links are
 * found, by the address it came from, and stored with each URI: after a restart the page has no address, and
 * the owner of its name may have given it another one.
 */
export class NetworkReach {
  readonly #addressesOf: (host: string) => readonly string[];
  readonly #isConfigured: (host: string) => boolean;
  /** Hosts that had to be public; they stay so, whatever their names resolve to later. */
  readonly #pinned = new LRUCache<string, true>({ max: MAX_PINNED_HOSTS });
  readonly #known: HostKnowledge;

  /**
   * @param addressesOf the known addresses of a host
   * @param isConfigured whether the configuration names the host
   */
  constructor(addressesOf: (host: string) => readonly string[], isConfigured: (host: string) => boolean) {
    this.#addressesOf = addressesOf;
    this.#isConfigured = isConfigured;
    this.#known = { addresses: addressesOf, isConfigured, isPinned: (host) => this.#pinned.has(host) };
  }

  /** Returns the `NETWORK` of a URI that the configuration names. */
  ofSeed(url: string): number {
    return mustBePublic('', url, this.#known) ? NETWORK.publicOnly : NETWORK.any;
  }

  /** Returns the `NETWORK` of a link on the page; undefined if the page may not lead to it. */
  ofLink(page: CrawlUri, to: string): number | undefined {
    const from = page.url;
    // Only a file may lead to a file of this machine.
    if (to.startsWith('file:')) return from.startsWith('file:') ? NETWORK.any : undefined;
    const host = hostOf(to);
    const known = this.#knownOf(page);
    const samePublicHost = host === hostOf(from) && this.#isRequired(page.entry.uri);
    if (!samePublicHost && !mustBePublic(from, to, known)) return NETWORK.any;
    return isPrivateHost(host, this.#addressesOf) ? undefined : NETWORK.publicOnly;
  }

  /**
   * Whether the request for a queued URI, and for the robots.txt of its server, must not reach private
   * addresses.
   */
  mustBePublic(uri: QueuedUri): boolean {
    const required = this.#isRequired(uri);
    if (required) this.#pinned.set(hostOf(uri.url), true);
    return required;
  }

  #isRequired({ url, via, network }: QueuedUri): boolean {
    if (network === NETWORK.publicOnly) return true;
    // Found on a private page: only a configured host that was public must stay so.
    if (network === NETWORK.any && !this.#isConfigured(hostOf(url))) return false;
    return mustBePublic(network === NETWORK.any ? '' : via, url, this.#known);
  }

  /** The known facts when the links of a page are found: also the address from which it came. */
  #knownOf(page: CrawlUri): HostKnowledge {
    const address = page.fetched?.local === true ? undefined : page.fetched?.remoteAddress;
    if (address === undefined || address === '') return this.#known;
    const host = hostOf(page.url);
    return {
      ...this.#known,
      addresses: (name) => (name === host ? [...this.#addressesOf(name), address] : this.#addressesOf(name)),
    };
  }
}
