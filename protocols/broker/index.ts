export { buildAdminCommand } from './admin.js';
export {
  ADMIN_COMMANDS,
  type AdminCommand,
  type AdminCommandTitle,
  type PlainAdminKeyword,
} from './admin-commands.js';
export * from './client-session.js';
export {
  BROKER_FLAGS,
  checkFlags,
  DEFAULT_FLAGS,
  type Flag,
  formatFlags,
  type IndexFlags,
  indexFlags,
  MAX_ATTRIBUTES,
  MAX_SPELLING_ERRORS,
  MISSING_WORDS,
  type QueryFlags,
  REQUEST_FLAGS,
  type RequestFlag,
} from './flags.js';
export { DEFAULT_MAX_MESSAGE_BYTES, frameMessage } from './framing.js';
export { BrokerHit, type BrokerHitFields } from './hit.js';
export { findIdentifiers, mayHaveParts, onlyParts, withParts } from './identifiers.js';
export type { IdToken, Steps, Token, TokenReader } from './lexer.js';
export * from './message-content.js';
export * from './message-parser.js';
export { lettersOf, normalize } from './normalize.js';
export {
  DEFAULT_MAX_DEPTH,
  DEFAULT_MAX_TERMS,
  type QueryLimits,
  quoteId,
  type SourceRange,
} from './query-parser.js';
export * from './query-source.js';
export * from './result-decoder.js';
export * from './results.js';
export * from './server-session.js';
export type { BrokerServerState } from './states.js';
