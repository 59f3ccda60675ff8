// The options of the browser: a row for each. The browser is one of the test; test/peers/browser-fetcher.ts has a real one.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CrawlOrderInput } from '../../../../servers/crawler/order/order.js';
import { fakeBrowser, requestOf } from '../../../helpers/fake-browser.js';
import { page } from '../../../helpers/site.js';
import { waitUntil } from '../../../helpers/wait-until.js';
import type { OrderRow } from './order-rows.js';

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

type Parts = Pick<OrderRow, 'key' | 'set' | 'shows'> & Partial<OrderRow>;
type Settings = NonNullable<CrawlOrderInput['settings']>;

function row(parts: Parts): OrderRow {
  return {
    both: () => ({ settings: WITH_BROWSER }),
    pages: () => ({ '/': page('Start', ['/a']), '/a': page('A', []), '/part-1': 'one', '/part-2': 'two' }),
    openBrowser,
    ...parts,
  };
}

const WITH_BROWSER: Settings = { fetcher: 'browser', browserDelayMs: 0 };

function setting(settings: Settings): OrderRow['set'] {
  return () => ({ settings: { ...WITH_BROWSER, ...settings } });
}

export const BROWSER_ROWS: readonly OrderRow[] = [
  row({
    key: 'settings.fetcher',
    both: () => ({}),
    set: setting({}),
    shows: ({ site }) => site.paths.includes('/part-1'),
  }),
  row({
    key: 'settings.browserMaxSeconds',
    set: setting({ browserMaxSeconds: 7 }),
    shows: ({ site }) => site.paths.includes('/for-7000-false'),
  }),
  row({
    key: 'settings.browserScroll',
    set: setting({ browserScroll: true }),
    shows: ({ site }) => site.paths.includes('/for-30000-true'),
  }),
  row({
    key: 'settings.browserMaxRequests',
    set: setting({ browserMaxRequests: 1 }),
    shows: ({ site, lines }) =>
      !site.paths.includes('/part-2') && lines.get('/')?.annotations.includes('browser:refused:1') === true,
  }),
  row({
    key: 'settings.browserMaxMegabytes',
    set: setting({ browserMaxMegabytes: 0 }),
    shows: ({ site }) => !site.paths.includes('/part-1'),
  }),
  row({
    key: 'settings.browserDelayMs',
    set: setting({ browserDelayMs: HOUR_MS }),
    drive: async ({ control, site }) => {
      await waitUntil(() => site.paths.includes('/'));
      // Without the delay the crawl ends long before.
      let rounds = 0;
      await waitUntil(() => control.snapshot().state === 'finished' || rounds++ === 100);
      for (const { worker } of control.workers()) control.killWorker(worker);
      control.stop();
    },
    shows: ({ site }) => !site.paths.includes('/part-1'),
  }),
  row({
    key: 'browser.executable',
    set: () => ({ browser: { executable: '/other' } }),
    shows: ({ site }) => site.paths.includes('/other'),
  }),
  row({
    key: 'browser.maxPages',
    set: () => ({ browser: { maxPages: 3 } }),
    shows: ({ site }) => site.paths.includes('/pages-3'),
  }),
  row({
    key: 'browser.memoryMiB',
    set: () => ({ browser: { memoryMiB: 256 } }),
    shows: ({ site }) => site.paths.includes('/memory-256'),
  }),
  row({
    key: 'browser.maxCacheMiB',
    pages: () => ({ '/': page('Start', []), '/part-1': 'one', '/other': page('Other', []) }),
    both: () => ({ settings: WITH_BROWSER, browser: { executable: '/other' } }),
    set: () => ({ browser: { executable: '/other', maxCacheMiB: 0 } }),
    shows: ({ site }) => site.paths.filter((path) => path === '/part-1').length === 2,
  }),
  row({
    key: 'browser.keepDocuments',
    both: (directory) => ({
      settings: WITH_BROWSER,
      warc: { directory: join(directory, 'warc'), compress: false },
    }),
    set: () => ({ browser: { keepDocuments: true } }),
    shows: ({ crawl }) => {
      const warc = join(crawl, '../../warc');
      const texts = readdirSync(warc).map((name) => readFileSync(join(warc, name), 'latin1'));
      return texts.some((text) => /\r\nWARC-Type: conversion\r\n/.test(text));
    },
  }),
];
