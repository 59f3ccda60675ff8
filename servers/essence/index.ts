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
export { existingDirectories, installedPrograms } from './external/find.js';
export type { OwnModules, ProgramLimits, ProgramSettings } from './external/limits.js';
export type {
  OwnDocument,
  OwnObject,
  OwnSummary,
  SummarizerModule,
  UnnesterModule,
} from './external/modules.js';
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
export {
  type LargeFormat,
  type LargeLinks,
  type LargePage,
  largeFormatOf,
  outlinksOfLargePage,
  outlinksOfPackage,
} from './outlinks/large-page.js';
export { type Format, formatOf, headerOutlinks, type OutlinkSource } from './outlinks/outlinks.js';
export { scanStyle } from './outlinks/style.js';
export type { TextKind } from './outlinks/text-links.js';
export type { EssenceStatistics, PoolLimits } from './pool/pool.js';
export { EssencePool, type EssencePoolOptions } from './pool/pool.js';
export type { MagicRules } from './recognition/magic-file.js';
export type { Recognition } from './recognition/recognize.js';
export {
  isRejected,
  mayContainLinks,
  type RecognitionStep,
  recognize,
  typeByUrl,
} from './recognition/recognize.js';
export type { QuickRule, RuleLine, RuleOrigin, TypeRules } from './recognition/type-rules.js';
export { parseTypeList, parseTypeRules, parseUrlRules } from './recognition/type-rules.js';
export type { Command, Condition, Instruction, PostRule, PostRules, Test } from './rules/model.js';
export { ownPrograms } from './rules/parse.js';
export type { SelectorRule, SelectorRules } from './selectors/rules.js';
export type { ContentMapping, ExtractionTable, TagMapping, ValueMapping } from './sgml/table.js';
export type { SgmlSources, SgmlType, SgmlTypes } from './sgml/types.js';
export { summarizeByTable, type TableCall } from './sgml-document.js';
export type { RangedBytes } from './summarizers/office/open-archive.js';
export type { FoundObject } from './unnest/converters.js';
export { convertDocument } from './unnest/explode.js';
