export {
  compileEssence,
  createEssenceContext,
  type EssenceContext,
  type EssenceInput,
  type EssenceLink,
  type EssenceOptions,
  type EssenceOutput,
  type EssencePrograms,
  type EssenceSettings,
  type EssenceSources,
  type ExplodedObject,
  readEssenceSources,
  type SelectionRules,
} from './context.js';
export { type EmbeddedSummary, fileNameOf, SourceDocument, type Summary } from './document.js';
export { EssenceError, UnnestError } from './errors.js';
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
export { parseTypeList, parseTypeRules, type RuleOrigin, TypeRules } from './type-rules.js';
export { DEFAULT_UNNEST_LIMITS, type UnnestLimits } from './unnest/limits.js';
