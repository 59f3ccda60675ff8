export { applyPostRules, applyPostRulesToBytes, type PostRulesOptions } from './apply.js';
export { conditionHolds, type PostRules } from './model.js';
export { ownPrograms } from './own-programs.js';
export { parsePostRules } from './parse.js';
