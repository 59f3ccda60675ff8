// The options of an order that need a crawl of their own: a row for each.

import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CrawlMap } from '../../../../servers/crawler/mapper/index.js';
import type { CrawlOrderInput } from '../../../../servers/crawler/order/order.js';
import type { GathererOptions } from '../../../../servers/gatherer/index.js';
import type { Page } from '../../../helpers/site.js';
import { page } from '../../../helpers/site.js';
import { waitUntil } from '../../../helpers/wait-until.js';
import { type CrawlView, PAGES, type Running } from './crawls.js';

/** An option and what shows its effect. */
export interface OrderRow {
  /** Path in the order. */
  readonly key: string;
  /** @param directory of the crawl */
  readonly set: (directory: string) => CrawlOrderInput;
  /** The rest of the order, with the option and without it. */
  readonly both?: (directory: string) => CrawlOrderInput;
  readonly pages?: () => Readonly<Record<string, Page>>;
  readonly hosts?: readonly string[] | ((directory: string) => readonly string[]);
  readonly openBrowser?: GathererOptions['openBrowser'];
  readonly drive?: (running: Running) => Promise<unknown>;
  /** Crawls the site twice; the second crawl is seen. */
  readonly twice?: true;
  /** True with the option, false without it. */
  readonly shows: (view: CrawlView) => boolean;
}

const HOUR_MS = 3_600_000;

function late(milliseconds: number, text: string): Page {
  return (_, response) =>
    void setTimeout(() => response.writeHead(200, { 'content-type': 'text/html' }).end(text), milliseconds);
}

/** Waits for a state, or the end; stops the crawl; returns whether the state came. */
function stopAt(state: string): NonNullable<OrderRow['drive']> {
  return async ({ control }) => {
    const current = (): string => control.snapshot().state;
    await waitUntil(() => [state, 'finished'].includes(current()));
    const came = current() === state;
    control.stop();
    return came;
  };
}

/** Returns the number of inactive queues of a crawl that is paused at its start, and stops it. */
async function inactiveAtStart({ control }: Running): Promise<number> {
  await waitUntil(() => control.snapshot().state === 'paused');
  const queues = await control.queues({ limit: 100 });
  control.stop();
  return queues.filter(({ state }) => state === 'inactive').length;
}

/** Files that take long to compress, which are read at the same time. Returns their directory. */
function longFiles(directory: string): string {
  const files = join(directory, 'files');
  mkdirSync(files, { recursive: true });
  for (let i = 0; i < 16; i++) writeFileSync(join(files, `${i}.txt`), randomBytes(100_000).toString('hex'));
  return `file://${files}/`;
}

/** Drops files into the action directory, each when the one before is done, or after a while; stops the crawl. */
function dropFiles(...names: readonly string[]): NonNullable<OrderRow['drive']> {
  return async ({ control, crawl }) => {
    const actions = join(crawl, 'actions');
    mkdirSync(actions, { recursive: true });
    await waitUntil(() => control.snapshot().state === 'empty');
    for (const [index, name] of names.entries()) {
      writeFileSync(join(actions, name), '');
      const end = Date.now() + 4000;
      await waitUntil(() => doneFiles(crawl).length > index || Date.now() > end);
    }
    const done = doneFiles(crawl).length;
    control.stop();
    return done;
  };
}

function doneFiles(crawl: string): string[] {
  const done = join(crawl, 'actions/done');
  return existsSync(done) ? readdirSync(done) : [];
}

const HOSTS = Array.from({ length: 6 }, (_, i) => `http://127.0.9.${i + 1}:1/`);

/** Which of two crawlers is responsible for the site. */
const MAPPED =
  new CrawlMap({ crawlers: 2, own: 0, by: 'domain' }).foreignCrawler('http://127.0.0.1/', '') ?? 0;

