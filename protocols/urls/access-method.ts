// The access methods of URLs (G-36).
import { UsageError } from '../errors.js';

/** G-36, G-55, G-56: the access methods of a configuration, in lower case. `nntp:` counts as `news`. */
export const ACCESS_METHODS = ['file', 'ftp', 'gopher', 'http', 'https', 'news', 'telnet', 'wais'] as const;

export type AccessMethod = (typeof ACCESS_METHODS)[number];

const METHOD_BY_SCHEME: ReadonlyMap<string, AccessMethod> = new Map([
  ...ACCESS_METHODS.map((method): [string, AccessMethod] => [method, method]),
  ['nntp', 'news'],
]);

/** The access method of a scheme (lower case, without the colon); `undefined` for an unsupported scheme. */
export function methodOfScheme(scheme: string): AccessMethod | undefined {
  return METHOD_BY_SCHEME.get(scheme);
}

/**
 * The access method of a canonical URL (G-36).
 * @throws UsageError when `url` is not one that `canonicalUrl` could have returned
 */
export function accessMethod(url: string): AccessMethod {
  const method = METHOD_BY_SCHEME.get(url.slice(0, Math.max(0, url.indexOf(':'))));
  if (method === undefined) throw new UsageError(`not a canonical URL: ${url}`);
  return method;
}
