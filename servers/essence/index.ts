export {
  compileEssence,
  createEssenceContext,
  type EssenceContext,
  readEssenceSources,
  type SelectionRules,
} from './context.js';
export { fileNameOf } from './document.js';
export type { EssenceInput, EssenceOptions, EssenceOutput, ExplodedObject } from './model.js';
export { EssencePool } from './pool.js';
export { isRejected, mayContainLinks, type RecognitionStep, recognize, typeByUrl } from './recognize.js';
export { summarizeDocument } from './summarize.js';
export { SUMMARIZERS } from './summarizers/index.js';
export { parseTypeList, parseTypeRules } from './type-rules.js';
export type { UnnestLimits } from './unnest-limits.js';
