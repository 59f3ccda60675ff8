export { addressBytes, HostAddresses } from './host-addresses.js';
export { type Contact, politenessDelay, TotalBandwidth } from './politeness.js';
export { ServerCache, type ServerCacheOptions } from './server-cache.js';
