import type {
  CrawlControl,
  CrawlSnapshot,
  HostReport,
  QueueReport,
  RecentError,
  WaitingReport,
  WorkerReport,
} from '../control.js';
import type { CrawlStatistics, SeedState } from './statistics.js';
import { type Column, humanBytes, humanSeconds, type Report, type Unit } from './table.js';

/** The kinds of reports (CRAWL-16.7). */
export const REPORT_KINDS = [
  'crawl',
  'seeds',
  'hosts',
  'robots',
  'source',
  'mimetype',
  'responsecode',
  'processors',
  'frontier',
  'queues',
  'retries',
  'workers',
  'errors',
  'seen',
] as const;
export type ReportKind = (typeof REPORT_KINDS)[number];

function columns(spec: Readonly<Record<string, readonly [title: string, unit: Unit]>>): Column[] {
  return Object.entries(spec).map(([key, [title, unit]]) => ({ key, title, unit }));
}

function report(
  kind: ReportKind,
  title: string,
  spec: Parameters<typeof columns>[0],
  rows: Report['rows'],
  notes: readonly string[] = [],
): Report {
  return { kind, title, columns: columns(spec), rows, notes };
}

const FIGURES = { name: ['figure', 'text'], value: ['value', 'text'] } as const;

/** The crawl in figures (CRAWL-16.5). */
export function crawlReport(snapshot: CrawlSnapshot, statistics?: CrawlStatistics): Report {
  const rows: [string, string | number | undefined][] = [
    ['crawl', snapshot.name],
    ['time', new Date(snapshot.time).toISOString()],
    ['state', snapshot.state],
    ['ended', snapshot.end],
    ['paused because', snapshot.pauseReason],
    ['crawling', humanSeconds(snapshot.elapsed)],
    ['discovered', snapshot.discovered],
    ['queued', snapshot.queued],
    ['in process', snapshot.inProcess],
    ['succeeded', snapshot.succeeded],
    ['failed', snapshot.failed],
    ['disregarded', snapshot.disregarded],
    ['received', humanBytes(snapshot.bytes)],
    ['documents a second', rounded(snapshot.documentsPerSecond)],
    ['KB a second', rounded(snapshot.kilobytesPerSecond)],
    ['last checkpoint', snapshot.checkpoint],
  ];
  if (statistics !== undefined) {
    const { novel, notModified, duplicate } = statistics.novelty;
    rows.push(
      ['retries', statistics.retries],
      ['read leniently', statistics.lenientHttp],
      ['novel', `${novel.uris} (${humanBytes(novel.bytes)})`],
      ['not modified', `${notModified.uris} (${humanBytes(notModified.bytes)})`],
      ['duplicates', `${duplicate.uris} (${humanBytes(duplicate.bytes)})`],
    );
  }
  return report('crawl', `Crawl ${snapshot.name}`, FIGURES, figureRows(rows));
}

/** The state of each seed; `seeds` adds those that were not reached. */
export function seedsReport(states: readonly SeedState[], seeds: readonly string[] = []): Report {
  const known = new Set(states.map(({ url }) => url));
  const rows = states.map(({ url, status, disposed, redirect }) => ({
    status,
    state: disposed ? (status > 0 ? 'crawled' : 'not crawled') : 'to be tried again',
    seed: url,
    redirect,
  }));
  const missing = seeds.filter((url) => !known.has(url));
  return report(
    'seeds',
    'Seeds',
    {
      status: ['status', 'number'],
      state: ['state', 'text'],
      seed: ['seed', 'text'],
      redirect: ['redirected to', 'text'],
    },
    [...rows, ...missing.map((seed) => ({ status: 0, state: 'not reached', seed, redirect: '' }))],
  );
}

/** CRAWL-16.6: one row per host or server. */
export function hostsReport(hosts: readonly HostReport[]): Report {
  return report(
    'hosts',
    'Hosts',
    {
      successes: ['ok', 'number'],
      failures: ['failed', 'number'],
      disregarded: ['disregarded', 'number'],
      bytes: ['bytes', 'bytes'],
      connectionErrors: ['errors', 'number'],
      lastContact: ['last contact', 'time'],
      server: ['host', 'text'],
      addresses: ['addresses', 'text'],
    },
    hosts.map((host) => ({ ...host, addresses: host.addresses.join(' ') })),
  );
}

/** The robots.txt of each host (CRAWL-13) and the number of URIs that it forbade. */
export function robotsReport(hosts: readonly HostReport[]): Report {
  return report(
    'robots',
    'robots.txt',
    {
      robots: ['robots.txt', 'text'],
      crawlDelay: ['delay', 'seconds'],
      robotsDenials: ['denied', 'number'],
      server: ['host', 'text'],
    },
    hosts.map(({ robots, crawlDelay, robotsDenials, server }) => ({
      robots,
      crawlDelay,
      robotsDenials,
      server,
    })),
  );
}

type NamedCounts = readonly { readonly name: string; readonly uris: number; readonly bytes: number }[];

function countsReport(
  kind: ReportKind,
  title: string,
  name: readonly [string, Unit],
  counts: NamedCounts,
): Report {
  return report(
    kind,
    title,
    { uris: ['URIs', 'number'], bytes: ['bytes', 'bytes'], name },
    counts.map(({ uris, bytes, name }) => ({ uris, bytes, name })),
  );
}

/** Disposed URIs by their seed (CRAWL-2.9). */
export function sourceReport(statistics: CrawlStatistics): Report {
  const table = countsReport('source', 'Sources', ['source', 'text'], statistics.sources());
  return table.rows.length > 0
    ? table
    : { ...table, notes: ['No source tags: the order does not set sourceTagSeeds.'] };
}

