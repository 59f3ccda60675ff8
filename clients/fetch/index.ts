export { DiskCache } from './cache/disk-cache.js';
export * from './cache/settings.js';
export { createFetcher, type FetcherOptions } from './create-fetcher.js';
export {
  type DebugMessage,
  debugChannel,
  type FetchNote,
  fetchNoteChannel,
  publishDebug,
} from './debug-channel.js';
export { decodedPieces } from './decode-body.js';
export { entryUrl } from './entry-names.js';
export { FileFetcher, type FileFetcherOptions, isOutOfReach, localPathOf } from './file-fetcher.js';
export { fetchFollowing, MAX_REDIRECTS } from './follow.js';
export { FtpFetcher, type FtpFetcherOptions } from './ftp-fetcher.js';
export { FtpProxyFetcher } from './ftp-proxy-fetcher.js';
export { GopherFetcher } from './gopher-fetcher.js';
export { hideWords } from './hidden-text.js';
export type { HttpConnectorOptions } from './http-connector.js';
export { HttpFetcher, type HttpFetcherOptions } from './http-fetcher.js';
export type { HttpLogin } from './http-logins.js';
export { type LocalReach, type OpenedFile, openLocal, type UnopenedFile } from './local-files.js';
export { LocalMapper, type LocalMapping } from './local-mapping.js';
export * from './news-fetcher.js';
export { fetcherOf, type OwnFetcher, type OwnRequest, type OwnResult } from './own-fetcher.js';
export {
  type HostKnowledge,
  isPrivateAddress,
  isPrivateHost,
  mayReach,
  mustBePublic,
} from './private-addresses.js';
export type { ProxyServer } from './proxy.js';
export { parseProxy } from './proxy.js';
export type { ReceiveLimits } from './receive-watch.js';
export { type BodyBytes, type BodyFile, closeBodies, isStored, type StoredBody } from './stored-body.js';
export type { ServerLogin, TransferOptions } from './transfer.js';
export { transformed } from './transformed.js';
export { isPayloadWhole, isWhole, truncationOf } from './truncation.js';
export * from './types.js';
export type { KeepWire, WireResponse } from './wire-tap.js';
