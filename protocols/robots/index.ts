export * from './lifetime.js';
export { MAX_ROBOTS_LENGTH, parseRobots, type RobotsOptions } from './parse-robots.js';
export { normalizePath, PathPattern } from './pattern.js';
export * from './robots-policy.js';
export * from './robots-tag.js';
export {
  productTokens,
  type RobotsDecision,
  type RobotsGroup,
  type RobotsRule,
  RobotsTxt,
} from './robots-txt.js';
