import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { messageOf, StorageError } from '../../../protocols/errors.js';
import { createDirectory } from '../../../storage/files/make-directory.js';
import { type CrawlControl, QUEUE_STATES, type QueueReport, type QueueState } from '../control.js';
import {
  crawlReport,
  errorsReport,
  frontierReport,
  hostsReport,
  mimeTypesReport,
  processorsReport,
  queuesReport,
  type ReportKind,
  responseCodesReport,
  retriesReport,
  robotsReport,
  seedsReport,
  seenReport,
  sourceReport,
  workersReport,
} from './reports.js';
import type { CrawlStatistics } from './statistics.js';
import { type Report, reportLines } from './table.js';

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

/** Maximum number of queues per request. */
const PAGE_QUEUES = 500;

/** Returns a report of a crawl; undefined if it requires statistics that are absent. */
export async function makeReport(
  kind: ReportKind,
  control: Pick<
    CrawlControl,
    'snapshot' | 'queues' | 'hosts' | 'retries' | 'workers' | 'recentErrors' | 'chains'
  >,
  options: ReportOptions = {},
): Promise<Report | undefined> {
  const { statistics, seeds = [], limit = 2000 } = options;
  switch (kind) {
    case 'crawl':
      return crawlReport(control.snapshot(), statistics);
    case 'seeds':
      return statistics && seedsReport(statistics.seeds(), seeds);
    case 'hosts':
      return hostsReport(control.hosts({ limit }));
    case 'robots':
      return robotsReport(control.hosts({ limit }));
    case 'source':
      return statistics && sourceReport(statistics);
    case 'mimetype':
      return statistics && mimeTypesReport(statistics);
    case 'responsecode':
      return statistics && responseCodesReport(statistics);
    case 'processors':
      return processorsReport(control.chains());
    case 'frontier':
      return frontierReport(control.snapshot());
    case 'queues':
      return listQueues(control, limit, options);
    case 'retries':
      return retriesReport(await control.retries({ limit }));
    case 'workers':
      return workersReport(control.workers());
    case 'errors':
      return errorsReport(control.recentErrors());
    case 'seen':
      return seenReport(control.snapshot());
  }
}

async function listQueues(
  control: Pick<CrawlControl, 'snapshot' | 'queues'>,
  limit: number,
  { state, signal }: ReportOptions,
): Promise<Report> {
  const reports: QueueReport[] = [];
  const notes: string[] = [];
  const { time, queues: counts } = control.snapshot();
  // Exhausted queues are empty and shown on request only.
  const states = state === undefined ? QUEUE_STATES.filter((name) => name !== 'exhausted') : [state];
  for (const queueState of states) {
    let shown = 0;
    let after: string | undefined;
    while (shown < limit) {
      signal?.throwIfAborted();
      const size = Math.min(PAGE_QUEUES, limit - shown);
      const page = await control.queues({
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
  return { ...queuesReport(reports, time), notes };
}

/** CRAWL-16.7: the reports at the end of a crawl and their files, with the pending queues and the recent errors. */
const END_REPORTS: readonly (readonly [ReportKind, string])[] = [
  ['crawl', 'crawl-report.txt'],
  ['seeds', 'seeds-report.txt'],
  ['hosts', 'hosts-report.txt'],
  ['robots', 'robots-report.txt'],
  ['source', 'source-report.txt'],
  ['mimetype', 'mimetype-report.txt'],
  ['responsecode', 'responsecode-report.txt'],
  ['processors', 'processors-report.txt'],
  ['frontier', 'frontier-report.txt'],
  ['queues', 'queues-report.txt'],
  ['retries', 'retries-report.txt'],
  ['errors', 'errors-report.txt'],
];
const MANIFEST = 'crawl-manifest.txt';

/**
 * CRAWL-16.7: writes the end reports of a crawl, and `crawl-manifest.txt` with their names.
 *
 * @returns the paths of the files
 * @throws StorageError, the signal's reason
 */
export async function writeEndReports(
  directory: string,
  control: Parameters<typeof makeReport>[1],
  options: ReportOptions = {},
): Promise<string[]> {
  const names: string[] = [];
  try {
    await createDirectory(directory);
    for (const [kind, name] of END_REPORTS) {
      const report = await makeReport(kind, control, options);
      if (report === undefined) continue;
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
  await pipeline(text, createWriteStream(path), { ...(signal && { signal }) });
}
