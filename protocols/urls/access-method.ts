// The access methods of URLs (G-36), and schemes that programs add to them.
import { UsageError } from '../errors.js';

/** G-36, G-55, G-56: the access methods of a configuration, in lower case. `nntp:` counts as `news`. */
export const ACCESS_METHODS = ['file', 'ftp', 'gopher', 'http', 'https', 'news', 'telnet', 'wais'] as const;

/** One of {@link ACCESS_METHODS}, or a scheme of {@link addScheme}. */
export type AccessMethod = string;

/** The schemes that this process knows besides the built-in ones, with their default ports; 0 for none. */
const ADDED = new Map<string, number>();

const METHOD_BY_SCHEME: ReadonlyMap<string, AccessMethod> = new Map<string, AccessMethod>([
  ...ACCESS_METHODS.map((method) => [method, method] as const),
  ['nntp', 'news'],
]);

/** The access method of a scheme (lower case, without the colon); `undefined` for an unsupported scheme. */
export function methodOfScheme(scheme: string): AccessMethod | undefined {
  return METHOD_BY_SCHEME.get(scheme) ?? (ADDED.has(scheme) ? scheme : undefined);
}

/**
 * Makes the URLs of a scheme known to this process: `scheme://host:port/path?query`, with the canonical form of
 * FTP's. A thread needs a call of its own. Without effect for a built-in scheme.
 *
 * @param port the default port, which canonical URLs omit; 0 for none
 * @throws UsageError for a name that RFC 3986, 3.1 does not allow, and for capitals
 */
export function addScheme(scheme: string, port = 0): void {
  if (!/^[a-z][a-z0-9+.-]*$/.test(scheme)) throw new UsageError(`not the name of a scheme: ${scheme}`);
  if (!METHOD_BY_SCHEME.has(scheme)) ADDED.set(scheme, port);
}

/** The default port of a scheme that was added; `undefined` for other schemes, and if it has none. */
export function addedPort(scheme: string): number | undefined {
  return ADDED.get(scheme) || undefined;
}

/**
 * The access method of a canonical URL (G-36).
 * @throws UsageError when `url` is not one that `canonicalUrl` could have returned
 */
export function accessMethod(url: string): AccessMethod {
  const method = methodOfScheme(url.slice(0, Math.max(0, url.indexOf(':'))));
  if (method === undefined) throw new UsageError(`not a canonical URL: ${url}`);
  return method;
}

/**
 * Whether documents with such URLs can be gathered, and links to them be followed (G-60): not `javascript:`,
 * `mailto:`, `telnet:` and the like.
 * @param url begins with its scheme in lower case
 */
export function isEnumerable(url: string): boolean {
  if (url.startsWith('http://') || url.startsWith('https://')) return true;
  const method = methodOfScheme(url.slice(0, Math.max(0, url.indexOf(':'))));
  return method !== undefined && method !== 'telnet' && method !== 'wais';
}
