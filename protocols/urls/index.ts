export {
  ACCESS_METHODS,
  type AccessMethod,
  accessMethod,
  addScheme,
  isEnumerable,
  methodOfScheme,
} from './access-method.js';
export * from './canonical.js';
export * from './clean-uri.js';
export { ConsistentHash, crawlerOf } from './consistent-hash.js';
export * from './fingerprint.js';
export * from './hops.js';
export { authorityOf, hostOf, queryOf, withoutBrackets } from './parse-url.js';
export * from './precedence.js';
export * from './queue-assignment.js';
export * from './seen-string.js';
export * from './server-name.js';
export * from './surt.js';
export { unescapeUnreserved } from './unreserved.js';
