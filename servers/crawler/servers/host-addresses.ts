import { lookup as systemLookup } from 'node:dns/promises';
import { isIP, isIPv4 } from 'node:net';
import type { LRUCache } from 'lru-cache';
import { monotonicClock, steadyTime } from '../../../clients/connection/monotonic-clock.js';
import { Budget } from '../../../protocols/budget.js';
import { withTimeout } from '../../../protocols/clock.js';
import { untilAborted } from '../../../protocols/linked-abort.js';
import { lruCache } from '../lru.js';

/** The result of a look-up. */
interface LookupResult {
  /** Addresses as text, in any order; empty if the name does not resolve. */
  readonly addresses: readonly string[];
  /** Time to live, seconds; absent if it is not known (CRAWL-12.3). */
  readonly ttlSeconds?: number | undefined;
}

/** Resolves a name. A rejection means that it does not resolve. */
type Lookup = (hostname: string) => Promise<LookupResult>;

export interface HostAddressesOptions {
  /** Default: the look-up of the operating system. */
  readonly lookup?: Lookup;
  /** Timeout of a look-up, milliseconds; the name then counts as unresolved. Default 3000. */
  readonly timeoutMs?: number;
  /**
   * Maximum number of concurrent look-ups; each of the system's occupies a thread of the pool that the store
   * uses too. Default 2.
   */
  readonly maxConcurrent?: number;
  /**
   * Validity of addresses, seconds (CRAWL-12.3). Default 0: they do not expire, and each name is resolved once
   * per run.
   */
  readonly validitySeconds?: number | ((hostname: string) => number);
  /** Names in the cache. Default 100 000. */
  readonly maxHosts?: number;
  /**
   * Called with each answer of a look-up that has addresses; the name counts as resolved afterwards. It must
   * not reject.
   */
  readonly onResolved?: (hostname: string, addresses: readonly string[]) => Promise<void>;
  /** Milliseconds since 1970; default: the clock. */
  readonly now?: () => number;
}

/** CRAWL-12.3: time to live of an answer without one, such as an answer of the system's look-up. */
const SYSTEM_TTL_SECONDS = 21_600;

/** The result of a look-up that fails or takes too long. */
const UNRESOLVED: LookupResult = { addresses: [] };

interface Resolved {
  /** Sorted. */
  readonly addresses: readonly string[];
  /** Milliseconds since 1970. */
  readonly time: number;
  /** -1: never expires. */
  readonly ttlSeconds: number;
}

/**
 * Addresses of hosts (CRAWL-12.2, 12.3). G-33: hosts are counted by address, so that aliases count once. The
 * identity of a host is that of the first host with a common address; a name that does not resolve is its own
 * identity. An identity does not change when addresses do.
 */
export class HostAddresses {
  readonly #options: HostAddressesOptions;
  readonly #resolved: LRUCache<string, Resolved>;
  readonly #identities: LRUCache<string, string>;
  readonly #byAddress: LRUCache<string, string>;
  readonly #pending = new Map<string, Promise<void>>();
  readonly #lookUps: Budget;

  constructor(options: HostAddressesOptions = {}) {
    this.#options = options;

    const { maxHosts = 100_000, maxConcurrent = 2 } = options;
    this.#lookUps = new Budget(maxConcurrent);
    this.#resolved = lruCache(maxHosts);
    this.#identities = lruCache(maxHosts);
    this.#byAddress = lruCache(maxHosts);
  }

  /**
   * Resolves these names for {@link identity} and {@link addressesOf}. Concurrent calls share look-ups.
   * @param signal ends the wait, not the look-ups, which other callers may wait for
   */
  async resolve(hostnames: Iterable<string>, signal?: AbortSignal): Promise<void> {
    const waits: Promise<void>[] = [];
    for (const hostname of hostnames) {
      if (this.knows(hostname)) continue;
      let pending = this.#pending.get(hostname);
      if (pending === undefined) {
        pending = this.#resolveOne(hostname);
        this.#pending.set(hostname, pending);
      }
      waits.push(pending);
    }
    if (waits.length > 0) await untilAborted(() => Promise.all(waits), signal);
  }

