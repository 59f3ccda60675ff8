export { SstpClientSession, type SstpReply } from './client-session.js';
export { encodeSstp, formatStartLine, SstpDecoder, type SstpDecoderOptions } from './codec.js';
export * from './message.js';
export * from './protocol-choice.js';
export {
  CODES,
  type CodeEntry,
  type CodeName,
  codeBySymbol,
  codeEntry,
  DEFAULT_DISPATCHER_PORT,
  DEFAULT_REFERENCES_PORT,
  HEADERS,
  type HeaderEntry,
  type HeaderName,
  MAX_U32,
  type RegistryStatus,
  START_RESULTS_BASE,
} from './registry.js';
export * from './replies.js';
export { ReplyBuffers, ReplyWriter } from './reply-writer.js';
export * from './requests.js';
export * from './server-session.js';
export type { ChoiceState, SstpClientState, SstpServerState } from './states.js';
