export { AllInOne, type AllInOneOptions, type CycleReport } from './all-in-one.js';
export { configFromRoots, type RootLimitOptions, type RootsResult } from './roots.js';
