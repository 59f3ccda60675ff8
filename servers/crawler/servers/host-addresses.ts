import { lookup as systemLookup } from 'node:dns/promises';
import { isIP, isIPv4 } from 'node:net';
import type { LRUCache } from 'lru-cache';
import { lruCache } from '../lru.js';

/** The result of a look-up. */
interface LookedUp {
  /** Addresses as text, in any order; empty if the name does not resolve. */
  readonly addresses: readonly string[];
  /** Time to live, seconds; absent if it is not known (CRAWL-12.3). */
  readonly ttlSeconds?: number | undefined;
}

/** Resolves a name. A rejection means that it does not resolve. */
type Lookup = (hostname: string) => Promise<LookedUp>;

export interface HostAddressesOptions {
  /** Default: the system's. */
  readonly lookup?: Lookup;
  /** Timeout of a look-up, milliseconds; the name then counts as unresolved. Default 3000. */
  readonly timeoutMs?: number;
  /** Concurrent look-ups; each of the system's occupies a thread of the pool that the store uses too. Default 2. */
  readonly atOnce?: number;
  /** Validity of addresses, seconds (CRAWL-12.3). Default 0: they do not expire, and each name is resolved once per run. */
  readonly validitySeconds?: number | ((hostname: string) => number);
  /** Names in the cache. Default 100 000. */
  readonly maxHosts?: number;
  /** Milliseconds since 1970; default: the clock. */
  readonly now?: () => number;
}

/** CRAWL-12.3: time to live of an answer without one, as those of the system's look-up. */
const SYSTEM_TTL_SECONDS = 21_600;

interface Resolved {
  /** Sorted. */
  readonly addresses: readonly string[];
  /** Milliseconds since 1970. */
  readonly time: number;
  /** -1: never expires. */
  readonly ttlSeconds: number;
}

/**
 * Addresses of hosts (CRAWL-12.2, 12.3). G-33: hosts are counted by address, so that aliases count once. The identity of a host is that of the
 * first host with a common address; a name that does not resolve is its own identity. An identity does not change when addresses do.
 */
export class HostAddresses {
  readonly #resolved: LRUCache<string, Resolved>;
  readonly #identities: LRUCache<string, string>;
  readonly #byAddress: LRUCache<string, string>;
  readonly #pending = new Map<string, Promise<void>>();
  #running = 0;
  readonly #queue: (() => void)[] = [];

  constructor(readonly options: HostAddressesOptions = {}) {
    const { maxHosts = 100_000 } = options;
    this.#resolved = lruCache(maxHosts);
    this.#identities = lruCache(maxHosts);
    this.#byAddress = lruCache(maxHosts);
  }

  /**
   * Resolves these names for {@link identity} and {@link of}. Concurrent calls share look-ups.
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
    if (waits.length > 0) await unlessAborted(Promise.all(waits), signal);
  }

  /** Whether the name was looked up, successfully or not, and the answer has not expired (CRAWL-12.3). */
  knows(hostname: string): boolean {
    const resolved = this.#resolved.peek(hostname);
    if (resolved === undefined) return false;
    const { validitySeconds = 0 } = this.options;
    const validity = typeof validitySeconds === 'number' ? validitySeconds : validitySeconds(hostname);
    if (validity === 0 || resolved.ttlSeconds < 0) return true;
    return this.#now() < resolved.time + Math.max(validity, resolved.ttlSeconds) * 1000;
  }

  /** The name's addresses, sorted, expired or not; empty if it does not resolve or was not looked up. */
  of(hostname: string): readonly string[] {
    return this.#resolved.get(hostname)?.addresses ?? [];
  }

  /** CRAWL-9.5, 9.6: the first address as 4 or 16 bytes; undefined if none is known. */
  bytesOf(hostname: string): Uint8Array | undefined {
    const [address] = this.of(hostname);
    return address === undefined ? undefined : addressBytes(address);
  }

  /** The identity by which the host is counted. */
  identity(hostname: string): string {
    const known = this.#identities.get(hostname);
    if (known !== undefined) return known;
    const addresses = this.of(hostname);
    const alias = addresses.map((address) => this.#byAddress.get(address)).find((name) => name !== undefined);
    const identity = alias ?? addresses[0] ?? hostname;
    for (const address of addresses) this.#byAddress.set(address, identity);
    if (this.#resolved.peek(hostname) !== undefined) this.#identities.set(hostname, identity);
    return identity;
  }

  async #resolveOne(hostname: string): Promise<void> {
    const bare = hostname.replace(/^\[|\]$/g, '');
    const { atOnce = 2, timeoutMs = 3000, lookup = lookUpBySystem } = this.options;
    if (isIP(bare) !== 0) {
      this.#keep(hostname, { addresses: [bare], ttlSeconds: -1 });
    } else {
      // A look-up that ends passes its slot to the next one in the queue.
      if (this.#running >= atOnce) await new Promise<void>((start) => this.#queue.push(start));
      else this.#running++;
      const found = await inTime(lookup(bare), timeoutMs);
      const next = this.#queue.shift();
      if (next === undefined) this.#running--;
      else next();
      const ttlSeconds = found.addresses.length === 0 ? 0 : (found.ttlSeconds ?? SYSTEM_TTL_SECONDS);
      this.#keep(hostname, { addresses: [...found.addresses].sort(), ttlSeconds });
    }
    this.#pending.delete(hostname);
  }

  #keep(hostname: string, found: Omit<Resolved, 'time'>): void {
    this.#resolved.set(hostname, { ...found, time: this.#now() });
  }

  #now(): number {
    return this.options.now?.() ?? Date.now();
  }
}

async function lookUpBySystem(hostname: string): Promise<LookedUp> {
  const list = await systemLookup(hostname, { all: true });
  return { addresses: list.map(({ address }) => address) };
}

/** Returns the answer; a failure or a timeout counts as unresolved. */
async function inTime(answer: Promise<LookedUp>, timeoutMs: number): Promise<LookedUp> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<LookedUp>((resolve) => {
    timer = setTimeout(() => resolve({ addresses: [] }), timeoutMs);
  });
  const found = await Promise.race([answer.catch((): LookedUp => ({ addresses: [] })), timeout]);
  clearTimeout(timer);
  return found;
}

/** Waits for the promise or the signal. @throws the signal's reason */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  signal.throwIfAborted();
  let stop: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    if (stop !== undefined) signal.removeEventListener('abort', stop);
  }
}

/** Returns the bytes of an address. */
export function addressBytes(address: string): Uint8Array | undefined {
  if (isIPv4(address)) return Uint8Array.from(address.split('.'), Number);
  if (isIP(address) === 0) return undefined;
  // The URL parser converts an IPv4 tail to hexadecimal; a zone is not part of the address.
  const plain = new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname.slice(1, -1);
  const [head = '', tail] = plain.split('::');
  const left = wordsOf(head);
  const right = wordsOf(tail ?? '');
  const words = [...left, ...new Array<number>(8 - left.length - right.length).fill(0), ...right];
  return Uint8Array.from(words.flatMap((word) => [word >> 8, word & 0xff]));
}

function wordsOf(text: string): number[] {
  return text === '' ? [] : text.split(':').map((word) => Number.parseInt(word, 16));
}
