export { AllInOne, type AllInOneOptions, type CycleReport, type LogName } from './all-in-one.js';
export { configFromRoots, type RootLimitOptions, type RootsResult } from './roots.js';
