// Replaces the resolver of the whole process, so that no connection by name can avoid it.
import dns, { type LookupAddress } from 'node:dns';
import dnsPromises from 'node:dns/promises';
import { syncBuiltinESMExports } from 'node:module';
import { isIP } from 'node:net';

type Callback = (error: Error | null, address?: string | LookupAddress[], family?: number) => void;

const familyOf = (address: string): 4 | 6 => (address.includes(':') ? 6 : 4);

/** From now on names have the addresses that this function returns; those without one do not exist. */
export function fakeNames(addressOf: (host: string) => string | undefined): void {
  const answer = (host: string): string => {
    const address = addressOf(host);
    if (address !== undefined) return address;
    throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' });
  };
  const systemLookup = dns.lookup as unknown as (...given: unknown[]) => void;
  const lookup = (host: string, options: { all?: boolean }, callback: Callback): void => {
    if (typeof options === 'function' || isIP(host) !== 0) {
      systemLookup(host, options, callback);
      return;
    }
    let address: string;
    try {
      address = answer(host);
    } catch (error) {
      process.nextTick(callback, error as Error);
      return;
    }
    const family = familyOf(address);
    if (options.all === true) process.nextTick(callback, null, [{ address, family }]);
    else process.nextTick(callback, null, address, family);
  };
  Object.assign(dns, { lookup });
  Object.assign(dnsPromises, {
    lookup: async (host: string, options: { all?: boolean } = {}) => {
      const address = answer(host);
      const found = { address, family: familyOf(address) };
      return options.all === true ? [found] : found;
    },
  });
  syncBuiltinESMExports();
}
