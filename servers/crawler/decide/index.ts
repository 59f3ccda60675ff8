export { buildRule, decideSequence, type RuleSurroundings } from './build-rules.js';
export {
  CLASSIC_SCOPES,
  type ClassicScopeKind,
  type ClassicScopeOptions,
  classicScope,
} from './classic-scope.js';
export {
  type DecideRule,
  DecideSequence,
  type DecideSubject,
  type Decision,
  decideRule,
  type Explanation,
} from './decision.js';
export { FILE_PRESETS, type FilePreset, type Predicate } from './predicates.js';
export {
  defaultRules,
  parseRules,
  type RuleConfig,
  type RuleInput,
  ruleConfigSchema,
} from './rule-config.js';
export { parseSeeds, type SeedList } from './seed-list.js';
