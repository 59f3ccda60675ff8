export { type FrontierClock, systemClock } from './clock.js';
export {
  type Budgets,
  type Candidate,
  type CrawlFrontier,
  DIRECTIVE,
  type Finish,
  type FrontierCounts,
  type FrontierFigures,
  type Outcome,
  type Prepared,
  type PreparedOf,
  type QueueSelection,
} from './contract.js';
export { Frontier, type FrontierOptions } from './frontier.js';
