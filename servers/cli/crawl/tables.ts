import {
  CRAWL_STATE_LABELS,
  countsByReason,
  countsByState,
  formatWait,
  QUEUE_STATE_LABELS,
  ROBOTS_LABELS,
} from '../../crawler/console/labels.js';
import type {
  CrawlProcess,
  CrawlSnapshot,
  HostReport,
  ProcessorReport,
  QueueReport,
  RecentError,
  WaitingReport,
  WorkerReport,
} from '../../crawler/control.js';
import { FIGURE_LINES, type FigureSource, formatFigures } from '../../crawler/figures.js';
import type { OfflineSnapshot } from '../../crawler/offline-crawl.js';
import { formatAgo, formatDuration, formatNumber } from '../../crawler/values.js';
import { byteSize } from '../../web/values.js';
import { printable } from '../output/printable.js';

/** One column: its title, and its width in characters, negative for numbers, 0 for the last. */
type Column<T> = readonly [title: string, width: number, value: (row: T) => string];

/** A table with fixed column widths, written row by row. */
export class TextTable<T> {
  readonly #columns: readonly Column<T>[];

  constructor(columns: readonly Column<T>[]) {
    this.#columns = columns;
  }

  head(): string {
    return this.#line(this.#columns.map(([title]) => title));
  }

  row(row: T): string {
    return this.#line(this.#columns.map(([, , value]) => printable(value(row))));
  }

