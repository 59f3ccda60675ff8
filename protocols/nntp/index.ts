export {
  formatNntpTime,
  type GroupStatus,
  LineSplitter,
  type OverviewLine,
  parseActiveLine,
  parseGroupStatus,
  parseOverviewLine,
} from './lines.js';
export {
  articleUrl,
  groupUrl,
  type NewsAddress,
  type NewsTarget,
  NNTP_PORT,
  parseNewsUrl,
} from './news-url.js';
export { type NntpEvent, NntpReplyDecoder } from './reply-decoder.js';
