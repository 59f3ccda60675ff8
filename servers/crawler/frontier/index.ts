export {
  type Candidate,
  type CrawlFrontier,
  DIRECTIVE,
  type Finish,
  type FrontierCounts,
  type Prepared,
  type PreparedOf,
} from './contract.js';
export { Frontier, type FrontierOptions } from './frontier.js';
