export { fetchLeniently } from './fetch-leniently.js';
export { addressBytes, HostAddresses } from './host-addresses.js';
export { type Contact, politenessDelay, TotalBandwidth } from './politeness.js';
export type { RobotsContact } from './robots-files.js';
export { ServerCache, type ServerCacheOptions } from './server-cache.js';
