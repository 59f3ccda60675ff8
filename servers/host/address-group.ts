// Groups the addresses of peers for limits.
import ipaddr from 'ipaddr.js';
import { plainAddress } from './peer.js';

const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;

/**
 * Ranges of IPv6 addresses that stand for an IPv4 address, by their name in ipaddr.js: translators give every
 * such peer one of them.
 */
const TRANSLATED: ReadonlySet<string> = new Set(['ipv4Mapped', 'rfc6145', 'rfc6052']);

/** The group of this machine's IPv6 address. */
const IPV6_LOOPBACK = '::1';

/**
 * Returns the name under which an address is counted: an IPv4 address as it is, also one that is mapped or
 * translated into IPv6, an IPv6 address by its first 64 bits, because one subscriber usually has all addresses
 * below them.
 */
export function addressGroup(address: string): string {
  const plain = plainAddress(address);
  if (IPV4.test(plain) || !ipaddr.IPv6.isValid(plain)) return plain;
  const parsed = ipaddr.IPv6.parse(plain);
  const range = parsed.range();
  if (range === 'loopback') return IPV6_LOOPBACK;
  if (TRANSLATED.has(range)) {
    const [high = 0, low = 0] = parsed.parts.slice(6);
    return [high >> 8, high & 255, low >> 8, low & 255].join('.');
  }
  return `${parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}

/**
 * Whether a group of {@link addressGroup} is this machine, where proxies and other programs of the operator
 * run. A name such as `127.0.0.1.example` is not.
 */
export function isLoopbackGroup(group: string): boolean {
  return (group.startsWith('127.') && IPV4.test(group)) || group === IPV6_LOOPBACK;
}
