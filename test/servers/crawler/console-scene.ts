import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { CrawlConsole } from '../../../servers/crawler/console/index.js';
import { FakeCrawl } from './fake-control.js';

export const PASSWORD = 'open sesame';
export const LOG = pino({ enabled: false });

/** Starts the console of a fake crawl; `ask` sends requests without following redirects. */
export async function consoleScene(
  t: Teardown,
  more: Partial<Parameters<typeof CrawlConsole.start>[0]> = {},
) {
  const crawl = new FakeCrawl();
  const directory = await mkdtemp(join(tmpdir(), 'harvest-console-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, 'console.json');
  const made = await CrawlConsole.start({
    control: crawl,
    port: 0,
    password: PASSWORD,
    name: 'example',
    log: LOG,
    intervalMs: 0,
    file,
    ...more,
  });
  t.teardown(() => made.close());
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(new URL(path, made.url), { redirect: 'manual', ...init });
  const bearer = { authorization: `Bearer ${made.token}` };
  return { crawl, console: made, directory, file, ask, bearer };
}

interface Teardown {
  teardown(handler: () => unknown): void;
}
