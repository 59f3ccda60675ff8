import type { CloseStack } from '../../../protocols/close-stack.js';
import { ChromiumLoader, type ChromiumLoaderOptions } from '../../crawler/browser/chromium-loader.js';
import type { PageLoader } from '../../crawler/browser/types.js';
import type { CrawlOrderConfig } from '../../crawler/order/order.js';

/** Opens a browser for the pages of a crawl. */
export type OpenBrowser = (options: ChromiumLoaderOptions) => Promise<PageLoader>;

interface BrowserOfCrawl {
  readonly order: CrawlOrderConfig;
  readonly openBrowser?: OpenBrowser | undefined;
}

/**
 * Opens the browser if the order, or a sheet, has pages loaded in one. @throws UsageError if it is not
 * installed
 */
export async function openBrowser(
  { order, openBrowser: open = (options) => ChromiumLoader.open(options) }: BrowserOfCrawl,
  userAgent: string,
  resources: CloseStack,
): Promise<PageLoader | undefined> {
  if (![order, ...order.sheets].some(({ settings }) => settings.fetcher === 'browser')) return undefined;
  return resources.use(await open({ ...order.browser, userAgent }));
}
