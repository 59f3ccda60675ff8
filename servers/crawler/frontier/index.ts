export {
  type Candidate,
  type CrawlFrontier,
  DIRECTIVE,
  type Enumerations,
  type Finish,
  type FrontierCounts,
  ONE_ENUMERATION,
  type Prepared,
  type PreparedOf,
} from './contract.js';
export { Frontier, type FrontierOptions } from './frontier.js';
