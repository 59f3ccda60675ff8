export type { Address } from './addresses.js';
export { type AddressRange, isInRange, parseAddress, parseAddressRange } from './addresses.js';
export type { BrokerVariables } from './broker-conf.js';
export { BROKER_VARIABLES, type BrokerConfig, parseBrokerConf } from './broker-conf.js';
export {
  isBoundAtStart,
  rereadBrokerConfig,
  setBrokerVariable,
  withBrokerSettings,
} from './broker-conf-set.js';
export {
  type CollectionFilter,
  type CollectionPoint,
  type CollectionType,
  collectionMode,
  parseCollectionConf,
} from './collection-conf.js';
export type { RootNodeDefaults } from './enum-spec.js';
export {
  type LeafNode,
  type NodeLocation,
  parseEnumeratedNode,
  parseLeafNode,
  parseRootNode,
  type RootNode,
  type UrlProgram,
} from './enum-spec.js';
export { type EssenceSwitches, parseEssenceOptions } from './essence-options.js';
export {
  ALLOW_ALL,
  type FilterEvent,
  type FilterRule,
  filterChannel,
  parseFilter,
  type UrlFilter,
} from './filter.js';
export { type AccessRule, decideAccess, type GatherdAccess, parseGatherdConf } from './gatherd-conf.js';
export {
  type Environment,
  filePaths,
  type GathererConfig,
  type GathererDefaults,
  parseGathererConf,
  parseSecrets,
} from './gatherer-conf.js';
export type { FetcherModule, GathererVariables } from './gatherer-variables.js';
export {
  DEFAULT_MAX_RETRIEVAL_SIZE,
  type FtpAuth,
  GATHERER_VARIABLES,
  type GathererSecrets,
  type HttpBasicAuth,
  type LocalMapping,
  savesSpace,
} from './gatherer-variables.js';
export { type ConfigLine, readLines, wordsOf } from './lines.js';
export {
  parseRefererConf,
  REFERER_VARIABLES,
  type RefererConfig,
  type RefererDefaults,
  rereadRefererConf,
} from './referer-conf.js';
export { DEFAULT_DELAY, DEFAULT_HOST_MAX, DEFAULT_URL_MAX } from './root-node-defaults.js';
export { variablesMarkdown, variablesText } from './variable-table.js';
export type { Assignment, VariableReading, VariableRow, VariableTable } from './variables.js';
