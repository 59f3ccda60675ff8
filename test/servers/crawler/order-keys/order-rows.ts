// The options of an order that need a crawl of their own: a row for each.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { CrawlMap } from '../../../../servers/crawler/mapper/diversions.js';
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
const HOUR_S = 3600;

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

/** Looks for what must not come; without an option nothing comes for an hour. */
const LOOKS = 30;

/**
 * Drops files into the action directory, each when the one before is done; stops the crawl. With the option the
 * files are done, however long it takes. @param always how many are done without it, too
 */
function dropFiles(names: readonly string[], always = 0): NonNullable<OrderRow['drive']> {
  return async ({ control, crawl }) => {
    const actions = join(crawl, 'actions');
    const isSet = crawl.includes(`${sep}true${sep}`);
    mkdirSync(actions, { recursive: true });
    for (const [index, name] of names.entries()) {
      // The first one is there before the crawl begins, and so before the first look.
      writeFileSync(join(actions, name), '');
      await waitUntil(() => control.snapshot().state === 'empty');
      let looks = 0;
      const givesUp = () => !isSet && index >= always && looks++ === LOOKS;
      await waitUntil(() => doneFiles(crawl).length > index || givesUp());
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

type Part<Value> = Value | ((directory: string) => Value);
type More = Omit<Partial<OrderRow>, 'key' | 'set' | 'both' | 'shows'> & {
  readonly both?: Part<CrawlOrderInput>;
};

/**
 * A row for an option. @param more the rest of the order, and how its crawls differ from those of other rows
 */
export function row(
  key: string,
  set: Part<CrawlOrderInput>,
  shows: OrderRow['shows'],
  { both = {}, ...more }: More = {},
): OrderRow {
  const made = (part: Part<CrawlOrderInput>) => (typeof part === 'function' ? part : () => part);
  return { key, set: made(set), both: made(both), shows, ...more };
}

export const ORDER_ROWS: readonly OrderRow[] = [
  row('profile', { profile: 'archive' }, ({ site }) => site.paths.includes('/i.png')),
  row(
    'actions.directory',
    { actions: { directory: 'actions', firstLookSeconds: 0, lookSeconds: 0.05 } },
    ({ seen }) => seen === 1,
    { both: { pauseAtFinish: true }, drive: dropFiles(['a.schedule']) },
  ),
  row(
    'actions.firstLookSeconds',
    { actions: { directory: 'actions', firstLookSeconds: 0, lookSeconds: 0.05 } },
    ({ seen }) => seen === 1,
    {
      both: {
        pauseAtFinish: true,
        actions: { directory: 'actions', firstLookSeconds: HOUR_S, lookSeconds: 0.05 },
      },
      drive: dropFiles(['a.schedule']),
    },
  ),
  row(
    'actions.lookSeconds',
    { actions: { directory: 'actions', firstLookSeconds: 0.1, lookSeconds: 0.05 } },
    ({ seen }) => seen === 2,
    {
      both: {
        pauseAtFinish: true,
        actions: { directory: 'actions', firstLookSeconds: 0.1, lookSeconds: HOUR_S },
      },
      drive: dropFiles(['a.schedule', 'b.schedule'], 1),
    },
  ),
  row('mapper.crawlers', { mapper: { crawlers: 1000 } }, ({ site }) => site.paths.length === 0),
  // The host of the site, an address, is that of one of two crawlers.
  row('mapper.own', { mapper: { crawlers: 2, own: 1 - MAPPED } }, ({ site }) => site.paths.length === 0, {
    both: { mapper: { crawlers: 2, own: MAPPED } },
  }),
  row(
    'mapper.directory',
    { mapper: { crawlers: 1000, directory: 'elsewhere' } },
    ({ crawl }) => existsSync(join(crawl, 'elsewhere')),
    { both: { mapper: { crawlers: 1000 } } },
  ),
  row(
    'dumpPendingAtClose',
    { dumpPendingAtClose: true },
    ({ lines, snapshot }) => [...lines.values()].some(({ status }) => status === 0) && snapshot.failed === 0,
    { both: { logs: true, maxDocuments: 1 } },
  ),
  row('holdQueues', { holdQueues: false }, ({ seen }) => seen === 0, {
    both: { targetReadyBacklog: 1, pauseAtStart: true },
    hosts: HOSTS,
    drive: inactiveAtStart,
  }),
  row('targetReadyBacklog', { targetReadyBacklog: 1 }, ({ seen }) => Number(seen) > 0, {
    both: { pauseAtStart: true },
    hosts: HOSTS,
    drive: inactiveAtStart,
  }),
  row('snoozeDeactivateMs', { snoozeDeactivateMs: 10 }, ({ seen }) => seen === 'inactive', {
    both: {
      snoozeDeactivateMs: HOUR_MS * 10,
      pauseAtStart: true,
      targetReadyBacklog: 1,
      workers: 1,
      settings: { minDelayMs: HOUR_MS, maxDelayMs: HOUR_MS },
    },
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
  }),
  // CRAWL-7.6: the first document takes an hour.
  row('totalBandwidthKBs', { totalBandwidthKBs: 0.000_001 }, ({ site }) => !site.paths.includes('/a'), {
    drive: async ({ control, site }) => {
      await waitUntil(() => site.requests.length > 0);
      // Without the limit the crawl ends long before.
      let rounds = 0;
      await waitUntil(() => control.snapshot().state === 'finished' || rounds++ === 100);
      control.stop();
    },
  }),
  row('maxBytes', { maxBytes: 1 }, ({ report }) => report.end === 'data limit'),
  row('maxDocuments', { maxDocuments: 1 }, ({ report }) => report.end === 'document limit'),
  row('maxSeconds', { maxSeconds: 1 }, ({ report }) => report.end === 'time limit', {
    pages: () => ({ ...PAGES, '/a': late(2500, page('A', [])) }),
  }),
  row('stuckSeconds', { stuckSeconds: 1 }, ({ lines }) => lines.get('/a')?.status === -7000, {
    pages: () => ({ ...PAGES, '/a': late(9_000, page('A', [])) }),
  }),
  row(
    'lowDiskMiB',
    { lowDiskMiB: 1_000_000_000 },
    ({ seen }) => typeof seen === 'string' && seen.includes('lowDiskMiB'),
    {
      both: { lowDiskMiB: 0 },
      drive: async ({ control }) => {
        await waitUntil(
          () => control.snapshot().pauseReason !== undefined || control.snapshot().state === 'finished',
        );
        const reason = control.snapshot().pauseReason;
        control.stop();
        return reason;
      },
    },
  ),
  row('pauseAtStart', { pauseAtStart: true }, ({ seen }) => seen === true, { drive: stopAt('paused') }),
  row('pauseAtFinish', { pauseAtFinish: true }, ({ seen }) => seen === true, { drive: stopAt('empty') }),
  row('logs', { logs: false }, ({ crawl }) => !existsSync(join(crawl, 'logs/crawl.log'))),
  row(
    'warc.directory',
    (directory) => ({ warc: { directory: join(directory, 'warc') } }),
    ({ crawl }) => existsSync(join(crawl, '../../warc')),
  ),
  row(
    'warc.format',
    (directory) => ({ warc: { directory: join(directory, 'warc'), format: 'arc' } }),
    ({ crawl }) => readdirSync(join(crawl, '../../warc')).some((name) => name.endsWith('.arc.gz')),
    { both: (directory) => ({ warc: { directory: join(directory, 'warc') } }) },
  ),
  row(
    'warc.poolMaxActive',
    (directory) => ({ warc: { directory: join(directory, 'warc'), poolMaxActive: 4 } }),
    ({ crawl }) =>
      readdirSync(join(crawl, '../../warc')).filter((name) => name.endsWith('.warc.gz')).length > 1,
    {
      both: (directory) => ({ workers: 5, warc: { directory: join(directory, 'warc') } }),
      hosts: (directory) => [longFiles(directory)],
    },
  ),
  row(
    'warc.skipIdenticalDigests',
    (directory) => ({
      warc: { directory: join(directory, 'warc'), digestHistory: true, skipIdenticalDigests: true },
    }),
    ({ lines }) => lines.get('/e')?.annotations.includes('unwritten:identicalDigest') === true,
    {
      both: (directory) => ({
        workers: 1,
        warc: { directory: join(directory, 'warc'), digestHistory: true },
      }),
    },
  ),
  row(
    'settings.skipUnchanged',
    { settings: { skipUnchanged: true } },
    ({ lines }) => lines.get('/')?.annotations.includes('unchanged') === true,
    { twice: true },
  ),
  row(
    'settings.runtimeOperation',
    { settings: { runtimeSeconds: 1, runtimeOperation: 'terminate' } },
    ({ report }) => report.end === 'time limit',
    {
      both: { settings: { runtimeSeconds: 1 } },
      pages: () => ({ ...PAGES, '/': late(1200, page('Start', ['/a', '/b'])) }),
      drive: stopAt('paused'),
    },
  ),
];
