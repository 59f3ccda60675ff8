export { ACCESS_METHODS, type AccessMethod, accessMethod, methodOfScheme } from './access-method.js';
export {
  type CanonicalOptions,
  canonicalUrl,
  MAX_URL_LENGTH,
  UrlResolver,
  withoutUserInfo,
} from './canonical.js';
export { classKey } from './class-key.js';
export {
  elfHash,
  type FingerprintBits,
  fingerprint,
  uriKey,
  uriKeyHalves,
  type Word64,
} from './fingerprint.js';
export { referenceUrl } from './reference-url.js';
export {
  canonicalString,
  DEFAULT_SEEN_RULES,
  FIXUP_QUERY,
  LOWERCASE,
  type SeenRule,
  STRIP_EXTRA_SLASHES,
  STRIP_SESSION_CFIDS,
  STRIP_SESSION_IDS,
  STRIP_USERINFO,
  STRIP_WWW,
  STRIP_WWW_N,
} from './seen-string.js';
export {
  canonicalDocumentUrl,
  type DocumentUrlParts,
  documentUrlParts,
  formatServerName,
  type ServerName,
  serverNameOf,
} from './server-name.js';
