import { join, resolve } from 'node:path';
import type { CloseStack } from '../../../protocols/close-stack.js';
import { createDirectory } from '../../../storage/files/make-directory.js';
import { ChromiumLoader, type ChromiumLoaderOptions } from '../../crawler/browser/chromium-loader.js';
import type { PageLoader } from '../../crawler/browser/types.js';
import type { CrawlConsole } from '../../crawler/console/console.js';
import type { CrawlController } from '../../crawler/controller.js';
import type { CrawlOrderConfig } from '../../crawler/order/order.js';
import { type Logger, openCertificate } from '../../host/index.js';

/** Starts the console of a crawl; returns undefined if its order has none. */
export async function openConsole(
  { order, log }: { readonly order: CrawlOrderConfig; readonly log?: Logger | undefined },
  controller: CrawlController,
  directory: string,
  resources: CloseStack,
): Promise<CrawlConsole | undefined> {
  if (order.console === undefined || log === undefined) return undefined;
  const { CrawlConsole } = await import('../../crawler/console/console.js');
  const { host, port, hostNames, passwordEnvironment, certificate, key } = order.console;
  const files =
    certificate === ''
      ? undefined
      : { certificate: resolve(directory, certificate), key: resolve(directory, key) };
  await createDirectory(directory);
  const opened = await openCertificate(files, log);
  if (opened !== undefined) resources.adopt(opened, (files) => files[Symbol.dispose]());
  const console = await CrawlConsole.start({
    control: controller,
    host,
    port,
    certificate: opened,
    allowedHosts: hostNames,
    password: process.env[passwordEnvironment] ?? '',
    name: order.name,
    log,
    file: join(directory, 'console.json'),
  });
  return resources.adopt(console, (started) => started.close());
}

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
