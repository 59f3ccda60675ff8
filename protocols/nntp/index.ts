export * from './lines.js';
export * from './news-url.js';
export { type NntpEvent, NntpReplyDecoder } from './reply-decoder.js';
