export { decideSequence } from './build-rules.js';
export { type ClassicScopeOptions, classicScope } from './classic-scope.js';
export { DecideSequence, type DecideSubject, decideRule } from './decision.js';
export { defaultRules, type RuleInput } from './rule-config.js';
export { parseSeeds } from './seed-list.js';
