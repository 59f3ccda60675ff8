// The crawl mapper of a run (CRAWL-9.8).
import { isAbsolute, join } from 'node:path';
import type { CloseStack } from '../../protocols/close-stack.js';
import { CrawlMap, Diversions, type MapperOptions } from '../crawler/mapper/index.js';
import type { CrawlOrderConfig } from '../crawler/order/order.js';

/** Opens the diversion files of the order; undefined if the crawl has the web for itself. @throws StorageError */
export async function openMapper(
  { mapper }: Pick<CrawlOrderConfig, 'mapper'>,
  crawlDirectory: string,
  { prepare }: Pick<MapperOptions, 'prepare'>,
  resources: CloseStack,
): Promise<MapperOptions | undefined> {
  const { crawlers, own, by, directory } = mapper;
  if (crawlers === 0) return undefined;
  const path = isAbsolute(directory) ? directory : join(crawlDirectory, directory);
  const diversions = resources.use(await Diversions.open(path, own));
  return { map: new CrawlMap({ crawlers, own, by }), diversions, prepare };
}
