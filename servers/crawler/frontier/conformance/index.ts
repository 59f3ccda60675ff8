export type { Clock as FrontierClock } from '../../../../protocols/clock.js';
export type {
  Budgets,
  Candidate,
  CrawlFrontier,
  Finish,
  FrontierCounts,
  FrontierFigures,
  Outcome,
  Prepared,
  PreparedOf,
  QueueSelection,
  QueueTraffic,
  Written,
} from '../contract.js';
export { ManualClock } from './manual-clock.js';
export type {
  FrontierConformance,
  FrontierManifest,
  FrontierSetup,
  FrontierUnderTest,
  TestRunner,
} from './options.js';
export { frontierConformance } from './suite.js';
