import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { messageOf, StorageError } from '../../../protocols/errors.js';
import { createDirectory } from '../../../storage/files/make-directory.js';
import { replaceFile } from '../../../storage/files/replace-file.js';
import { byteSize } from '../../web/values.js';
import type { CrawlSnapshot, QueueReport } from '../control.js';
import type { CrawlControl } from '../controller.js';
import { FIGURE_ROWS, formatFigure } from '../figures.js';
import { QUEUE_STATES, type QueueState } from '../states.js';
import { formatNumber } from '../values.js';
import type { CrawlStatistics, SeedState } from './statistics.js';
import { type Cell, type Columns, type Report, reportLines } from './table.js';

export interface ReportOptions {
  /** Only queues of this state. */
  readonly state?: QueueState;
  /** Rows of hosts, and of queues per state (CRAWL-6.1, maxQueuesPerReportCategory). Default 2000. */
  readonly limit?: number;
  /** Required by the reports seeds, source, mimetype and responsecode. */
  readonly statistics?: CrawlStatistics;
  /** The crawl's seeds, to list those that were not reached. */
  readonly seeds?: readonly string[];
  readonly signal?: AbortSignal;
}

/** The sources of the reports of a crawl. */
export type ReportedCrawl = Pick<
  CrawlControl,
  'snapshot' | 'queues' | 'servers' | 'retries' | 'statistics' | 'chains'
>;

type Rows = Report['rows'];

interface Contents {
  readonly rows: Rows;
  readonly notes?: readonly string[];
}

interface ReportRow {
  readonly title: string;
  readonly columns: Columns;
  /** Undefined without the statistics that it requires. */
  readonly contents: (
    crawl: ReportedCrawl,
    options: ReportOptions & { readonly limit: number },
  ) => Contents | undefined | Promise<Contents>;
}

const FIGURE_COLUMNS: Columns = { name: ['figure', 'text'], value: ['value', 'text'] };

