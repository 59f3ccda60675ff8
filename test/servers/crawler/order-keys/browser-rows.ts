// The options of the browser: a row for each. The browser is one of the test; test/peers/browser-fetcher.ts has
// a real one.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CrawlOrderInput } from '../../../../servers/crawler/order/order.js';
import { fakeBrowser, requestOf } from '../../../helpers/fake-browser.js';
import { page } from '../../../helpers/site.js';
import { waitUntil } from '../../../helpers/wait-until.js';
import { type OrderRow, row as orderRow } from './order-rows.js';

const HOUR_MS = 3_600_000;

/** Each page requests two parts, and links to paths that tell the options of the browser. */
const openBrowser = fakeBrowser(async (loaded, { executable, maxPages, memoryMiB }) => {
  await requestOf(loaded, '/part-1');
  await requestOf(loaded, '/part-2');
  const { timeoutMs, scroll } = loaded;
  return page('Made', [
    `/pages-${maxPages}`,
    `/memory-${memoryMiB}`,
    `/for-${timeoutMs}-${scroll}`,
    executable,
  ]);
});

type Settings = NonNullable<CrawlOrderInput['settings']>;

const WITH_BROWSER: Settings = { fetcher: 'browser', browserDelayMs: 0 };

function setting(settings: Settings): CrawlOrderInput {
  return { settings: { ...WITH_BROWSER, ...settings } };
}

/** A row for an option, in a crawl with a browser. */
function row(...[key, set, shows, more]: Parameters<typeof orderRow>): OrderRow {
  return orderRow(key, set, shows, {
    both: { settings: WITH_BROWSER },
    pages: () => ({ '/': page('Start', ['/a']), '/a': page('A', []), '/part-1': 'one', '/part-2': 'two' }),
    openBrowser,
    ...more,
  });
}

export const BROWSER_ROWS: readonly OrderRow[] = [
  row('settings.fetcher', setting({}), ({ site }) => site.paths.includes('/part-1'), { both: {} }),
  row('settings.browserMaxSeconds', setting({ browserMaxSeconds: 7 }), ({ site }) =>
    site.paths.includes('/for-7000-false'),
  ),
  row('settings.browserScroll', setting({ browserScroll: true }), ({ site }) =>
    site.paths.includes('/for-30000-true'),
  ),
  row(
    'settings.browserMaxRequests',
    setting({ browserMaxRequests: 1 }),
    ({ site, lines }) =>
      !site.paths.includes('/part-2') && lines.get('/')?.annotations.includes('browser:refused:1') === true,
  ),
  row(
    'settings.browserMaxMegabytes',
    setting({ browserMaxMegabytes: 0 }),
    ({ site }) => !site.paths.includes('/part-1'),
  ),
  row(
    'settings.browserDelayMs',
    setting({ browserDelayMs: HOUR_MS }),
    ({ site }) => !site.paths.includes('/part-1'),
    {
      drive: async ({ control, site }) => {
        await waitUntil(() => site.paths.includes('/'));
        // Without the delay the crawl ends long before.
        let rounds = 0;
        await waitUntil(() => control.snapshot().state === 'finished' || rounds++ === 100);
        for (const { worker } of control.workers.reports()) control.workers.kill(worker);
        control.stop();
      },
    },
  ),
  row('browser.executable', { browser: { executable: '/other' } }, ({ site }) =>
    site.paths.includes('/other'),
  ),
  row('browser.maxPages', { browser: { maxPages: 3 } }, ({ site }) => site.paths.includes('/pages-3')),
  row('browser.memoryMiB', { browser: { memoryMiB: 256 } }, ({ site }) => site.paths.includes('/memory-256')),
  row(
    'browser.maxCacheMiB',
    { browser: { executable: '/other', maxCacheMiB: 0 } },
    ({ site }) => site.paths.filter((path) => path === '/part-1').length === 2,
    {
      pages: () => ({ '/': page('Start', []), '/part-1': 'one', '/other': page('Other', []) }),
      both: { settings: WITH_BROWSER, browser: { executable: '/other' } },
    },
  ),
  row(
    'browser.keepDocuments',
    { browser: { keepDocuments: true } },
    ({ crawl }) => {
      const warc = join(crawl, '../../warc');
      const texts = readdirSync(warc).map((name) => readFileSync(join(warc, name), 'latin1'));
      return texts.some((text) => /\r\nWARC-Type: conversion\r\n/.test(text));
    },
    {
      both: (directory) => ({
        settings: WITH_BROWSER,
        warc: { directory: join(directory, 'warc'), compress: false },
      }),
    },
  ),
];
