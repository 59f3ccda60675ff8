export { applyPostRules, applyPostRulesToBytes, type PostRulesOptions } from './apply.js';
export { conditionHolds, type PostRules } from './model.js';
export { parsePostRules } from './parse.js';
