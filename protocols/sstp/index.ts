export { SstpClientSession, type SstpReply } from './client-session.js';
export { SstpDecoder, type SstpDecoderOptions } from './codec.js';
export { encodeSstp, formatStartLine } from './encoder.js';
export { IdListMessage } from './id-list-message.js';
export { REPLY_LIMITS, REQUEST_LIMITS, type SstpLimits } from './limits.js';
export { NO_BODY, type SstpHeader, type SstpMessage } from './message.js';
export { chooseProtocol, MAX_CHOICE_BYTES, type ProtocolChoice } from './protocol-choice.js';
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
export {
  descriptionHeaders,
  isNotFound,
  type LinkReply,
  parseLinkReply,
  parseUrlDescription,
  replyError,
  type UrlDescription,
} from './replies.js';
export { ReplyBuffers } from './reply-buffers.js';
export { ReplyWriter } from './reply-writer.js';
export { RequestDecoder, type RequestDecoderOptions } from './request-decoder.js';
export {
  codeOfKind,
  isSiteKind,
  kindOfCode,
  type LinkKind,
  type LinkRequest,
  type LinkRequestFields,
  linkRequestMessage,
  MAX_URL_BYTES,
  parseRequest,
  requestedName,
  type SstpRequest,
  type UnservedRequest,
  type UrlByNameRequest,
} from './requests.js';
export { type MalformedRequest, type ServerRequest, SstpServerSession } from './server-session.js';
