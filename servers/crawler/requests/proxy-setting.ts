// The proxy of requests by the settings of a URI.
import { type FetchRequest, parseProxy } from '../../../clients/fetch/index.js';
import { UsageError } from '../../../protocols/errors.js';
import type { CrawlSettings } from '../order/settings.js';

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
