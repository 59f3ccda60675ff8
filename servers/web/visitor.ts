// Who sent a request, for the limits of wrong passwords.
import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { plainAddress } from '../host/peer.js';

/** Between the address of a connection and the address that a request names. */
const CLAIMS = ' for ';

/**
 * Returns the name under which wrong passwords of a visitor are counted: its address; behind a proxy that
 * is trusted, the right-most address of `X-Forwarded-For` that is not a trusted one. Without any trusted
 * proxy the address of the connection may be that of a proxy whose visitors are many: then the name has the right-most
 * address of that header, too, which the nearest proxy has added.
 */
export function visitorOf({ ip, ips, headers }: Pick<FastifyRequest, 'ip' | 'ips' | 'headers'>): string {
  if (ips !== undefined) return ip;
  const claimed = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',').at(-1)?.trim() ?? '';
  return ipaddr.isValid(claimed) ? `${ip}${CLAIMS}${plainAddress(claimed)}` : ip;
}

/** Splits a name of {@link visitorOf}. */
export function partsOfVisitor(name: string): { readonly address: string; readonly claimed?: string } {
  const [address = '', claimed] = name.split(CLAIMS);
  return claimed === undefined ? { address } : { address, claimed };
}
