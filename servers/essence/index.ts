export {
  compileEssence,
  createEssenceContext,
  type EssenceContext,
  readEssenceSources,
  type SelectionRules,
} from './context.js';
export { fileNameOf } from './document.js';
export { existingDirectories, installedPrograms } from './external/index.js';
export type { EssenceInput, EssenceOptions, EssenceOutput, ExplodedObject } from './model.js';
export { headerOutlinks } from './outlinks/headers.js';
export { scanSrcset } from './outlinks/srcset.js';
export { scanStyle } from './outlinks/style.js';
export { EssencePool, type EssencePoolOptions } from './pool.js';
export { isRejected, mayContainLinks, type RecognitionStep, recognize, typeByUrl } from './recognize.js';
export { summarizeByTable, type TableCall } from './sgml-document.js';
export { parseTypeList, parseTypeRules } from './type-rules.js';
export { convertDocument } from './unnest/explode.js';
export type { UnnestLimits } from './unnest-limits.js';
