export {
  compileEssence,
  createEssenceContext,
  type EssenceContext,
  type EssencePrograms,
  type EssenceSources,
  readEssenceSources,
  type SelectionRules,
} from './context.js';
export { fileNameOf, SourceDocument } from './document.js';
export { EssenceError, UnnestError } from './errors.js';
export type {
  EssenceInput,
  EssenceLink,
  EssenceOptions,
  EssenceOutput,
  EssenceSettings,
  ExplodedObject,
} from './model.js';
export { EssencePool, type EssencePoolOptions, type EssenceStatistics } from './pool.js';
export {
  isRejected,
  mayHoldLinks,
  NESTED_TYPES,
  type Recognition,
  type RecognitionStep,
  recognize,
  typeByUrl,
} from './recognize.js';
export { summarizeDocument } from './summarize.js';
export { SUMMARIZERS, type Summarizer } from './summarizers/index.js';
export type { EmbeddedSummary, Summary } from './summary.js';
export { parseTypeList, parseTypeRules, type RuleOrigin, TypeRules } from './type-rules.js';
export { DEFAULT_UNNEST_LIMITS, type UnnestLimits } from './unnest/limits.js';
