// The seeds and the identity of requests that an order of the crawl engine adds to a configuration.
import { readFile } from 'node:fs/promises';
import { type GathererConfig, parseRootNode } from '../../../protocols/config/index.js';
import { ConfigError } from '../../../protocols/errors.js';
import { resolveUrl } from '../../../protocols/urls/index.js';
import { parseSeeds } from '../../crawler/decide/seed-list.js';
import type { CrawlOrderConfig } from '../../crawler/order/order.js';
import { findConfigFile } from './essence-options.js';
import { basicLogins } from './order-credentials.js';

/** Limits of a seed whose order has a scope, which alone decides: the largest legal values, and no filters. */
const NO_LIMITS = 'URL=2147483647,/dev/null Host=2147483647,/dev/null';

/**
 * Returns the configuration with the order's seeds as RootNodes (CRAWL-10.1.5), its User-Agent and From (G-65),
 * and its logins (G-82). The rules of an order with a scope alone limit its seeds; without a scope a seed has
 * the default limits of a RootNode (G-27).
 * @param onProblem receives lines that are not seeds
 */
export function withOrder(
  config: GathererConfig,
  order: CrawlOrderConfig | undefined,
  onProblem: (problem: Error) => void = () => undefined,
): GathererConfig {
  if (order === undefined) return config;
  const file = config.crawlOrder ?? 'order';
  const list = parseSeeds(order.seeds.join('\n'));
  for (const line of [...list.acceptSurts, ...list.rejectSurts])
    onProblem(new ConfigError(file, 0, 'seeds', `a prefix is not a seed: ${line}; use a rule of the scope`));
  for (const { line } of list.ignored) onProblem(new ConfigError(file, 0, 'seeds', `not a URI: ${line}`));
  const limits = order.scope.length === 0 ? '' : ` ${NO_LIMITS}`;
  const known = new Set(config.rootNodes.map(({ url }) => url));
  const seeds = list.seeds
    .map((seed) => {
      const node = parseRootNode(seed + limits, { file, line: 0 }, { delay: config.accessDelay });
      return { ...node, url: resolveUrl(seed, undefined, order.settings.urlForm) ?? node.url };
    })
    .filter(({ url }) => !known.has(url));
  return {
    ...config,
    rootNodes: [...config.rootNodes, ...seeds],
    httpBasicAuth: [...config.httpBasicAuth, ...basicLogins(order, file)],
    ...(order.userAgent === '' ? {} : { httpUserAgent: order.userAgent }),
    ...(order.from === '' ? {} : { httpFrom: order.from }),
  };
}

/**
 * Reads the order of the crawl engine that the configuration names; returns undefined if it names no order.
 *
 * @throws ConfigError if the order cannot be read or is not valid
 */
export async function readConfiguredOrder(
  config: GathererConfig,
  onProblem: (problem: Error) => void = () => undefined,
): Promise<CrawlOrderConfig | undefined> {
  if (config.crawlOrder === undefined) return undefined;
  const file = findConfigFile(config, config.crawlOrder);
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new ConfigError('configuration', 0, 'Crawl-Order', `${file} cannot be read: ${String(cause)}`);
  });
  // Most configurations have no order, so its readers are loaded here.
  const { readOrderText } = await import('../../crawler/order/read-order-file.js');
  const { order, warnings } = await readOrderText(text, file);
  for (const warning of warnings) onProblem(warning);
  return order;
}
