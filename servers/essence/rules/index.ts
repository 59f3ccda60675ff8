export {
  applyPostRules,
  applyPostRulesToBytes,
  type PostRulesOptions,
  type PostRulesResult,
} from './apply.js';
export { type Condition, conditionHolds, type Instruction, type PostRule, type PostRules } from './model.js';
export { parsePostRules } from './parse.js';
