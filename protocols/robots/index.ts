export {
  isRobotsExpired,
  ROBOTS_VALIDITY_SECONDS,
  type RobotsAnswer,
  type RobotsFetchRules,
  type RobotsOutcome,
  robotsOutcome,
} from './lifetime.js';
export { MAX_ROBOTS_LENGTH, parseRobots, type RobotsOptions } from './parse-robots.js';
export { normalizePath, PathPattern } from './pattern.js';
export { parseRobotsMeta, type RobotsMeta } from './robots-meta.js';
export {
  groupNameOf,
  type PolicyDecision,
  ROBOTS_POLICIES,
  RobotsPolicy,
  type RobotsPolicyName,
  type RobotsPolicyOptions,
} from './robots-policy.js';
export { isRobotsMetaName, parseXRobotsTag, type RobotsTag } from './robots-tag.js';
export {
  productTokens,
  type RobotsDecision,
  type RobotsGroup,
  type RobotsRule,
  RobotsTxt,
} from './robots-txt.js';
