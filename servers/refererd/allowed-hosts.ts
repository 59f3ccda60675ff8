import { createPeer, type NameLookup, plainAddress, systemLookup } from '../host/index.js';
import { type HostnamePattern, parseHostnamePatterns } from './hostname-patterns.js';

/** milliseconds after which a peer has no name. */
const NAME_TIMEOUT_MS = 5000;
/** Decisions by name are kept so long, so that one request a connection does not cost one name look-up each. */
const KEPT_MS = 60_000;
const MAX_KEPT = 10_000;

export interface AllowedHostsOptions {
  readonly lookup?: NameLookup;
  /** Milliseconds; default 5000. */
  readonly nameTimeoutMs?: number;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

/** who may talk to the server. */
export class AllowedHosts {
  readonly #patterns: readonly HostnamePattern[];
  readonly #byName: readonly HostnamePattern[];
  readonly #lookup: NameLookup;
  readonly #nameTimeoutMs: number;
  readonly #now: () => number;
  readonly #kept = new Map<string, { readonly allowed: boolean; readonly until: number }>();

  /** @param list the text of the list; `undefined` when there is none, then every host is refused */
  constructor(list: string | undefined, options: AllowedHostsOptions = {}) {
    this.#patterns = list === undefined ? [] : parseHostnamePatterns(list);
    // names are asked for only if some pattern contains a letter.
    this.#byName = this.#patterns.some(({ hasLetter }) => hasLetter) ? this.#patterns : [];
    this.#lookup = options.lookup ?? systemLookup(NAME_TIMEOUT_MS);
    this.#nameTimeoutMs = options.nameTimeoutMs ?? NAME_TIMEOUT_MS;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Everybody, for a server that listens on loopback and has no list. */
  static everybody(): AllowedHosts {
    return new AllowedHosts('*');
  }

  /** At once where the address decides; otherwise a promise that asks for the name. */
  decide(address: string): boolean | Promise<boolean> {
    const plain = plainAddress(address).toLowerCase();
    if (this.#patterns.some((pattern) => pattern.matches(plain))) return true;
    if (this.#byName.length === 0) return false;
    const kept = this.#kept.get(plain);
    if (kept !== undefined && kept.until > this.#now()) return kept.allowed;
    return this.#decideByName(plain);
  }

  async #decideByName(address: string): Promise<boolean> {
    const name = await within(this.#nameTimeoutMs, createPeer(address, 0, this.#lookup).name());
    const allowed = name !== undefined && this.#byName.some((pattern) => pattern.matches(name));
    this.#kept.delete(address);
    if (this.#kept.size >= MAX_KEPT) {
      const [oldest] = this.#kept.keys();
      if (oldest !== undefined) this.#kept.delete(oldest);
    }
    this.#kept.set(address, { allowed, until: this.#now() + KEPT_MS });
    return allowed;
  }
}

/** What the promise gives, or `undefined` after so many milliseconds or a failure. */
async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), milliseconds);
  });
  try {
    return await Promise.race([promise, late]);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
