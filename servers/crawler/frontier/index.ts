export {
  type Candidate,
  DIRECTIVE,
  type Finish,
  type FrontierCounts,
  type FrontierFigures,
  type Outcome,
  type Prepared,
} from './contract.js';
export { Frontier, type FrontierOptions, type PreparedOf } from './frontier.js';
