import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { UsageError } from '../../protocols/errors.js';
import { asConnectionError } from './network-errors.js';

const PRIVATE = new BlockList();
for (const [network, prefix] of [
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
] as const) {
  PRIVATE.addSubnet(network, prefix, 'ipv4');
}
for (const [network, prefix] of [
  ['::', 128],
  ['::1', 128],
  ['64:ff9b:1::', 48],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const) {
  PRIVATE.addSubnet(network, prefix, 'ipv6');
}

/** Whether an IP address belongs to this machine, a private network or no host at all (G-174). */
export function isPrivateAddress(address: string): boolean {
  const bare = address.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  const inner = /^(?:::ffff:|64:ff9b::)(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1];
  if (inner !== undefined) return PRIVATE.check(inner, 'ipv4');
  const family = isIP(bare);
  // Node's list knows the IPv4 addresses inside of IPv6's `::ffff:0:0/96` in hexadecimal spelling as well.
  return family !== 0 && PRIVATE.check(bare, family === 4 ? 'ipv4' : 'ipv6');
}

/** @throws UsageError, because asking again would not help */
export function refusePrivate(host: string, address: string): void {
  if (isPrivateAddress(address)) {
    throw new UsageError(`${host}: a redirect does not lead to a private address (G-174)`);
  }
}

/**
 * The address that will be connected to, so that what was checked is what is used.
 * @param publicOnly see `FetchRequest.publicOnly`
 * @throws ConnectionError when the name is unknown
 * @throws UsageError when the address is refused
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
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal?.reason);
  });
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([lookup(host).then(({ address }) => address), aborted]);
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason;
    throw asConnectionError(host, error);
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}
