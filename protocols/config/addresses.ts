// Literal IP addresses and ranges in configuration files.
import ipaddr from 'ipaddr.js';

/** A literal IPv4 or IPv6 address. */
export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** The addresses whose first `prefixBits` bits are those of `address`. */
export interface AddressRange {
  readonly address: Address;
  readonly prefixBits: number;
}

/**
 * Parses a literal address, with or without brackets and zone.
 *
 * @returns an IPv4 address for one inside IPv6 (`::ffff:1.2.3.4`); undefined if the text is not an address
 */
export function parseAddress(text: string): Address | undefined {
  const bare = text.replace(/^\[(.*)\]$/, '$1').replace(/%.*$/s, '');
  // The library takes the deprecated `::1.2.3.4` (RFC 4291, 2.5.5.1) for the mapped `::ffff:1.2.3.4`.
  if (/^::\d+\./.test(bare)) return undefined;
  if (bare.includes(':')) return ipaddr.IPv6.isValid(bare) ? ipaddr.process(bare) : undefined;
  // The library reads `010` as octal and `1` as four bytes; in a configuration file only decimal numbers are
  // meant. Most words of a list are names: the library would throw and catch an error for each.
  if (!/^(?:\d{1,3}\.){3}\d{1,3}$/.test(bare)) return undefined;
  const decimal = bare.replace(/\b0+(?=\d)/g, '');
  return ipaddr.IPv4.isValidFourPartDecimal(decimal) ? ipaddr.IPv4.parse(decimal) : undefined;
}

/** Prefix bits of an IPv4-mapped IPv6 address. */
const MAPPED_BITS = 96;

/** Parses an address or `address/bits` (G-124). The bits of `::ffff:1.2.3.0/120` include the prefix. */
export function parseAddressRange(text: string): AddressRange | undefined {
  const [literal = '', bits, ...rest] = text.split('/');
  const address = parseAddress(literal);
  if (address === undefined || rest.length > 0) return undefined;
  const length = address.kind() === 'ipv4' ? 32 : 128;
  if (bits === undefined) return { address, prefixBits: length };
  const written = length === 32 && literal.includes(':') ? MAPPED_BITS : 0;
  const prefixBits = Number(bits) - written;
  if (!/^\d{1,3}$/.test(bits) || prefixBits < 0 || prefixBits > length) return undefined;
  return { address, prefixBits };
}

export function isInRange(address: Address, { address: network, prefixBits }: AddressRange): boolean {
  if (address instanceof ipaddr.IPv4) {
    return network instanceof ipaddr.IPv4 && address.match(network, prefixBits);
  }
  return network instanceof ipaddr.IPv6 && address.match(network, prefixBits);
}
