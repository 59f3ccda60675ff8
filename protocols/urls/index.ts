export {
  ACCESS_METHODS,
  type AccessMethod,
  accessMethod,
  addScheme,
  isEnumerable,
  methodOfScheme,
} from './access-method.js';
export {
  type CanonicalOptions,
  canonicalUrl,
  MAX_URL_LENGTH,
  UrlResolver,
  withoutUserInfo,
} from './canonical.js';
export { type ClassKeySubject, classKey } from './class-key.js';
export { type CleanUriOptions, cleanUri } from './clean-uri.js';
export { ConsistentHash, crawlerOf } from './consistent-hash.js';
export { COST_POLICIES, type CostPolicy, type CostPolicyName } from './cost.js';
export {
  elfHash,
  type FingerprintBits,
  fingerprint,
  formatWord,
  uriKey,
  uriKeyHalves,
  type Word64,
} from './fingerprint.js';
export {
  appendHop,
  type DirectiveOptions,
  type HopLetter,
  hopCount,
  linkHops,
  prerequisiteDirective,
  type SchedulingDirective,
  schedulingDirective,
  shownHops,
  transHops,
} from './hops.js';
export { hostOf, withoutBrackets } from './host.js';
export { unescapeBytes } from './percent.js';
export {
  basePrecedence,
  costPrecedence,
  depthFirstPrecedence,
  highestUriPrecedence,
  hopsPrecedence,
  PRECEDENCE_FLOOR,
  type PrecedenceSubject,
  preloadedPrecedence,
  QUEUE_PRECEDENCE,
  successCountsPrecedence,
  type UriPrecedence,
} from './precedence.js';
export { PublicSuffixes } from './public-suffixes.js';
export {
  QUEUE_POLICIES,
  type QueueAssignment,
  type QueueAssignmentOptions,
  type QueuePolicy,
  queueAssignment,
  surtKey,
  topmostKey,
} from './queue-assignment.js';
export { referenceUrl } from './reference-url.js';
export {
  canonicalString,
  DEFAULT_SEEN_RULES,
  FIXUP_QUERY,
  LOWERCASE,
  regexRule,
  SEEN_RULES,
  type SeenRule,
  STRIP_EXTRA_SLASHES,
  STRIP_SESSION_CFIDS,
  STRIP_SESSION_IDS,
  STRIP_USERINFO,
  STRIP_WWW,
  STRIP_WWW_N,
  seenRules,
} from './seen-string.js';
export {
  canonicalDocumentUrl,
  type DocumentUrlParts,
  documentUrlParts,
  formatServerName,
  type ServerName,
  serverNameOf,
} from './server-name.js';
export {
  impliedSurtPrefix,
  type SurtOptions,
  SurtPrefixSet,
  surt,
  surtCandidate,
  surtPrefixOfDomain,
  surtPrefixOfHost,
} from './surt.js';
export { type ReferenceResolver, referenceResolver, resolveUrl, type UrlForm } from './url-form.js';