  #line(cells: readonly string[]): string {
    return cells
      .map((cell, i) => {
        const width = this.#columns[i]?.[1] ?? 0;
        return width < 0 ? cell.padStart(-width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd();
  }
}

/** Queues with the reason each waits. `now` is milliseconds since 1970, also in the other tables. */
export function queueTable(now: number): TextTable<QueueReport> {
  return new TextTable<QueueReport>([
    ['QUEUE', 28, (queue) => queue.classKey],
    ['STATE', 10, (queue) => QUEUE_STATE_LABELS[queue.state]],
    ['URIS', -9, (queue) => formatNumber(queue.count)],
    ['SPENT', -9, (queue) => formatNumber(queue.totalExpenditure)],
    ['ERRORS', -6, (queue) => formatNumber(queue.errors)],
    ['WAITS', 0, (queue) => formatWait(queue, now)],
  ]);
}

export function hostTable(now: number): TextTable<HostReport> {
  return new TextTable<HostReport>([
    ['SERVER', 28, (host) => host.server],
    ['SUCCEEDED', -9, (host) => formatNumber(host.successes)],
    ['FAILED', -7, (host) => formatNumber(host.failures)],
    ['IN A ROW', -8, (host) => formatNumber(host.connectionErrors)],
    ['DISREGARDED', -11, (host) => formatNumber(host.disregarded)],
    ['RECEIVED', -10, (host) => byteSize(host.bytes)],
    ['CONTACTED', 14, (host) => formatAgo(host.lastContact, now)],
    ['ADDRESSES', 0, (host) => host.addresses.join(' ')],
  ]);
}

export const ROBOTS_TABLE = new TextTable<HostReport>([
  ['SERVER', 28, (host) => host.server],
  ['ROBOTS.TXT', 18, (host) => ROBOTS_LABELS[host.robots]],
  ['DELAY', -8, (host) => (host.crawlDelay === undefined ? '' : `${formatNumber(host.crawlDelay)} s`)],
  ['DENIED', -8, (host) => formatNumber(host.robotsDenials)],
]);

export const WORKER_TABLE = new TextTable<WorkerReport>([
  ['WORKER', -6, ({ worker }) => String(worker)],
  ['FOR', -11, ({ url, milliseconds }) => (url === '' ? '' : formatDuration(milliseconds))],
  ['STEP', 16, ({ step }) => step],
  ['URL', 0, ({ url }) => (url === '' ? 'idle' : url)],
]);

export function errorTable(now: number): TextTable<RecentError> {
  return new TextTable<RecentError>([
    ['WHEN', 14, ({ time }) => formatAgo(time, now)],
    ['STATUS', -6, ({ status }) => String(status)],
    ['URL', 48, ({ url }) => url],
    ['REASON', 0, ({ reason }) => reason],
  ]);
}

export function retryTable(now: number): TextTable<WaitingReport> {
  return new TextTable<WaitingReport>([
    ['IN', -11, ({ dueTime }) => formatDuration(Math.max(0, dueTime - now))],
    ['STATUS', -6, ({ status }) => String(status)],
    ['TRIES', -5, ({ attempts }) => String(attempts)],
    ['URL', 48, ({ url }) => url],
    ['REASON', 0, ({ reason }) => reason],
  ]);
}

export const CHAIN_TABLE = new TextTable<ProcessorReport>([
  ['CHAIN', 14, ({ chain }) => chain],
  ['PROCESSOR', 26, ({ processor }) => processor],
  ['URIS', -12, ({ uris }) => formatNumber(uris)],
]);

/** Formats the filter of seen URIs as one line. */
export function seenLine(s: FigureSource): string {
  return FIGURE_LINES.seen(formatFigures(s));
}

/** Formats the frontier as one line. */
export function frontierLine(s: OfflineSnapshot | CrawlSnapshot): string {
  const figures = formatFigures(s);
  return `${figures.queued} queued, ${figures.inProcess} in process; queues: ${statesText(s)}; ${FIGURE_LINES.depth(figures)}`;
}

function statesText(s: Pick<CrawlSnapshot, 'queues'>): string {
  return countsText(countsByState(s));
}

function countsText(counts: ReturnType<typeof countsByState>): string {
  return counts.map(({ label, count }) => `${formatNumber(count)} ${label}`).join(', ');
}

/** Formats a snapshot as one line, for output that is not a terminal. */
export function progressLine(s: CrawlSnapshot): string {
  return `${new Date(s.time).toISOString()} ${s.state}: ${FIGURE_LINES.progress(formatFigures(s))}${pauseText(s)}`;
}

function reasonsText(s: Pick<CrawlSnapshot, 'reasons'>): string {
  return countsText(countsByReason(s));
}

const RUN_LABELS: Readonly<Record<OfflineSnapshot['run'], string>> = {
  interrupted: 'is interrupted; the next run continues it',
  done: 'is finished; the next run starts again',
  none: 'has not begun',
};

/** Formats the totals of a stopped crawl. */
export function offlineLines(s: OfflineSnapshot): readonly string[] {
  const figures = formatFigures(s);
  return [
    `The crawl ${RUN_LABELS[s.run]}`,
    `URIs      ${FIGURE_LINES.uris(figures)}`,
    `Queues    ${statesText(s)}`,
    `Depth     ${FIGURE_LINES.depth(figures)}`,
    `Waiting   ${reasonsText(s) || 'none'}`,
    `Seen      ${FIGURE_LINES.seen(figures)}`,
    `Database  ${formatNumber(s.objects)} objects, checkpoint ${figures.checkpoint}`,
  ].map(printable);
}

function pauseText({ pauseReason }: CrawlSnapshot): string {
  return pauseReason === undefined ? '' : `, paused because ${pauseReason}`;
}

/** Formats the totals of a running crawl. */
export function totalLines(s: CrawlSnapshot): readonly string[] {
  const figures = formatFigures(s);
  return [
    `${s.name}: ${CRAWL_STATE_LABELS[s.state]}${s.end === undefined || s.end === 'finished' ? '' : `, ended by: ${s.end}`}${pauseText(s)}, crawling for ${figures.elapsed}`,
    `URIs      ${FIGURE_LINES.uris(figures)}`,
    `Rates     ${FIGURE_LINES.rates(figures)}`,
    `Queues    ${statesText(s)}`,
    `Depth     ${FIGURE_LINES.depth(figures)}`,
    `Waiting   ${reasonsText(s) || 'none in memory'}`,
    `Seen      ${FIGURE_LINES.seen(figures)}`,
    `Process   ${FIGURE_LINES.process(figures)}`,
    ...(s.processes ?? []).map(processLine),
  ].map(printable);
}

/** One of the processes that share a crawl. */
function processLine(each: CrawlProcess): string {
  const { name, state, currentDocumentsPerSecond, currentKilobytesPerSecond, busyWorkers, workers } = each;
  const rates = `${formatNumber(currentDocumentsPerSecond)} doc/s, ${formatNumber(currentKilobytesPerSecond)} KB/s`;
  return `  ${name}: ${CRAWL_STATE_LABELS[state]}, ${each.partitions} partitions, ${formatNumber(each.succeeded)} succeeded, ${formatNumber(each.queued)} queued, ${rates}, ${busyWorkers} of ${workers} workers busy`;
}

const BLOCKS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/**
 * Draws values as a line of at most `width` blocks, each the mean of equally many values, the latest at the
 * right.
 */
export function sparkline(values: readonly number[], width: number): string {
  if (values.length === 0 || width < 1) return '';
  const valuesPerBlock = Math.ceil(values.length / width);
  const means: number[] = [];
  for (let end = values.length; end > 0; end -= valuesPerBlock) {
    const part = values.slice(Math.max(0, end - valuesPerBlock), end);
    means.unshift(part.reduce((sum, value) => sum + value, 0) / part.length);
  }
  const maximum = Math.max(...means);
  return means
    .map((mean) => BLOCKS[maximum <= 0 ? 0 : Math.round((Math.max(0, mean) / maximum) * (BLOCKS.length - 1))])
    .join('');
}