/** The reports at the end of a crawl (CRAWL-16.7), with the pending queues and the recent errors. */
export const REPORTS = {
  /** The crawl in figures (CRAWL-16.5). */
  crawl: {
    title: 'Crawl',
    columns: FIGURE_COLUMNS,
    contents: (crawl, { statistics }) => ({ rows: crawlRows(crawl.snapshot(), statistics) }),
  },
  /** The state of each seed, and those that were not reached. */
  seeds: {
    title: 'Seeds',
    columns: {
      status: ['status', 'code'],
      state: ['state', 'text'],
      seed: ['seed', 'text'],
      redirect: ['redirected to', 'text'],
    },
    contents: (_, { statistics, seeds = [] }) => statistics && { rows: seedRows(statistics.seeds(), seeds) },
  },
  /** CRAWL-16.6: one row per host or server. */
  hosts: {
    title: 'Hosts',
    columns: {
      successes: ['ok', 'number'],
      failures: ['failed', 'number'],
      disregarded: ['disregarded', 'number'],
      bytes: ['bytes', 'bytes'],
      connectionErrors: ['errors', 'number'],
      lastContact: ['last contact', 'time'],
      server: ['host', 'text'],
      addresses: ['addresses', 'text'],
    },
    contents: (crawl, { limit }) => ({
      rows: crawl.servers.report({ limit }).map((host) => ({ ...host, addresses: host.addresses.join(' ') })),
    }),
  },
  /** The robots.txt of each host (CRAWL-13) and the number of URIs that it forbade. */
  robots: {
    title: 'robots.txt',
    columns: {
      robots: ['robots.txt', 'text'],
      crawlDelay: ['delay', 'seconds'],
      robotsDenials: ['denied', 'number'],
      server: ['host', 'text'],
    },
    contents: (crawl, { limit }) => ({
      rows: crawl.servers.report({ limit }).map(({ addresses: _, ...host }) => host),
    }),
  },
  /** Disposed URIs by their seed (CRAWL-2.9). */
  source: {
    title: 'Sources',
    columns: countColumns('source'),
    contents: (_, { statistics }) => {
      if (statistics === undefined) return undefined;
      const rows = statistics.sources.sorted();
      return rows.length > 0
        ? { rows }
        : { rows, notes: ['No source tags: the order does not set sourceTagSeeds.'] };
    },
  },
  mimetype: {
    title: 'Media types',
    columns: countColumns('type'),
    contents: (_, { statistics }) => statistics && { rows: statistics.mimeTypes.sorted() },
  },
  responsecode: {
    title: 'Statuses',
    columns: countColumns('status'),
    contents: (_, { statistics }) => statistics && { rows: statistics.statuses.sorted() },
  },
  /** The processors in the order of their chains. */
  processors: {
    title: 'Processors',
    columns: { chain: ['chain', 'text'], processor: ['processor', 'text'], uris: ['URIs', 'number'] },
    contents: (crawl) => ({ rows: crawl.chains() }),
  },
  /** The frontier's figures (CRAWL-5.6.7). */
  frontier: {
    title: 'Frontier',
    columns: FIGURE_COLUMNS,
    contents: (crawl) => {
      const snapshot = crawl.snapshot();
      return { rows: frontierRows(snapshot), notes: [frontierLine(snapshot)] };
    },
  },
  /** The queues, with the reason why each one waits (CRAWL-22). */
  queues: {
    title: 'Queues',
    columns: {
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
    contents: listQueues,
  },
  /** The URIs that wait for another attempt. */
  retries: {
    title: 'Retries',
    columns: {
      dueTime: ['due', 'time'],
      status: ['status', 'code'],
      attempts: ['attempts', 'number'],
      url: ['URI', 'text'],
      reason: ['reason', 'text'],
    },
    contents: async (crawl, { limit }) => ({
      rows: (await crawl.retries({ limit })).map((row) => ({ ...row })),
    }),
  },
  errors: {
    title: 'Recent errors',
    columns: {
      time: ['time', 'time'],
      status: ['status', 'code'],
      url: ['URI', 'text'],
      reason: ['reason', 'text'],
    },
    contents: (crawl) => ({ rows: crawl.statistics.recentErrors().map((row) => ({ ...row })) }),
  },
} as const satisfies Readonly<Record<string, ReportRow>>;

/** The kinds of reports (CRAWL-16.7). */
export type ReportKind = keyof typeof REPORTS;
export const REPORT_KINDS = Object.keys(REPORTS) as readonly ReportKind[];

/** Returns a report of a crawl; undefined if it requires statistics that are absent. */
export async function makeReport(
  kind: ReportKind,
  crawl: ReportedCrawl,
  options: ReportOptions = {},
): Promise<Report | undefined> {
  const { title, columns, contents }: ReportRow = REPORTS[kind];
  const made = await contents(crawl, { limit: 2000, ...options });
  if (made === undefined) return undefined;
  const name = kind === 'crawl' ? `${title} ${crawl.snapshot().name}` : title;
  return { title: name, columns, rows: made.rows, notes: made.notes ?? [] };
}

function countColumns(name: string): Columns {
  return { uris: ['URIs', 'number'], bytes: ['bytes', 'bytes'], name: [name, 'text'] };
}

function crawlRows(snapshot: CrawlSnapshot, statistics: CrawlStatistics | undefined): Rows {
  const rows: [string, Cell][] = [
    ['crawl', snapshot.name],
    ['time', new Date(snapshot.time).toISOString()],
    ['state', snapshot.state],
    ['ended', snapshot.end],
    ['paused because', snapshot.pauseReason],
    ...partOf(snapshot, ['crawl', 'frontier']),
    ['last checkpoint', snapshot.checkpoint],
  ];
  if (statistics !== undefined) {
    const { novel, notModified, duplicate } = statistics.novelty;
    const text = ({ uris, bytes }: typeof novel): string => `${formatNumber(uris)} (${byteSize(bytes)})`;
    rows.push(
      ['retries', formatNumber(statistics.counters.retries)],
      ['read leniently', formatNumber(statistics.counters.lenientHttp)],
      ['novel', text(novel)],
      ['not modified', text(notModified)],
      ['duplicates', text(duplicate)],
    );
  }
  return figureRows(rows);
}

function frontierRows(snapshot: CrawlSnapshot): Rows {
  const counts = (title: string, values: Readonly<Record<string, number>>): [string, Cell][] =>
    Object.entries(values).map(([name, count]) => [`${title} ${name}`, formatNumber(count)]);
  return figureRows([
    ['state', snapshot.state],
    ...partOf(snapshot, ['frontier']),
    ...counts('queues', snapshot.queues),
    ...counts('waiting:', snapshot.reasons),
    ...partOf(snapshot, ['depth']),
  ]);
}

/** The figures of these parts of the reports, with their titles. */
function partOf(snapshot: CrawlSnapshot, parts: readonly string[]): [string, Cell][] {
  return FIGURE_ROWS.flatMap(([name, { unit, report }]): [string, Cell][] =>
    report === undefined || !parts.includes(report[0])
      ? []
      : [[report[1], formatFigure(snapshot[name], unit)]],
  );
}

function figureRows(rows: readonly [string, Cell][]): Rows {
  return rows
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]) => ({ name, value }));
}

