export { type CheckedStore, type CheckOptions, checkStores } from './check.js';
export { findStores } from './find-stores.js';
export { type RepairedStore, repairStores } from './repair.js';
