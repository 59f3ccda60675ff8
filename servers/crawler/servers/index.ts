export { type CountedEvent, countEvent, noTraffic, type Traffic } from './counters.js';
export {
  addressBytes,
  HostAddresses,
  type HostAddressesOptions,
  type LookedUp,
  type Lookup,
} from './host-addresses.js';
export {
  type Contact,
  type PolitenessDelay,
  type PolitenessSettings,
  politenessDelay,
  TotalBandwidth,
} from './politeness.js';
export type { RobotsContact } from './robots-files.js';
export {
  type RobotsVerdict,
  ServerCache,
  type ServerCacheOptions,
  type ServerCacheSnapshot,
} from './server-cache.js';
