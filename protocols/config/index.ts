export * from './addresses.js';
export type { BrokerVariables } from './broker-conf.js';
export { BROKER_VARIABLES, type BrokerConfig, parseBrokerConf } from './broker-conf.js';
export * from './broker-conf-set.js';
export * from './collection-conf.js';
export * from './enum-spec.js';
export { type EssenceSwitches, parseEssenceOptions } from './essence-options.js';
export * from './filter.js';
export { type AccessRule, decideAccess, type GatherdAccess, parseGatherdConf } from './gatherd-conf.js';
export * from './gatherer-conf.js';
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
export * from './referer-conf.js';
export { DEFAULT_DELAY, DEFAULT_HOST_MAX, DEFAULT_URL_MAX } from './root-node-defaults.js';
export { type ConfigLine, readLines, wordsOf } from './values.js';
export * from './variables.js';