export const ORDER_ROWS: readonly OrderRow[] = [
  {
    key: 'profile',
    set: () => ({ profile: 'archive' }),
    shows: ({ site }) => site.paths.includes('/i.png'),
  },
  {
    key: 'actions.directory',
    set: () => ({ actions: { directory: 'actions', firstLookSeconds: 0, lookSeconds: 0.05 } }),
    both: () => ({ pauseAtFinish: true }),
    drive: dropFiles('a.schedule'),
    shows: ({ seen }) => seen === 1,
  },
  {
    key: 'actions.firstLookSeconds',
    set: () => ({ actions: { directory: 'actions', firstLookSeconds: 0, lookSeconds: 0.05 } }),
    both: () => ({ pauseAtFinish: true, actions: { directory: 'actions', lookSeconds: 0.05 } }),
    drive: dropFiles('a.schedule'),
    shows: ({ seen }) => seen === 1,
  },
  {
    key: 'actions.lookSeconds',
    set: () => ({ actions: { directory: 'actions', firstLookSeconds: 0.1, lookSeconds: 0.05 } }),
    both: () => ({ pauseAtFinish: true, actions: { directory: 'actions', firstLookSeconds: 0.1 } }),
    drive: dropFiles('a.schedule', 'b.schedule'),
    shows: ({ seen }) => seen === 2,
  },
  {
    key: 'mapper.crawlers',
    set: () => ({ mapper: { crawlers: 1000 } }),
    shows: ({ site }) => site.paths.length === 0,
  },
  {
    key: 'mapper.own',
    // The host of the site, an address, is that of one of two crawlers.
    set: () => ({ mapper: { crawlers: 2, own: 1 - MAPPED } }),
    both: () => ({ mapper: { crawlers: 2, own: MAPPED } }),
    shows: ({ site }) => site.paths.length === 0,
  },
  {
    key: 'mapper.directory',
    set: () => ({ mapper: { crawlers: 1000, directory: 'elsewhere' } }),
    both: () => ({ mapper: { crawlers: 1000 } }),
    shows: ({ crawl }) => existsSync(join(crawl, 'elsewhere')),
  },
  {
    key: 'dumpPendingAtClose',
    set: () => ({ dumpPendingAtClose: true }),
    both: () => ({ logs: true, maxDocuments: 1 }),
    shows: ({ lines, snapshot }) =>
      [...lines.values()].some(({ status }) => status === 0) && snapshot.failed === 0,
  },
  {
    key: 'holdQueues',
    set: () => ({ holdQueues: false }),
    both: () => ({ targetReadyBacklog: 1, pauseAtStart: true }),
    hosts: HOSTS,
    drive: inactiveAtStart,
    shows: ({ seen }) => seen === 0,
  },
  {
    key: 'targetReadyBacklog',
    set: () => ({ targetReadyBacklog: 1 }),
    both: () => ({ pauseAtStart: true }),
    hosts: HOSTS,
    drive: inactiveAtStart,
    shows: ({ seen }) => Number(seen) > 0,
  },
  {
    key: 'snoozeDeactivateMs',
    set: () => ({ snoozeDeactivateMs: 10 }),
    both: () => ({
      snoozeDeactivateMs: HOUR_MS * 10,
      pauseAtStart: true,
      targetReadyBacklog: 1,
      workers: 1,
      settings: { minDelayMs: HOUR_MS, maxDelayMs: HOUR_MS },
    }),
    // CRAWL-5.4 T18: other queues wait to become active.
    hosts: HOSTS,
    drive: async ({ control, site }) => {
      const isPaused = (): boolean => control.snapshot().state === 'paused';
      await waitUntil(isPaused);
      // Paused again, so that its queue stays as it is after the first fetch.
      site.pages.set('/robots.txt', (_, response) => {
        control.pause();
        response.end();
      });
      control.resume();
      await waitUntil(() => isPaused() && site.requests.length > 0);
      const queues = await control.queues({ limit: 100 });
      control.stop();
      return queues.find(({ lastQueued }) => lastQueued === `${site.url}/`)?.state;
    },
    shows: ({ seen }) => seen === 'inactive',
  },
  {
    key: 'totalBandwidthKBs',
    // CRAWL-7.6: the first document takes an hour.
    set: () => ({ totalBandwidthKBs: 0.000_001 }),
    drive: async ({ control, site }) => {
      await waitUntil(() => site.requests.length > 0);
      // Without the limit the crawl ends long before.
      let rounds = 0;
      await waitUntil(() => control.snapshot().state === 'finished' || rounds++ === 100);
      control.stop();
    },
    shows: ({ site }) => !site.paths.includes('/a'),
  },
  { key: 'maxBytes', set: () => ({ maxBytes: 1 }), shows: ({ report }) => report.end === 'data limit' },
  {
    key: 'maxDocuments',
    set: () => ({ maxDocuments: 1 }),
    shows: ({ report }) => report.end === 'document limit',
  },
  {
    key: 'maxSeconds',
    set: () => ({ maxSeconds: 1 }),
    pages: () => ({ ...PAGES, '/a': late(2500, page('A', [])) }),
    shows: ({ report }) => report.end === 'time limit',
  },
  {
    key: 'stuckSeconds',
    set: () => ({ stuckSeconds: 1 }),
    pages: () => ({ ...PAGES, '/a': late(4500, page('A', [])) }),
    shows: ({ lines }) => lines.get('/a')?.status === -7000,
  },
  {
    key: 'lowDiskMiB',
    set: () => ({ lowDiskMiB: 1_000_000_000 }),
    both: () => ({ lowDiskMiB: 0 }),
    drive: async ({ control }) => {
      await waitUntil(
        () => control.snapshot().pauseReason !== undefined || control.snapshot().state === 'finished',
      );
      const reason = control.snapshot().pauseReason;
      control.stop();
      return reason;
    },
    shows: ({ seen }) => typeof seen === 'string' && seen.includes('lowDiskMiB'),
  },
  {
    key: 'pauseAtStart',
    set: () => ({ pauseAtStart: true }),
    drive: stopAt('paused'),
    shows: ({ seen }) => seen === true,
  },
  {
    key: 'pauseAtFinish',
    set: () => ({ pauseAtFinish: true }),
    drive: stopAt('empty'),
    shows: ({ seen }) => seen === true,
  },
  {
    key: 'logs',
    set: () => ({ logs: false }),
    shows: ({ crawl }) => !existsSync(join(crawl, 'logs/crawl.log')),
  },
  {
    key: 'warc.directory',
    set: (directory) => ({ warc: { directory: join(directory, 'warc') } }),
    shows: ({ crawl }) => existsSync(join(crawl, '../../warc')),
  },
  {
    key: 'warc.format',
    set: (directory) => ({ warc: { directory: join(directory, 'warc'), format: 'arc' } }),
    both: (directory) => ({ warc: { directory: join(directory, 'warc') } }),
    shows: ({ crawl }) => readdirSync(join(crawl, '../../warc')).some((name) => name.endsWith('.arc.gz')),
  },
  {
    key: 'warc.poolMaxActive',
    set: (directory) => ({ warc: { directory: join(directory, 'warc'), poolMaxActive: 4 } }),
    both: (directory) => ({ workers: 5, warc: { directory: join(directory, 'warc') } }),
    hosts: (directory) => [longFiles(directory)],
    shows: ({ crawl }) =>
      readdirSync(join(crawl, '../../warc')).filter((name) => name.endsWith('.warc.gz')).length > 1,
  },
  {
    key: 'warc.skipIdenticalDigests',
    set: (directory) => ({
      warc: { directory: join(directory, 'warc'), digestHistory: true, skipIdenticalDigests: true },
    }),
    both: (directory) => ({
      workers: 1,
      warc: { directory: join(directory, 'warc'), digestHistory: true },
    }),
    shows: ({ lines }) => lines.get('/e')?.annotations.includes('unwritten:identicalDigest') === true,
  },
  {
    key: 'settings.skipUnchanged',
    set: () => ({ settings: { skipUnchanged: true } }),
    twice: true,
    shows: ({ lines }) => lines.get('/')?.annotations.includes('unchanged') === true,
  },
  {
    key: 'settings.runtimeOperation',
    set: () => ({ settings: { runtimeSeconds: 1, runtimeOperation: 'terminate' } }),
    both: () => ({ settings: { runtimeSeconds: 1 } }),
    pages: () => ({ ...PAGES, '/': late(1200, page('Start', ['/a', '/b'])) }),
    drive: stopAt('paused'),
    shows: ({ report }) => report.end === 'time limit',
  },
];
