// Starts the console of a fake crawl, for the tests of its pages, addresses and commands.
import { join } from 'node:path';
import { pino } from 'pino';
import { CrawlConsole } from '../../../servers/crawler/console/console.js';
import { type Teardown, temporaryDirectory } from '../../helpers/temporary-directory.js';
import { FakeCrawl } from './fake-control.js';

export const PASSWORD = 'open sesame';
export const LOG = pino({ enabled: false });

/** Starts the console of a fake crawl; `request` sends requests to it and does not follow redirects. */
export async function consoleScene(
  t: Teardown,
  options: Partial<Parameters<typeof CrawlConsole.start>[0]> = {},
) {
  const crawl = new FakeCrawl();
  const directory = await temporaryDirectory(t);
  const file = join(directory, 'console.json');
  const crawlConsole = await CrawlConsole.start({
    control: crawl,
    port: 0,
    password: PASSWORD,
    name: 'example',
    log: LOG,
    intervalMs: 0,
    file,
    ...options,
  });
  t.teardown(() => crawlConsole.close());
  const request = (path: string, init: RequestInit = {}) =>
    fetch(new URL(path, crawlConsole.url), { redirect: 'manual', ...init });
  const bearer = { authorization: `Bearer ${crawlConsole.token}` };
  return { crawl, crawlConsole, directory, file, request, bearer };
}
