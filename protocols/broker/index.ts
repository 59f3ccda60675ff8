export { buildAdminCommand } from './admin.js';
export { ADMIN_COMMANDS, type AdminCommandTitle } from './admin-commands.js';
export {
  BrokerClientSession,
  type BrokerClientSessionOptions,
  type BrokerHit,
  type ClientEvent,
  DEFAULT_MAX_HIT_BYTES,
} from './client-session.js';
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
  type QueryFlags,
  REQUEST_FLAGS,
  type RequestFlag,
} from './flags.js';
export { formatMessage, formatQuery, formatQueryMessage } from './formatter.js';
export { DEFAULT_MAX_MESSAGE_BYTES, frameMessage } from './framing.js';
export type { IdToken, Token, TokenReader } from './lexer.js';
export { type BrokerMessage, parseMessage, parseQuery, requestedInterface } from './message-parser.js';
export {
  type AdminCommand,
  clampLifetime,
  type Expression,
  MIN_LIFETIME,
  PLAIN_ADMIN_KEYWORDS,
  type PlainAdminKeyword,
  type Query,
  type SelectOperator,
} from './messages.js';
export {
  DEFAULT_MAX_DEPTH,
  DEFAULT_MAX_TERMS,
  type QueryLimits,
  type SourceRange,
} from './query-parser.js';
export {
  locateQueryFault,
  parseQuerySource,
  type QueryFault,
  type QuerySource,
  type QueryToken,
  type QueryTokenKind,
  scanQuery,
} from './query-source.js';
export { quoteId } from './quoting.js';
export {
  DEFAULT_MAX_LINE_BYTES,
  DEFAULT_MAX_VALUE_BYTES,
  ResultDecoder,
  type ResultDecoderOptions,
} from './result-decoder.js';
export {
  encodeResult,
  encodeResultHead,
  errorItem,
  errorSentence,
  errorText,
  fatalItem,
  formatMatchedLine,
  type MatchedLineText,
  parseMatchedLine,
  REPLY,
  RESULT_CODE,
  type ResultItem,
  VERSION_TEXT,
} from './results.js';
export {
  BrokerServerSession,
  type BrokerServerSessionOptions,
  type ServerEvent,
} from './server-session.js';
