export type { BloomOptions } from './bloom-set.js';
export { BLOOM_CAPACITY, BLOOM_HASHES, bloomBits } from './bloom-set.js';
export { SEEN_KINDS, type SeenFilter, type SeenKind, type SeenOptions } from './contract.js';
export type { TakenChanges } from './level-filter.js';
export { LevelFilter } from './level-filter.js';
export { type OpenSeenOptions, openSeenFilter } from './open.js';
export type { SerialFilter } from './serial-filter.js';
