export { type CheckedStore, type CheckOptions, checkStores } from './check.js';
export { repairStores } from './repair.js';
