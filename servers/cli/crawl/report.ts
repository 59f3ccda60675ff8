import { Argument, Command, Option } from 'commander';
import { StorageError } from '../../../protocols/errors.js';
import { isStoreInUse } from '../../../storage/index.js';
import { type CrawlSnapshot, QUEUE_STATES, type QueueState } from '../../crawler/control.js';
import { OfflineCrawl } from '../../crawler/offline-crawl.js';
import { complain, EXIT } from '../exit.js';
import { StandardOutput } from '../standard-output.js';
import type { ConsoleClient } from './console-client.js';
import {
  type CrawlSelection,
  exitStatus,
  gathererOf,
  reportNoCrawl,
  runningCrawl,
  withCrawlOptions,
} from './find-crawl.js';
import {
  CHAIN_TABLE,
  errorTable,
  type FrontierView,
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
} from './tables.js';

const KINDS = [
  'queues',
  'retries',
  'hosts',
  'robots',
  'seen',
  'chain',
  'frontier',
  'workers',
  'errors',
] as const;
type Kind = (typeof KINDS)[number];

const HELP = `
KIND is one of
  queues     every queue: state, URIs, and why and how long it waits
  retries    the URIs that wait for another attempt, at most 1000: status, attempts, when
  hosts      the servers contacted last, at most 10000: successes, failures, bytes
  robots     the state of their robots.txt
  seen       the filter of seen URIs
  chain      the processors, and the number of URIs of each
  frontier   the frontier in one line
  workers    the current URI and step of each worker
  errors     the latest failures
  all        the totals and all of these

With --json queues, retries, hosts, robots, chain, workers and errors are one JSON object per line, seen and frontier one object; with
"all" each line has its kind in "report".

For a stopped crawl queues, retries, seen, frontier and all are read from its store.

Examples:
  harvest crawl report frontier
  harvest crawl report queues --state snoozed --data DIR        why does nothing happen?
  harvest crawl report queues --json | jq 'select(.reason == "retry-after")'
  HARVEST_CONSOLE_PASSWORD=... harvest crawl report all --url http://crawler.example.org:8090/

Exit status: 0 done; 1 no crawl is running, or the console refused; 2 usage; 3 the console cannot be reached.
`;

interface ReportOptions extends CrawlSelection {
  readonly json: boolean;
  readonly state?: QueueState;
}

/** `harvest crawl report KIND`. */
export function reportCommand(): Command {
  return withCrawlOptions(new Command('report'))
    .summary('print queues with the reason each waits, hosts, robots, seen, chain, frontier')
    .description('Reports on a crawl.')
    .addArgument(new Argument('<kind>', 'what to report').choices([...KINDS, 'all']))
    .option('--json', 'JSON lines', false)
    .addOption(new Option('--state <state>', 'only queues in this state').choices([...QUEUE_STATES]))
    .addHelpText('after', HELP)
    .action(async (kind: Kind | 'all', options: ReportOptions) => {
      process.exitCode = await exitStatus(() => report(kind, options));
    });
}

async function report(kind: Kind | 'all', options: ReportOptions): Promise<number> {
  const crawl = await runningCrawl(options);
  if (crawl !== undefined) return print(reportLines(kind, crawl, options));
  await using offline = await openStopped(options.data);
  if (offline === undefined) return reportNoCrawl(options);
  if (isOneOf(OFFLINE_KINDS, kind)) return await print(offlineReportLines(kind, offline, options));
  complain('crawl', `no crawl is running on ${options.data}; its store has ${OFFLINE_KINDS.join(', ')}`);
  return EXIT.failure;
}

