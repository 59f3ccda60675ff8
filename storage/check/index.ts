export { type CheckedStore, type CheckOptions, checkStores } from './check.js';
export { type RepairedStore, repairStores } from './repair.js';
