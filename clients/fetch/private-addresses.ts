// Recognizes private addresses, and decides which redirects and links may lead to them (G-174).
import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { LRUCache } from 'lru-cache';
import { RefusedError } from '../../protocols/errors.js';
import { untilAborted } from '../../protocols/linked-abort.js';
import { withoutBrackets } from '../../protocols/urls/index.js';
import { asConnectionError } from '../connection/index.js';

const PRIVATE_V4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const;

const PRIVATE = new BlockList();
for (const [network, prefix] of PRIVATE_V4) {
  PRIVATE.addSubnet(network, prefix, 'ipv4');
  // The same addresses in NAT64 (RFC 6052) and 6to4 (RFC 3056) form.
  PRIVATE.addSubnet(`64:ff9b::${network}`, 96 + prefix, 'ipv6');
  PRIVATE.addSubnet(`2002:${hexadecimal(network)}::`, 16 + prefix, 'ipv6');
}
for (const [network, prefix] of [
  // Unspecified, loopback, and the IPv4-compatible form of any IPv4 address (RFC 4291 2.5.5.1), which no host
  // has.
  ['::', 96],
  // IPv4-translated addresses (RFC 2765).
  ['::ffff:0:0:0', 96],
  ['64:ff9b:1::', 48],
  // Teredo (RFC 4380) hides an IPv4 address.
  ['2001::', 32],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const) {
  PRIVATE.addSubnet(network, prefix, 'ipv6');
}

/** An IPv4 address as two groups of IPv6. */
function hexadecimal(address: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

/**
 * A crawl asks for the addresses of its hosts again and again, and a look-up takes as long as parsing several
 * links.
 */
const KNOWN = new LRUCache<string, boolean>({ max: 1_000 });
/** Longer texts are no addresses, and not remembered; characters. */
const MAX_ADDRESS = 64;

/** Whether an IP address is of this machine, of a private network, or not one of a host (G-174). */
export function isPrivateAddress(address: string): boolean {
  const known = KNOWN.get(address);
  if (known !== undefined) return known;
  const isPrivate = checkAddress(address);
  if (address.length <= MAX_ADDRESS) KNOWN.set(address, isPrivate);
  return isPrivate;
}

function checkAddress(address: string): boolean {
  const bare = withoutBrackets(address).replace(/%.*$/s, '');
  const family = isIP(bare);
  // Node's list finds the IPv4 addresses in `::ffff:0:0/96` as well.
  return family !== 0 && PRIVATE.check(bare, family === 4 ? 'ipv4' : 'ipv6');
}

/** @throws RefusedError for a private address */
export function refusePrivate(host: string, address: string): void {
  if (isPrivateAddress(address)) {
    throw new RefusedError(`${host}: a public page does not lead to the private address ${address} (G-174)`);
  }
}

/**
 * Resolves a host to the address to connect to, so that the address that was checked is the one that is used.
 * @param publicOnly see `FetchRequest.publicOnly`
 * @throws ConnectionError if the name is unknown; RefusedError if `publicOnly` forbids the address
 */
export async function resolveHost(
  host: string,
  publicOnly: boolean,
  signal: AbortSignal | undefined,
): Promise<string> {
  signal?.throwIfAborted();
  const address = isIP(host) !== 0 ? host : await lookUp(host, signal);
  if (publicOnly) refusePrivate(host, address);
  return address;
}

async function lookUp(host: string, signal: AbortSignal | undefined): Promise<string> {
  try {
    const { address } = await untilAborted(() => lookup(host), signal);
    return address;
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason;
    throw asConnectionError(host, error);
  }
}

/** Schemes that use the network. */
const NETWORKED = /^(?:https?|ftp|gopher|news|nntp):/;

/** Facts about hosts for {@link mayReach} and {@link mustBePublic}. */
export interface HostKnowledge {
  /** The known addresses of a host. Without any, only literal addresses and `localhost` count as private. */
  readonly addresses: (host: string) => readonly string[];
  /** Whether the configuration names this host, e.g. in a RootNode. Default: no host is configured. */
  readonly isConfigured?: (host: string) => boolean;
  /** Whether an earlier request of the run had to reach this host at a public address. Default: none had. */
  readonly isPinned?: (host: string) => boolean;
}

/**
 * Whether a redirect or link at `from` may lead to `to` (G-174). Only a file may lead to a file of this
 * machine. A host with a private address may be reached from a file, from a host with private addresses only,
 * or if the configuration names it. The function is pure and resolves nothing. Since a name may resolve to
 * another address later, the request also sets `publicOnly`, by {@link mustBePublic}.
 *
 * @param from canonical URL of the document; empty if `to` is in the configuration
 * @param to canonical URL
 */
export function mayReach(from: string, to: string, known: HostKnowledge): boolean {
  if (to.startsWith('file:')) return from === '' || from.startsWith('file:');
  return !mustBePublic(from, to, known) || !isPrivateHost(parseHost(to), known.addresses);
}

/**
 * The `publicOnly` of a request for `to` that was found at `from`, also of the request for its robots.txt
 * (G-174). A configured host may be private, but one that was public stays so: its owner could point the name
 * to a private address during the run.
 * @see mayReach
 */
export function mustBePublic(from: string, to: string, known: HostKnowledge): boolean {
  if (!NETWORKED.test(to)) return false;
  const host = parseHost(to);
  // A news URL without a host means the configured server (G-70).
  if (host === '') return false;
  if (known.isConfigured?.(host) === true) {
    if (known.isPinned?.(host) === true) return true;
    return known.addresses(host).length > 0 && !isPrivateHost(host, known.addresses);
  }
  return NETWORKED.test(from) && parseHost(from) !== '' && !isPrivateSource(parseHost(from), known);
}

/** Whether any of a host's addresses is private, or its name is this machine's (RFC 6761). */
export function isPrivateHost(host: string, addresses: (host: string) => readonly string[]): boolean {
  return isPrivateName(host) || addresses(host).some((address) => isPrivateAddress(address));
}

function isPrivateName(host: string): boolean {
  const bare = withoutBrackets(host);
  return /^(?:.*\.)?localhost\.?$/i.test(bare) || isPrivateAddress(bare);
}

/**
 * Whether documents of the host may lead to private addresses. One public address suffices against it: the
 * owner of a name chooses its addresses, and could add a private one.
 */
function isPrivateSource(host: string, { addresses, isPinned }: HostKnowledge): boolean {
  if (isPrivateName(host)) return true;
  const known = addresses(host);
  return isPinned?.(host) !== true && known.length > 0 && known.every((address) => isPrivateAddress(address));
}

function parseHost(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : '';
}
