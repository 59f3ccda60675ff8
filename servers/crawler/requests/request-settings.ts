// The headers and the proxy that the settings of a URI give its requests.
import { type FetchRequest, parseProxy } from '../../../clients/fetch/index.js';
import { UsageError } from '../../../protocols/errors.js';
import { withoutUserInfo } from '../../../protocols/urls/index.js';
import type { CrawlUri } from '../crawl-uri.js';
import type { CrawlSettings } from '../order/settings.js';
import type { CookieJars } from './cookie-jars.js';

/** Names that are not settable: the fetcher sets them, or others of the order do. */
const RESERVED = new Set([
  'accept-encoding',
  'authorization',
  'connection',
  'content-length',
  'cookie',
  'expect',
  'from',
  'host',
  'if-modified-since',
  'if-none-match',
  'keep-alive',
  'proxy-authorization',
  'referer',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
]);

/** Returns why a header cannot be set for requests; undefined if it can. */
export function headerProblem(name: string, value: string): string | undefined {
  if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(name)) return `${JSON.stringify(name)} is not the name of a header`;
  if (RESERVED.has(name.toLowerCase())) return `${name} is set by the crawler itself or by another setting`;
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
    return `the value of ${name} has characters that no header has`;
  return undefined;
}

/**
 * Returns the headers that a URI's settings add to its request: `requestHeaders`, Referer, Cookie. Names in lower case.
 * @param cookies undefined if the crawl keeps none
 */
export async function extraHeaders(
  { url, settings, entry, requestHeaders }: CrawlUri,
  cookies: CookieJars | undefined,
): Promise<Record<string, string>> {
  const headers: Record<string, string> = {};
  if (!/^https?:/.test(url)) return headers;
  Object.assign(headers, requestHeaders);
  for (const [name, value] of Object.entries(settings.requestHeaders)) headers[name.toLowerCase()] = value;
  const referer = settings.sendReferer ? refererOf(entry.uri.via, url) : '';
  if (referer !== '') headers.referer = referer;
  const cookie = settings.cookies ? ((await cookies?.headerFor(url)) ?? '') : '';
  if (cookie !== '') headers.cookie = cookie;
  return headers;
}

/**
 * Returns the Referer of a request (RFC 9110 10.1.3): without user name, password and fragment, and none from https to http.
 * @param via the page on which the URL was found; empty for a seed
 */
export function refererOf(via: string, url: string): string {
  if (!/^https?:/.test(via)) return '';
  if (via.startsWith('https:') && !url.startsWith('https:')) return '';
  return withoutUserInfo(via).replace(/#.*$/s, '');
}

/** Returns the proxy of a request and its login, which only the environment holds. */
export function proxyOf({
  proxy,
  proxyLoginEnvironment,
}: Pick<CrawlSettings, 'proxy' | 'proxyLoginEnvironment'>): Pick<FetchRequest, 'proxy' | 'proxyLogin'> {
  if (proxy === '') return {};
  const proxyLogin = process.env[proxyLoginEnvironment] ?? '';
  return proxyLogin === '' ? { proxy } : { proxy, proxyLogin };
}

/** Returns why the setting cannot be a proxy; undefined if it can. */
export function proxyProblem(proxy: string): string | undefined {
  if (proxy === '' || proxy === 'direct') return undefined;
  try {
    parseProxy(proxy);
    return undefined;
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
}
