import { promises as dns } from 'node:dns';
import { errorCode } from '../../protocols/errors.js';

/** Who is at the other end. */
export interface Peer {
  /** IPv4 or IPv6 address; an IPv4 address mapped into IPv6 is given as IPv4. `-` when there is none, as with a pipe. */
  readonly address: string;
  readonly port: number;
  /**
   * The peer's host name in lower case: its reverse lookup, if that name resolves back to the address
   * (GATHERD-9.5); otherwise undefined. Looked up once a connection, when first asked.
   */
  name(): Promise<string | undefined>;
}

/** The two lookups that {@link Peer.name} needs. Either may reject: then there is no name. */
export interface NameLookup {
  reverse(address: string): Promise<readonly string[]>;
  forward(name: string): Promise<readonly string[]>;
}

/** What stands for the address of a peer that has none. */
export const NO_ADDRESS = '-';

/** A peer with more names than this has only the first ones tried. */
const MAX_NAMES = 4;

/**
 * System lookup: hosts file and DNS. A reverse entry is first asked for without occupying the thread pool, so that a
 * stranger's silent name server holds nothing up; only once that has been answered, the system is asked as well,
 * because the resolver leaves out the first name of a line of the hosts file (`127.0.0.1 localhost`).
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

/** Makes a {@link Peer}. */
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

/** `::ffff:192.0.2.1` is the IPv4 address `192.0.2.1`; a zone (`%eth0`) is no part of an address. */
export function plainAddress(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  return mapped?.[1] ?? address.replace(/%.*$/, '');
}

async function confirmedName(address: string, lookup: NameLookup): Promise<string | undefined> {
  if (address === NO_ADDRESS) return undefined;
  const names = await lookup.reverse(address).catch(() => []);
  for (const name of names.slice(0, MAX_NAMES)) {
    // GATHERD-9.5: whoever owns the address writes its reverse entry; the owner of the name must agree.
    const addresses = await lookup.forward(name).catch(() => []);
    if (addresses.some((candidate) => plainAddress(candidate) === address)) {
      return name.toLowerCase().replace(/\.$/, '');
    }
  }
  return undefined;
}
