export { gathererAttributes } from './assemble.js';
export type { EssencePrograms, EssenceSources } from './context.js';
export {
  compileEssence,
  createEssenceContext,
  type EssenceContext,
  readEssenceSources,
  type SelectionRules,
} from './context.js';
export type { SummarizerContext } from './document.js';
export { fileNameOf } from './document.js';
export type { OwnPrograms, SgmlCommand, TypePrograms } from './external/find.js';
export {
  existingDirectories,
  installedPrograms,
  type OwnDocument,
  type OwnModules,
  type OwnObject,
  type OwnSummary,
  type SummarizerModule,
  type UnnesterModule,
} from './external/index.js';
export type { ProgramLimits, ProgramSettings } from './external/limits.js';
export type { MagicRules } from './magic-file.js';
export type {
  EssenceInput,
  EssenceLink,
  EssenceOptions,
  EssenceOutput,
  EssenceSettings,
  ExplodedObject,
  OutlinkRequest,
  UnnestLimits,
} from './model.js';
export type { OutlinkHop } from './outlinks/attributes.js';
export { scanSrcset } from './outlinks/attributes.js';
export type { Outlink } from './outlinks/collector.js';
export { headerOutlinks } from './outlinks/outlinks.js';
export { scanStyle } from './outlinks/style.js';
export type { EssenceStatistics, PoolLimits } from './pool.js';
export { EssencePool, type EssencePoolOptions } from './pool.js';
export type { Recognition } from './recognize.js';
export { isRejected, mayContainLinks, type RecognitionStep, recognize, typeByUrl } from './recognize.js';
export { ownPrograms } from './rules/index.js';
export type { Command, Condition, Instruction, PostRule, PostRules, Test } from './rules/model.js';
export type { SelectorRule, SelectorRules } from './selectors/rules.js';
export type { ContentMapping, ExtractionTable, TagMapping, ValueMapping } from './sgml/table.js';
export type { SgmlSources, SgmlType, SgmlTypes } from './sgml/types.js';
export { summarizeByTable, type TableCall } from './sgml-document.js';
export type { QuickRule, RuleLine, RuleOrigin, TypeRules } from './type-rules.js';
export { parseTypeList, parseTypeRules } from './type-rules.js';
export type { FoundObject } from './unnest/converters.js';
export { convertDocument } from './unnest/explode.js';