function seedRows(states: readonly SeedState[], seeds: readonly string[]): Rows {
  const known = new Set(states.map(({ url }) => url));
  const rows = states.map(({ url, status, disposed, redirect }) => ({
    status,
    state: disposed ? (status > 0 ? 'crawled' : 'not crawled') : 'to be tried again',
    seed: url,
    redirect,
  }));
  const missing = seeds.filter((url) => !known.has(url));
  return [...rows, ...missing.map((seed) => ({ status: 0, state: 'not reached', seed, redirect: '' }))];
}

/** Formats the frontier as one line. */
export function frontierLine({ state, queued, queues, seenFilter }: CrawlSnapshot): string {
  const all = Object.values(queues).reduce((sum, count) => sum + count, 0);
  const active = queues['in-process'] + queues.ready + queues.snoozed;
  return [
    `${state}: ${queued} queued in ${all} queues`,
    `${active} active (${queues['in-process']} in-process, ${queues.ready} ready, ${queues.snoozed} snoozed)`,
    `${queues.inactive} inactive`,
    `${queues.retired} retired`,
    `${queues.exhausted} exhausted`,
    `${seenFilter.count} seen`,
  ].join('; ');
}

/** Maximum number of queues per request. */
const PAGE_QUEUES = 500;

async function listQueues(
  crawl: ReportedCrawl,
  { state, limit, signal }: ReportOptions & { readonly limit: number },
): Promise<Contents> {
  const reports: QueueReport[] = [];
  const notes: string[] = [];
  const { time, queues: counts } = crawl.snapshot();
  // Exhausted queues are empty and shown on request only.
  const states = state === undefined ? QUEUE_STATES.filter((name) => name !== 'exhausted') : [state];
  for (const queueState of states) {
    let shown = 0;
    let after: string | undefined;
    while (shown < limit) {
      signal?.throwIfAborted();
      const size = Math.min(PAGE_QUEUES, limit - shown);
      const page = await crawl.queues({
        state: queueState,
        limit: size,
        ...(after !== undefined && { after }),
      });
      reports.push(...page);
      shown += page.length;
      after = page.at(-1)?.classKey;
      if (page.length < size) break;
    }
    if (counts[queueState] > shown)
      notes.push(`${shown} of ${counts[queueState]} queues ${queueState} are shown.`);
  }
  return { rows: queueRows(reports, time), notes };
}

/** The rows of queues. @param now milliseconds since 1970 */
export function queueRows(queues: readonly QueueReport[], now: number): Rows {
  return queues.map((queue) => ({
    ...queue,
    wait: queue.wakeTime === 0 ? undefined : Math.max(0, queue.wakeTime - now) / 1000,
    totalBudget: queue.totalBudget < 0 ? undefined : queue.totalBudget,
  }));
}

const MANIFEST = 'crawl-manifest.txt';

/**
 * CRAWL-16.7: writes the end reports of a crawl as `KIND-report.txt`, and `crawl-manifest.txt` with their
 * names.
 *
 * @returns the paths of the files
 * @throws StorageError, the signal's reason
 */
export async function writeEndReports(
  directory: string,
  crawl: ReportedCrawl,
  options: ReportOptions = {},
): Promise<string[]> {
  const names: string[] = [];
  try {
    await createDirectory(directory);
    for (const kind of REPORT_KINDS) {
      const report = await makeReport(kind, crawl, options);
      if (report === undefined) continue;
      const name = `${kind}-report.txt`;
      await writeLines(join(directory, name), reportLines(report), options.signal);
      names.push(name);
    }
    await writeLines(join(directory, MANIFEST), names, options.signal);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new StorageError(`${directory}: ${messageOf(error)}`, {
      cause: error,
    });
  }
  return [...names, MANIFEST].map((name) => join(directory, name));
}

async function writeLines(path: string, lines: readonly string[], signal?: AbortSignal): Promise<void> {
  const text = Readable.from(lines.map((line) => `${line}\n`));
  const write = (draft: string) => pipeline(text, createWriteStream(draft), { ...(signal && { signal }) });
  await replaceFile(path, write, { force: true });
}