export function mimeTypesReport(statistics: CrawlStatistics): Report {
  return countsReport('mimetype', 'Media types', ['type', 'text'], statistics.mimeTypes());
}

export function responseCodesReport(statistics: CrawlStatistics): Report {
  return countsReport('responsecode', 'Statuses', ['status', 'text'], statistics.responseCodes());
}

/** The processors in the order of their chains. */
export function processorsReport(chains: ReturnType<CrawlControl['chains']>): Report {
  return report(
    'processors',
    'Processors',
    { chain: ['chain', 'text'], processor: ['processor', 'text'], uris: ['URIs', 'number'] },
    chains.map((chain) => ({ ...chain })),
  );
}

/** The frontier's figures (CRAWL-5.6.7). */
export function frontierReport(snapshot: CrawlSnapshot): Report {
  const { queues, reasons } = snapshot;
  const rows: [string, string | number | undefined][] = [
    ['state', snapshot.state],
    ['discovered', snapshot.discovered],
    ['queued', snapshot.queued],
    ['in process', snapshot.inProcess],
    ...Object.entries(queues).map(([state, count]): [string, number] => [`queues ${state}`, count]),
    ...Object.entries(reasons).map(([reason, count]): [string, number] => [`waiting: ${reason}`, count]),
    ['congestion', rounded(snapshot.congestion)],
    ['deepest queue', snapshot.deepestQueue],
    ['average depth', rounded(snapshot.averageDepth)],
  ];
  return report('frontier', 'Frontier', FIGURES, figureRows(rows), [frontierLine(snapshot)]);
}

/** Formats the frontier as one line. */
export function frontierLine(snapshot: CrawlSnapshot): string {
  const { queues, seenFilter } = snapshot;
  const all = Object.values(queues).reduce((sum, count) => sum + count, 0);
  const active = queues['in-process'] + queues.ready + queues.snoozed;
  return [
    `${snapshot.state}: ${snapshot.queued} queued in ${all} queues`,
    `${active} active (${queues['in-process']} in-process, ${queues.ready} ready, ${queues.snoozed} snoozed)`,
    `${queues.inactive} inactive`,
    `${queues.retired} retired`,
    `${queues.exhausted} exhausted`,
    `${seenFilter.count} seen`,
  ].join('; ');
}

/** The queues, with the reason why each one waits (CRAWL-22). @param now milliseconds since 1970 */
export function queuesReport(queues: readonly QueueReport[], now: number): Report {
  return report(
    'queues',
    'Queues',
    {
      classKey: ['queue', 'text'],
      state: ['state', 'text'],
      reason: ['waits for', 'text'],
      wait: ['another', 'seconds'],
      count: ['queued', 'number'],
      enqueued: ['ever', 'number'],
      precedence: ['precedence', 'number'],
      sessionBalance: ['balance', 'number'],
      totalExpenditure: ['spent', 'number'],
      totalBudget: ['budget', 'number'],
      errors: ['errors', 'number'],
      lastPeeked: ['next or last URI', 'text'],
      lastQueued: ['queued last', 'text'],
    },
    queues.map((queue) => ({
      ...queue,
      wait: queue.wakeTime === 0 ? undefined : Math.max(0, queue.wakeTime - now) / 1000,
      totalBudget: queue.totalBudget < 0 ? undefined : queue.totalBudget,
    })),
  );
}

export function workersReport(workers: readonly WorkerReport[]): Report {
  return report(
    'workers',
    'Workers',
    {
      worker: ['worker', 'number'],
      seconds: ['for', 'seconds'],
      step: ['step', 'text'],
      url: ['URI', 'text'],
    },
    workers.map(({ worker, step, url, milliseconds }) => ({
      worker,
      seconds: milliseconds / 1000,
      step,
      url,
    })),
  );
}

export function errorsReport(errors: readonly RecentError[]): Report {
  return report(
    'errors',
    'Recent errors',
    {
      time: ['time', 'time'],
      status: ['status', 'number'],
      url: ['URI', 'text'],
      reason: ['reason', 'text'],
    },
    errors.map((error) => ({ ...error })),
  );
}

/** The URIs that wait for another attempt. */
export function retriesReport(retries: readonly WaitingReport[]): Report {
  return report(
    'retries',
    'Retries',
    {
      dueTime: ['due', 'time'],
      status: ['status', 'number'],
      attempts: ['attempts', 'number'],
      url: ['URI', 'text'],
      reason: ['reason', 'text'],
    },
    retries.map((retry) => ({ ...retry })),
  );
}

/** The already-seen filter and memory use (CRAWL-4). */
export function seenReport({ seenFilter, memoryBytes, heapBytes, diskFreeBytes }: CrawlSnapshot): Report {
  return report(
    'seen',
    'Already-seen filter',
    FIGURES,
    figureRows([
      ['kind', seenFilter.kind],
      ['URIs', seenFilter.count],
      ['memory of the filter', humanBytes(seenFilter.memoryBytes)],
      ['memory of the process', humanBytes(memoryBytes)],
      ['heap', humanBytes(heapBytes)],
      ['disk free', diskFreeBytes < 0 ? undefined : humanBytes(diskFreeBytes)],
    ]),
  );
}

function figureRows(rows: readonly [string, string | number | undefined][]): Report['rows'] {
  return rows
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]) => ({ name, value }));
}

function rounded(value: number): number {
  return Number.isFinite(value) ? Math.round(value * 100) / 100 : 0;
}