/** @throws StorageError if the program that crawled is still running, between two crawls */
async function openStopped(data: string): Promise<OfflineCrawl | undefined> {
  const directory = await gathererOf(data);
  try {
    return await OfflineCrawl.open(directory);
  } catch (cause) {
    if (!isStoreInUse(cause)) throw cause;
    const why = `no crawl is running on ${data}, but a program that has crawled there is, and has its store open`;
    throw new StorageError(`${why}: stop it for reports of the last crawl`, { cause });
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
  if (kind === 'seen') yield json ? JSON.stringify(snapshot.seenFilter) : seenLine(snapshot);
  else if (kind === 'frontier') yield json ? JSON.stringify(frontierOf(snapshot)) : frontierLine(snapshot);
  else if (kind === 'all') {
    if (json) yield JSON.stringify({ report: 'totals', ...snapshot });
    else yield* [...offlineLines(snapshot), '', 'Queues'];
  }
  if (kind === 'seen' || kind === 'frontier') return;
  if (kind === 'retries') {
    const retries = retryTable(snapshot.time);
    if (!json) yield retries.head();
    for (const uri of await crawl.retries()) yield json ? JSON.stringify(uri) : retries.row(uri);
    return;
  }
  const table = queueTable(snapshot.time);
  if (!json) yield table.head();
  for await (const page of crawl.queues(state === undefined ? {} : { state })) {
    for (const queue of page) {
      const row = kind === 'all' ? { report: 'queues', ...queue } : queue;
      yield json ? JSON.stringify(row) : table.row(queue);
    }
  }
}

async function* reportLines(
  kind: Kind | 'all',
  crawl: ConsoleClient,
  options: ReportOptions,
): AsyncGenerator<string> {
  const snapshot = await crawl.snapshot();
  if (kind !== 'all') {
    yield* linesOfKind(kind, crawl, snapshot, options, undefined);
    return;
  }
  if (options.json) yield JSON.stringify({ report: 'totals', ...snapshot });
  else yield* totalLines(snapshot);
  for (const each of KINDS) {
    // The totals include them.
    if (each === 'seen' || each === 'frontier') continue;
    if (!options.json) yield `\n${each[0]?.toUpperCase()}${each.slice(1)}`;
    yield* linesOfKind(each, crawl, snapshot, options, each);
  }
}

/** Yields the lines of one report; `label` is added to every JSON line if there are several reports. */
async function* linesOfKind(
  kind: Kind,
  crawl: ConsoleClient,
  snapshot: CrawlSnapshot,
  { json, state }: ReportOptions,
  label: string | undefined,
): AsyncGenerator<string> {
  const now = snapshot.time;
  const toJson = (row: object) => JSON.stringify(label === undefined ? row : { report: label, ...row });
  async function* rows<T extends object>(
    table: TextTable<T>,
    pages: AsyncIterable<readonly T[]> | readonly (readonly T[])[],
  ): AsyncGenerator<string> {
    if (!json) yield table.head();
    for await (const page of pages) for (const row of page) yield json ? toJson(row) : table.row(row);
  }
  switch (kind) {
    case 'queues':
      yield* rows(queueTable(now), crawl.queues(state === undefined ? {} : { state }));
      break;
    case 'retries':
      yield* rows(retryTable(now), [await crawl.retries()]);
      break;
    case 'hosts':
      yield* rows(hostTable(now), [await crawl.hosts()]);
      break;
    case 'robots':
      yield* rows(ROBOTS_TABLE, [await crawl.hosts()]);
      break;
    case 'workers':
      yield* rows(WORKER_TABLE, [await crawl.workers()]);
      break;
    case 'errors':
      yield* rows(errorTable(now), [await crawl.errors()]);
      break;
    case 'chain':
      yield* rows(CHAIN_TABLE, [await crawl.chains()]);
      break;
    case 'seen':
      yield json ? toJson(snapshot.seenFilter) : seenLine(snapshot);
      break;
    case 'frontier':
      yield json ? toJson(frontierOf(snapshot)) : frontierLine(snapshot);
      break;
  }
}

function frontierOf(snapshot: FrontierView): object {
  const { queued, inProcess, queues, reasons, congestion, deepestQueue, averageDepth } = snapshot;
  return { queued, inProcess, queues, reasons, congestion, deepestQueue, averageDepth };
}
