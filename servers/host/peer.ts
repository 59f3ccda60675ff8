// The peer of a connection: its address and its confirmed name (GATHERD-9.5).
import { promises as dns } from 'node:dns';
import { errorCode } from '../../protocols/errors.js';

/** The other end of a connection. */
export interface Peer {
  /**
   * IPv4 or IPv6 address, an IPv4 address mapped into IPv6 as IPv4; `-` for a peer without an address, such as
   * a pipe.
   */
  readonly address: string;
  readonly port: number;
  /**
   * The peer's host name in lower case: its reverse lookup, if that name resolves back to the address
   * (GATHERD-9.5); otherwise undefined. Looked up at the first call, once per connection.
   */
  name(): Promise<string | undefined>;
}

/** The two lookups of {@link Peer.name}. If one rejects, the peer has no name. */
export interface NameLookup {
  reverse(address: string): Promise<readonly string[]>;
  forward(name: string): Promise<readonly string[]>;
}

/** The address of a peer that has none. */
export const NO_ADDRESS = '-';

/** The largest number of names of a peer that are tried. */
const MAX_NAMES = 4;

/**
 * The lookup of the system: hosts file and DNS. The reverse entry is first queried without the thread pool,
 * which a name server that does not answer would block. After its answer the system is queried as well, because
 * the resolver omits the first name of a line of the hosts file (`127.0.0.1 localhost`).
 */
export function systemLookup(timeoutMs = 5000): NameLookup {
  const resolver = new dns.Resolver({ timeout: timeoutMs, tries: 1 });
  return {
    async reverse(address) {
      const names = await resolver.reverse(address).catch((error: unknown) => {
        if (isNotFound(error)) return [];
        throw error;
      });
      const [first] = await dns.lookupService(address, 0).then(
        ({ hostname }) => [hostname],
        () => [],
      );
      return [...new Set(first === undefined ? names : [first, ...names])];
    },
    async forward(name) {
      return (await dns.lookup(name, { all: true })).map((found) => found.address);
    },
  };
}

function isNotFound(error: unknown): boolean {
  return errorCode(error) === 'ENOTFOUND' || errorCode(error) === 'ENODATA';
}

/** Creates a {@link Peer}. */
export function createPeer(address: string, port: number, lookup: NameLookup): Peer {
  const plain = plainAddress(address);
  let name: Promise<string | undefined> | undefined;
  return {
    address: plain,
    port,
    name() {
      name ??= confirmedName(plain, lookup);
      return name;
    },
  };
}

/** Returns `192.0.2.1` for `::ffff:192.0.2.1`, and an address without its zone (`%eth0`). */
export function plainAddress(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  return mapped?.[1] ?? address.replace(/%.*$/s, '');
}

async function confirmedName(address: string, lookup: NameLookup): Promise<string | undefined> {
  if (address === NO_ADDRESS) return undefined;
  const names = await lookup.reverse(address).catch(() => []);
  for (const name of names.slice(0, MAX_NAMES)) {
    // GATHERD-9.5: the owner of the address writes its reverse entry; the owner of the name must confirm it.
    const addresses = await lookup.forward(name).catch(() => []);
    if (addresses.some((candidate) => plainAddress(candidate) === address)) {
      return name.toLowerCase().replace(/\.$/, '');
    }
  }
  return undefined;
}
