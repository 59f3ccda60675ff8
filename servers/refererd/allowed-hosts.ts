// Decides which hosts may connect.
import { LRUCache } from 'lru-cache';
import { monotonicClock } from '../../clients/connection/monotonic-clock.js';
import { withTimeout } from '../../protocols/clock.js';
import { createPeer, type NameLookup, plainAddress, systemLookup } from '../host/peer.js';
import { type HostnamePattern, parseHostnamePatterns } from './hostname-patterns.js';

/** a peer whose name is not found in this time counts as nameless. */
const NAME_TIMEOUT_MS = 5000;
/** Decisions by name are cached, because with one request per connection each would cost a lookup. */
const CACHE_MS = 60_000;
const MAX_CACHED = 10_000;

export interface AllowedHostsOptions {
  readonly lookup?: NameLookup;
  /** Milliseconds; default 5000. */
  readonly nameTimeoutMs?: number;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

/** decides which hosts may connect, by address and, if the list has names, by name. */
export class AllowedHosts {
  readonly #patterns: readonly HostnamePattern[];
  readonly #byName: readonly HostnamePattern[];
  readonly #lookup: NameLookup;
  readonly #nameTimeoutMs: number;
  readonly #decisions: LRUCache<string, boolean>;

  /** @param list text of the list; undefined refuses every host */
  constructor(list: string | undefined, options: AllowedHostsOptions = {}) {
    this.#patterns = list === undefined ? [] : parseHostnamePatterns(list);
    // names are looked up only if some pattern contains a letter.
    this.#byName = this.#patterns.some(({ hasLetter }) => hasLetter) ? this.#patterns : [];
    this.#lookup = options.lookup ?? systemLookup(NAME_TIMEOUT_MS);
    this.#nameTimeoutMs = options.nameTimeoutMs ?? NAME_TIMEOUT_MS;
    const { now = () => performance.now() } = options;
    this.#decisions = new LRUCache({ max: MAX_CACHED, ttl: CACHE_MS, ttlResolution: 0, perf: { now } });
  }

  /** Admits all hosts, for a server that listens on loopback and has no list. */
  static all(): AllowedHosts {
    return new AllowedHosts('*');
  }

  /** Decides about a host. Returns a promise only if the host's name has to be looked up. */
  decide(address: string): boolean | Promise<boolean> {
    const plain = plainAddress(address).toLowerCase();
    if (this.#patterns.some((pattern) => pattern.matches(plain))) return true;
    if (this.#byName.length === 0) return false;
    return this.#decisions.get(plain) ?? this.#decideByName(plain);
  }

  async #decideByName(address: string): Promise<boolean> {
    const known = createPeer(address, 0, this.#lookup)
      .name()
      .catch(() => undefined);
    const name = await withTimeout(monotonicClock, this.#nameTimeoutMs, known, () => undefined);
    const allowed = name !== undefined && this.#byName.some((pattern) => pattern.matches(name));
    this.#decisions.set(address, allowed);
    return allowed;
  }
}
