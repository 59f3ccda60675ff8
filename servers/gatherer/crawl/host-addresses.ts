import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';

/** A look-up that takes longer counts as unresolved: the name then stands for itself. */
const LOOKUP_TIMEOUT_MS = 3_000;
/** Look-ups at one time; each holds a thread of the pool that also reads and writes the store. */
const LOOKUPS_AT_ONCE = 2;

/**
 * G-33: hosts are counted by address, so that aliases count once. A host's identity is that of the first host met
 * that shares an address with it; a name that does not resolve stands for itself. Each name is resolved once a run.
 */
export class HostAddresses {
  readonly #addresses = new Map<string, readonly string[]>();
  readonly #pending = new Map<string, Promise<void>>();
  readonly #identities = new Map<string, string>();
  readonly #byAddress = new Map<string, string>();
  #running = 0;
  readonly #turns: (() => void)[] = [];

  /** Makes {@link identity} and {@link of} ready to answer for these names. */
  async resolve(hostnames: Iterable<string>): Promise<void> {
    const waits: Promise<void>[] = [];
    for (const hostname of hostnames) {
      if (this.#addresses.has(hostname)) continue;
      let pending = this.#pending.get(hostname);
      if (pending === undefined) {
        pending = this.#resolveOne(hostname);
        this.#pending.set(hostname, pending);
      }
      waits.push(pending);
    }
    if (waits.length > 0) await Promise.all(waits);
  }

  /** True when the name needs no look-up any more. */
  knows(hostname: string): boolean {
    return this.#addresses.has(hostname);
  }

  /** The name's addresses, sorted; empty when it does not resolve or was not asked for. */
  of(hostname: string): readonly string[] {
    return this.#addresses.get(hostname) ?? [];
  }

  /** What the host is counted as. */
  identity(hostname: string): string {
    const known = this.#identities.get(hostname);
    if (known !== undefined) return known;
    const addresses = this.of(hostname);
    const alias = addresses.map((address) => this.#byAddress.get(address)).find((name) => name !== undefined);
    const identity = alias ?? addresses[0] ?? hostname;
    for (const address of addresses) this.#byAddress.set(address, identity);
    if (this.knows(hostname)) this.#identities.set(hostname, identity);
    return identity;
  }

  async #resolveOne(hostname: string): Promise<void> {
    const bare = hostname.replace(/^\[|\]$/g, '');
    let addresses: readonly string[] = [];
    if (isIP(bare) !== 0) {
      addresses = [bare];
    } else {
      if (this.#running >= LOOKUPS_AT_ONCE) await new Promise<void>((turn) => this.#turns.push(turn));
      this.#running++;
      addresses = await lookUp(bare);
      this.#running--;
      this.#turns.shift()?.();
    }
    this.#addresses.set(hostname, addresses);
    this.#pending.delete(hostname);
  }
}

async function lookUp(hostname: string): Promise<readonly string[]> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<readonly string[]>((resolve) => {
    timer = setTimeout(() => resolve([]), LOOKUP_TIMEOUT_MS);
  });
  const found = lookup(hostname, { all: true }).then(
    (list) => list.map(({ address }) => address).sort(),
    () => [],
  );
  const addresses = await Promise.race([found, timeout]);
  clearTimeout(timer);
  return addresses;
}
