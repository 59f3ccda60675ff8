export { applyPostRules, applyPostRulesToBytes, type PostRulesOptions } from './apply.js';
export { conditionHolds, type PostRules } from './model.js';
export { ownPrograms, parsePostRules } from './parse.js';
