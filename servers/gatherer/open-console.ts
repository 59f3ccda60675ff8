import { join } from 'node:path';
import type { CloseStack } from '../../protocols/close-stack.js';
import { createDirectory } from '../../storage/files/make-directory.js';
import { CrawlConsole } from '../crawler/console/index.js';
import type { CrawlController } from '../crawler/controller.js';
import type { CrawlOrderConfig } from '../crawler/order/order.js';
import { redactControl } from '../crawler/redaction.js';
import type { Logger } from '../host/index.js';

/** Starts the console of a crawl; returns undefined if its order has none. */
export async function openConsole(
  { order, log }: { readonly order: CrawlOrderConfig; readonly log?: Logger },
  controller: CrawlController,
  directory: string,
  resources: CloseStack,
): Promise<CrawlConsole | undefined> {
  if (order.console === undefined || log === undefined) return undefined;
  const { host, port, hostNames, passwordEnvironment } = order.console;
  await createDirectory(directory);
  const console = await CrawlConsole.start({
    control: redactControl(controller),
    host,
    port,
    allowedHosts: hostNames,
    password: process.env[passwordEnvironment] ?? '',
    name: order.name,
    log,
    file: join(directory, 'console.json'),
  });
  return resources.adopt(console, (started) => started.close());
}
