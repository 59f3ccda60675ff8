/** A set of addresses: the first `prefixBits` bits are given. */
export interface AddressRange {
  readonly bytes: Uint8Array;
  readonly prefixBits: number;
}

/**
 * Reads a literal IPv4 or IPv6 address.
 * @returns 4 or 16 bytes, an IPv4 address inside IPv6 (`::ffff:1.2.3.4`) as 4; `undefined` if it is none
 */
export function parseAddress(text: string): Uint8Array | undefined {
  const withoutZone = text.replace(/^\[(.*)\]$/, '$1').replace(/%.*$/, '');
  if (!withoutZone.includes(':')) return parseIpv4(withoutZone);
  const bytes = parseIpv6(withoutZone);
  if (bytes === undefined) return undefined;
  const isMapped =
    bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff;
  return isMapped ? bytes.subarray(12) : bytes;
}

/** Bits in front of an IPv4 address that is written as an IPv6 one. */
const MAPPED_BITS = 96;

/** Reads an address or `address/bits` (G-124); the bits of `::ffff:1.2.3.0/120` are counted as it is written. */
export function parseAddressRange(text: string): AddressRange | undefined {
  const [address = '', bits, ...rest] = text.split('/');
  const bytes = parseAddress(address);
  if (bytes === undefined || rest.length > 0) return undefined;
  if (bits === undefined) return { bytes, prefixBits: bytes.length * 8 };
  const written = bytes.length === 4 && address.includes(':') ? MAPPED_BITS : 0;
  const prefixBits = Number(bits) - written;
  if (!/^\d{1,3}$/.test(bits) || prefixBits < 0 || prefixBits > bytes.length * 8) return undefined;
  return { bytes, prefixBits };
}

export function isInRange(address: Uint8Array, range: AddressRange): boolean {
  if (address.length !== range.bytes.length) return false;
  const wholeBytes = range.prefixBits >>> 3;
  for (let i = 0; i < wholeBytes; i++) {
    if (address[i] !== range.bytes[i]) return false;
  }
  const restBits = range.prefixBits & 7;
  return restBits === 0 || (address[wholeBytes]! ^ range.bytes[wholeBytes]!) >>> (8 - restBits) === 0;
}

function parseIpv4(text: string): Uint8Array | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  const parts = match?.slice(1).map(Number);
  return parts?.every((part) => part <= 255) ? Uint8Array.from(parts) : undefined;
}

function parseIpv6(text: string): Uint8Array | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map(parseGroups);
  if (head === undefined) return undefined;
  if (halves.length === 1) return head.length === 16 ? Uint8Array.from(head) : undefined;
  if (tail === undefined || head.length + tail.length > 14) return undefined;
  const bytes = new Uint8Array(16);
  bytes.set(head);
  bytes.set(tail, 16 - tail.length);
  return bytes;
}

function parseGroups(text: string): number[] | undefined {
  if (text === '') return [];
  const bytes: number[] = [];
  const groups = text.split(':');
  for (const [index, group] of groups.entries()) {
    if (/^[0-9A-Fa-f]{1,4}$/.test(group)) {
      const value = Number.parseInt(group, 16);
      bytes.push(value >>> 8, value & 0xff);
      continue;
    }
    const embedded = index === groups.length - 1 ? parseIpv4(group) : undefined;
    if (embedded === undefined) return undefined;
    bytes.push(...embedded);
  }
  return bytes;
}
