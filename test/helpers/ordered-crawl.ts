// A crawl of one site with an order of the test, without pauses between requests.
import type { Clock } from '../../protocols/clock.js';
import { parseGathererConf } from '../../protocols/config/index.js';
import { type CrawlOrderInput, crawlOrderSchema } from '../../servers/crawler/order/order.js';
import { Gatherer } from '../../servers/gatherer/index.js';

/**
 * Opens a Gatherer whose RootNode is a URL.
 * @param lines further lines of its configuration
 * @param clock of the limits of time of requests; default: that of the process
 */
export function openOrdered(
  directory: string,
  url: string,
  order: CrawlOrderInput,
  lines: readonly string[] = [],
  clock?: Clock,
): Promise<Gatherer> {
  const head = ['Gatherer-Name: Test', 'Gatherer-Host: g.example.org', ...lines];
  const text = [...head, '<RootNodes>', `${url} Delay=0`, '</RootNodes>', ''].join('\n');
  return Gatherer.open({
    directory,
    config: parseGathererConf(text, 'test.cf', {}).config,
    essenceWorkers: 1,
    force: true,
    clock,
    order: crawlOrderSchema.parse({
      logs: false,
      ...order,
      settings: { delayFactor: 0, minDelayMs: 0, ...order.settings },
    }),
  });
}

/** Crawls a site to its end. Returns the number of URIs by what became of them. */
export async function crawlOrdered(
  directory: string,
  url: string,
  order: CrawlOrderInput,
  lines: readonly string[] = [],
  clock?: Clock,
): Promise<Awaited<ReturnType<Gatherer['run']>>['counts']> {
  await using gatherer = await openOrdered(directory, url, order, lines, clock);
  return (await gatherer.run(new AbortController().signal)).counts;
}
