export { MAX_ROBOTS_LENGTH, parseRobots, type RobotsOptions } from './parse-robots.js';
export { normalizePath, PathPattern } from './pattern.js';
export { parseRobotsMeta, type RobotsMeta } from './robots-meta.js';
export {
  productTokens,
  type RobotsDecision,
  type RobotsGroup,
  type RobotsRule,
  RobotsTxt,
} from './robots-txt.js';
