// Specification documents as data.
export { citationsIn } from './citations.js';
export { type DocumentEntry, documentOf, SPECIFICATIONS } from './documents.js';
export { parseSpecification } from './parse-specification.js';
export {
  BASES,
  type Basis,
  basisOf,
  type Evidence,
  type GrammarBlock,
  RULE_LEVELS,
  type Rule,
  type RuleLevel,
  restsOnChoice,
  type Source,
  type Specification,
  type SpecificationProblem,
  sentenceOf,
  withoutLinks,
} from './rule.js';
