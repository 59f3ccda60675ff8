import { messageOf, StorageError } from '../../../../protocols/errors.js';
import { isStoreInUse } from '../../../../storage/level/open-database.js';
import { MAX_ROWS } from '../../../crawler/console/queries.js';
import type { CrawlSnapshot } from '../../../crawler/control.js';
import { OfflineCrawl, type OfflineSnapshot } from '../../../crawler/offline-crawl.js';
import type { QueueState } from '../../../crawler/states.js';
import { complain, EXIT } from '../../output/exit.js';
import { StandardOutput } from '../../output/standard-output.js';
import type { ConsoleClient } from '../console-client.js';
import type { CrawlSelection } from '../crawl-options.js';
import { KINDS, type Kind } from '../crawl-options.js';
import { crawlAction, gathererOf, reportNoCrawl, runningCrawl } from '../find-crawl.js';
import {
  CHAIN_TABLE,
  errorTable,
  frontierLine,
  hostTable,
  offlineLines,
  queueTable,
  ROBOTS_TABLE,
  retryTable,
  seenLine,
  type TextTable,
  totalLines,
  WORKER_TABLE,
} from '../tables.js';

interface ReportOptions extends CrawlSelection {
  readonly json: boolean;
  readonly state?: QueueState;
}

/** The action of `harvest crawl report`. */
export const reportCrawl = crawlAction(async (kind: Kind | 'all', options: ReportOptions) => {
  const crawl = await runningCrawl(options);
  if (crawl !== undefined) return print(reportLines(kind, crawl, options));
  await using offline = await openStopped(options.data);
  if (offline === undefined) return reportNoCrawl(options);
  if (isOneOf(OFFLINE_KINDS, kind)) return await print(offlineReportLines(kind, offline, options));
  complain('crawl', `no crawl is running on ${options.data}; its store has ${OFFLINE_KINDS.join(', ')}`);
  return EXIT.failure;
});

/** @throws StorageError if the program that crawled is still running, between two crawls */
async function openStopped(data: string): Promise<OfflineCrawl | undefined> {
  const directory = await gathererOf(data);
  try {
    return await OfflineCrawl.open(directory);
  } catch (cause) {
    if (!isStoreInUse(cause)) throw cause;
    const why = `no crawl is running on ${data}, but ${messageOf(cause)}`;
    throw new StorageError(`${why}, which has crawled there: stop it for reports of the last crawl`, {
      cause,
    });
  }
}

async function print(lines: AsyncIterable<string>): Promise<number> {
  const output = new StandardOutput();
  for await (const line of lines) {
    if (!(await output.write(`${line}\n`))) break;
  }
  return EXIT.ok;
}

/** Reports that can be read from the store of a stopped crawl. */
const OFFLINE_KINDS = ['queues', 'retries', 'seen', 'frontier', 'all'] as const;

function isOneOf<T extends string>(kinds: readonly T[], kind: string): kind is T {
  return (kinds as readonly string[]).includes(kind);
}

async function* offlineReportLines(
  kind: (typeof OFFLINE_KINDS)[number],
  crawl: OfflineCrawl,
  { json, state }: ReportOptions,
): AsyncGenerator<string> {
  const snapshot = await crawl.snapshot();
  const format = new ReportFormat(json, kind === 'all' ? 'queues' : undefined);
  if (kind === 'seen') yield format.line(snapshot.seenFilter, seenLine(snapshot));
  else if (kind === 'frontier') yield format.line(frontierOf(snapshot), frontierLine(snapshot));
  else if (kind === 'retries') yield* format.rows(retryTable(snapshot.time), [await crawl.retries()]);
  else {
    if (kind === 'all' && json) yield JSON.stringify({ report: 'totals', ...snapshot });
    else if (kind === 'all') yield* [...offlineLines(snapshot), '', 'Queues'];
    yield* format.rows(queueTable(snapshot.time), crawl.queues({ state }));
  }
}

async function* reportLines(
  kind: Kind | 'all',
  crawl: ConsoleClient,
  options: ReportOptions,
): AsyncGenerator<string> {
  const snapshot = await crawl.snapshot();
  if (kind !== 'all') {
    yield* linesOfKind(kind, crawl, snapshot, options, new ReportFormat(options.json));
    return;
  }
  if (options.json) yield JSON.stringify({ report: 'totals', ...snapshot });
  else yield* totalLines(snapshot);
  for (const each of KINDS) {
    // The totals include them.
    if (each === 'seen' || each === 'frontier') continue;
    if (!options.json) yield `\n${each[0]?.toUpperCase()}${each.slice(1)}`;
    yield* linesOfKind(each, crawl, snapshot, options, new ReportFormat(options.json, each));
  }
}

/** Yields the lines of one report. */
async function* linesOfKind(
  kind: Kind,
  crawl: ConsoleClient,
  snapshot: CrawlSnapshot,
  { state }: ReportOptions,
  format: ReportFormat,
): AsyncGenerator<string> {
  const now = snapshot.time;
  if (kind === 'queues') yield* format.rows(queueTable(now), crawl.queues({ state }));
  else if (kind === 'retries') {
    const { retries } = await crawl.get('retries', { limit: MAX_ROWS });
    yield* format.rows(retryTable(now), [retries]);
  } else if (kind === 'hosts') yield* format.rows(hostTable(now), [await crawl.hosts()]);
  else if (kind === 'robots') yield* format.rows(ROBOTS_TABLE, [await crawl.hosts()]);
  else if (kind === 'workers') yield* format.rows(WORKER_TABLE, [(await crawl.get('workers')).workers]);
  else if (kind === 'errors') yield* format.rows(errorTable(now), [(await crawl.get('errors')).errors]);
  else if (kind === 'chain') yield* format.rows(CHAIN_TABLE, [(await crawl.get('chains')).processors]);
  else if (kind === 'seen') yield format.line(snapshot.seenFilter, seenLine(snapshot));
  else yield format.line(frontierOf(snapshot), frontierLine(snapshot));
}

/** Formats reports as text, or as JSON lines with `label` if there are several reports. */
class ReportFormat {
  readonly #json: boolean;
  readonly #label: Kind | undefined;

  constructor(json: boolean, label?: Kind) {
    this.#json = json;
    this.#label = label;
  }

  line(value: object, text: string): string {
    if (!this.#json) return text;
    return JSON.stringify(this.#label === undefined ? value : { report: this.#label, ...value });
  }

  async *rows<T extends object>(
    table: TextTable<T>,
    pages: AsyncIterable<readonly T[]> | readonly (readonly T[])[],
  ): AsyncGenerator<string> {
    if (!this.#json) yield table.head();
    for await (const page of pages)
      for (const row of page) yield this.line(row, this.#json ? '' : table.row(row));
  }
}

function frontierOf(snapshot: OfflineSnapshot | CrawlSnapshot): object {
  const { queued, inProcess, queues, reasons, congestion, deepestQueue, averageDepth } = snapshot;
  return { queued, inProcess, queues, reasons, congestion, deepestQueue, averageDepth };
}
