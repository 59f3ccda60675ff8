export {
  compileEssence,
  createEssenceContext,
  type EssenceContext,
  type EssenceInput,
  type EssenceLink,
  type EssenceOptions,
  type EssenceOutput,
  type EssenceSettings,
  type EssenceSources,
  readEssenceSources,
  type SelectionRules,
} from './context.js';
export { fileNameOf, SourceDocument, type Summary } from './document.js';
export { EssenceError } from './errors.js';
export { EssencePool, type EssencePoolOptions, type EssenceStatistics } from './pool.js';
export {
  isRejected,
  mayHoldLinks,
  NESTED_TYPES,
  type Recognition,
  recognize,
  typeByUrl,
} from './recognize.js';
export { summarizeDocument } from './summarize.js';
export { SUMMARIZERS, type Summarizer } from './summarizers/index.js';
export { parseTypeList, parseTypeRules, TypeRules } from './type-rules.js';