  /** Whether the name was looked up, successfully or not, and the answer has not expired (CRAWL-12.3). */
  knows(hostname: string): boolean {
    const resolved = this.#resolved.peek(hostname);
    if (resolved === undefined) return false;
    const { validitySeconds = 0 } = this.#options;
    const validity = typeof validitySeconds === 'number' ? validitySeconds : validitySeconds(hostname);
    if (validity === 0 || resolved.ttlSeconds < 0) return true;
    return this.#now() < resolved.time + Math.max(validity, resolved.ttlSeconds) * 1000;
  }

  /**
   * Returns the addresses of a name, sorted, expired or not; empty if it does not resolve or was not looked up.
   */
  addressesOf(hostname: string): readonly string[] {
    return this.#resolved.get(hostname)?.addresses ?? [];
  }

  /** CRAWL-9.5, 9.6: returns the first address as 4 or 16 bytes; undefined if no address is known. */
  bytesOf(hostname: string): Uint8Array | undefined {
    const [address] = this.addressesOf(hostname);
    return address === undefined ? undefined : addressBytes(address);
  }

  /** Returns the identity by which the host is counted. */
  identity(hostname: string): string {
    const known = this.#identities.get(hostname);
    if (known !== undefined) return known;
    const addresses = this.addressesOf(hostname);
    const alias = addresses.map((address) => this.#byAddress.get(address)).find((name) => name !== undefined);
    const identity = alias ?? addresses[0] ?? hostname;
    for (const address of addresses) this.#byAddress.set(address, identity);
    if (this.#resolved.peek(hostname) !== undefined) this.#identities.set(hostname, identity);
    return identity;
  }

  async #resolveOne(hostname: string): Promise<void> {
    const name = hostname.replace(/^\[|\]$/g, '');
    const { timeoutMs = 3000, lookup = lookUpWithSystem } = this.#options;
    if (isIP(name) !== 0) {
      this.#keep(hostname, { addresses: [name], ttlSeconds: -1 });
    } else {
      const found = await this.#lookUps.run(1, () =>
        withTimeout(
          monotonicClock,
          timeoutMs,
          lookup(name).catch(() => UNRESOLVED),
          () => UNRESOLVED,
        ),
      );
      const ttlSeconds = found.addresses.length === 0 ? 0 : (found.ttlSeconds ?? SYSTEM_TTL_SECONDS);
      const addresses = [...found.addresses].sort();
      if (addresses.length > 0) await this.#options.onResolved?.(name, addresses);
      this.#keep(hostname, { addresses, ttlSeconds });
    }
    this.#pending.delete(hostname);
  }

  #keep(hostname: string, found: Omit<Resolved, 'time'>): void {
    this.#resolved.set(hostname, { ...found, time: this.#now() });
  }

  #now(): number {
    return this.#options.now?.() ?? steadyTime();
  }
}

async function lookUpWithSystem(hostname: string): Promise<LookupResult> {
  const list = await systemLookup(hostname, { all: true });
  return { addresses: list.map(({ address }) => address) };
}

/** Returns the bytes of an IP address; undefined if the text is not one. */
export function addressBytes(address: string): Uint8Array | undefined {
  if (isIPv4(address)) return Uint8Array.from(address.split('.'), Number);
  if (isIP(address) === 0) return undefined;
  // The URL parser converts an IPv4 tail to hexadecimal; a zone is not part of the address.
  const plain = new URL(`http://[${address.replace(/%.*$/s, '')}]`).hostname.slice(1, -1);
  const [head = '', tail] = plain.split('::');
  const left = parseGroups(head);
  const right = parseGroups(tail ?? '');
  const words = [...left, ...new Array<number>(8 - left.length - right.length).fill(0), ...right];
  return Uint8Array.from(words.flatMap((word) => [word >> 8, word & 0xff]));
}

function parseGroups(text: string): number[] {
  return text === '' ? [] : text.split(':').map((word) => Number.parseInt(word, 16));
}
