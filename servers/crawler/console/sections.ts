import { type Content, type Html, html } from '../../web/html.js';
import { byteSize } from '../../web/values.js';
import type {
  CrawlProcess,
  CrawlSnapshot,
  HostReport,
  ProcessorReport,
  QueueReport,
  RecentError,
  WorkerReport,
} from '../control.js';
import { formatFigures, TILES } from '../figures.js';
import { QUEUE_STATES, type QueueState } from '../states.js';
import { formatAgo, formatDuration, formatNumber } from '../values.js';
import type { ConsoleContext } from './context.js';
import {
  CRAWL_STATE_LABELS,
  countsByReason,
  countsByState,
  formatWait,
  QUEUE_STATE_LABELS,
  ROBOTS_LABELS,
} from './labels.js';
import { plotsSection } from './plots.js';
import { cutPage } from './queries.js';

/** Sections of the page by the name of their element. */
export type Sections = Readonly<Record<string, Html>>;

/** The state of the crawl in one line, which screen readers announce when it changes. */
export function stateSection({ state, end, pauseReason }: CrawlSnapshot): Html {
  return html`<span class="state ${state}">${CRAWL_STATE_LABELS[state]}</span>${end === undefined || end === 'finished' ? '' : html` ended by: ${end}`}${pauseReason === undefined ? '' : html`: ${pauseReason}; resumes by itself`}`;
}

/** The totals as tiles. */
function totalsSection(snapshot: CrawlSnapshot): Html {
  const { checkpoint } = snapshot;
  const figures = formatFigures(snapshot);
  const tile = (name: string, value: Content, note = '') =>
    html`<div><dt>${name}</dt><dd>${value}${note === '' ? '' : html` <small>${note}</small>`}</dd></div>\n`;
  return html`<dl class="tiles">
${TILES.map(([title, value, note]) => html`${tile(title, value(figures), note?.(figures))}\n`)}${tile('Newest checkpoint', checkpoint === '' ? 'none' : html`<span class="name">${checkpoint}</span>`)}
</dl>${snapshot.processes === undefined ? '' : processesTable(snapshot.processes)}`;
}

/** The processes that share the crawl. */
function processesTable(processes: readonly CrawlProcess[]): Html {
  return table(
    ['Process', '=State', '#Partitions', '#Succeeded', '+#Queued', '#Documents a second', '+#Busy workers'],
    processes.map((each) => [
      each.name,
      CRAWL_STATE_LABELS[each.state],
      formatNumber(each.partitions),
      formatNumber(each.succeeded),
      formatNumber(each.queued),
      formatNumber(each.currentDocumentsPerSecond),
      `${formatNumber(each.busyWorkers)} of ${formatNumber(each.workers)}`,
    ]),
    'There are no processes.',
  );
}

/** Queues by state and by the reason they wait, as tables with bars. */
function statesSection(s: CrawlSnapshot): Html {
  const reasons = countsByReason(s);
  return html`${bars('Queues by state', 'State', countsByState(s))}
${reasons.length === 0 ? html`<section class="chart"><h3>Queues by the reason they wait</h3><p class="count">No queue in memory waits.</p></section>` : bars('Queues by the reason they wait', 'Reason', reasons)}`;
}

function bars(
  title: string,
  column: string,
  rows: readonly { readonly label: string; readonly count: number }[],
): Html {
  const most = Math.max(1, ...rows.map(({ count }) => count));
  const bar = (count: number) =>
    html`<svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" focusable="false"><rect class="track" width="100" height="8"/><rect class="fill" width="${((100 * count) / most).toFixed(1)}" height="8"/></svg>`;
  return html`<section class="chart"><h3>${title}</h3>
<table><thead><tr><th scope="col">${column}</th><th scope="col" class="number">Queues</th><td class="bar"></td></tr></thead>
<tbody>
${rows.map(({ label, count }) => html`<tr><th scope="row">${label}</th><td class="number">${formatNumber(count)}</td><td class="bar">${bar(count)}</td></tr>\n`)}</tbody></table></section>`;
}

/** Queues, each with the reason why it waits and the time left. */
function queuesSection(queues: readonly QueueReport[], state: QueueState | undefined, now: number): Html {
  return table(
    ['Queue', '=State', '#URIs', 'Waits', '+Precedence', '+Spent of budget', '+#Errors', '+Last URI'],
    queues.map((queue) => [
      queue.classKey,
      QUEUE_STATE_LABELS[queue.state],
      formatNumber(queue.count),
      formatWait(queue, now),
      formatNumber(queue.precedence),
      queue.totalBudget < 0
        ? formatNumber(queue.totalExpenditure)
        : `${formatNumber(queue.totalExpenditure)} of ${formatNumber(queue.totalBudget)}`,
      formatNumber(queue.errors),
      queue.lastPeeked,
    ]),
    state === undefined ? 'There are no queues.' : `No queue is ${QUEUE_STATE_LABELS[state]}.`,
  );
}

/** CRAWL-16.6: the counts of each server. */
function hostsSection(hosts: readonly HostReport[], now: number): Html {
  return table(
    [
      'Server',
      '#Succeeded',
      '#Failed',
      'robots.txt',
      '+#Denied by it',
      '+#Disregarded',
      '+#Received',
      '+Last contact',
    ],
    hosts.map((host) => [
      host.server,
      formatNumber(host.successes),
      host.connectionErrors === 0
        ? formatNumber(host.failures)
        : `${formatNumber(host.failures)} (${formatNumber(host.connectionErrors)} in a row)`,
      host.crawlDelay === undefined
        ? ROBOTS_LABELS[host.robots]
        : `${ROBOTS_LABELS[host.robots]}, delay ${formatNumber(host.crawlDelay)} s`,
      formatNumber(host.robotsDenials),
      formatNumber(host.disregarded),
      byteSize(host.bytes),
      formatAgo(host.lastContact, now),
    ]),
    'No server was contacted yet.',
  );
}

/** The state of every worker (CRAWL-20.3). */
function workersSection(workers: readonly WorkerReport[]): Html {
  return table(
    ['#Worker', 'URL', '=Step', '#For'],
    workers.map(({ worker, url, step, milliseconds }) => [
      String(worker),
      url === '' ? 'idle' : url,
      step,
      url === '' ? '' : formatDuration(milliseconds),
    ]),
    'There are no workers.',
  );
}

/** The errors, newest first. */
function errorsSection(errors: readonly RecentError[], now: number): Html {
  return table(
    ['When', '#Status', 'URL', 'Reason'],
    errors.map(({ time, status, url, reason }) => [formatAgo(time, now), String(status), url, reason]),
    'No recent errors.',
  );
}

/** The URIs that each processor of the chains received. */
function chainsSection(chains: readonly ProcessorReport[]): Html {
  return table(
    ['Chain', 'Processor', '#URIs'],
    chains.map(({ chain, processor, uris }) => [chain, processor, formatNumber(uris)]),
    'There are no processors.',
  );
}

/**
 * Renders a table. Columns marked `#` have numbers, `=` single words; those marked `+` are hidden on narrow
 * screens.
 */
function table(columns: readonly string[], rows: readonly (readonly string[])[], emptyText: string): Html {
  if (rows.length === 0) return html`<p class="count">${emptyText}</p>`;
  const classes = columns.map((column) => {
    const mark = /^[+#=]*/.exec(column)?.[0] ?? '';
    const names = [
      mark.includes('#') ? 'number' : '',
      mark.includes('=') ? 'word' : '',
      mark.includes('+') ? 'wide' : '',
    ];
    return names.filter((name) => name !== '').join(' ');
  });
  return html`<table>
<thead><tr>${columns.map((column, i) => html`<th scope="col" class="${classes[i] ?? ''}">${column.replace(/^[+#=]+/, '')}</th>`)}</tr></thead>
<tbody>
${rows.map((row) => html`<tr>${row.map((cell, i) => html`<td class="${classes[i] ?? ''}">${cell}</td>`)}</tr>\n`)}</tbody>
</table>`;
}

/** The rows of the long tables that a page shows; part of its URL. */
export interface View {
  readonly state?: QueueState | undefined;
  /** Class key after which the table of queues begins. */
  readonly after: string;
  /** Substring of the names of servers. */
  readonly host: string;
}

/** Reads a view from the query of a URL. Invalid values count as absent. */
export function readView(query: URLSearchParams): View {
  const state = QUEUE_STATES.find((known) => known === query.get('state'));
  return {
    state,
    after: (query.get('after') ?? '').slice(0, 2048),
    host: (query.get('host') ?? '').slice(0, 256),
  };
}

/** Formats a view as the query of a URL, without empty values. */
export function viewQuery(view: View): string {
  const fields = Object.entries({ state: view.state ?? '', after: view.after, host: view.host });
  const query = new URLSearchParams(fields.filter(([, value]) => value !== ''));
  return query.size === 0 ? '' : `?${query}`;
}

/** Maximum number of rows of each long table on the page. */
const MAX_ROWS = 50;

/**
 * Renders the sections of the page in a view.
 * @param all also those that are long or read from disk
 * @returns the sections, and the URL of the next page of the table of queues; undefined after the last page
 */
export async function renderSections(
  { control, feed }: Pick<ConsoleContext, 'control' | 'feed'>,
  snapshot: CrawlSnapshot,
  view: View,
  all = true,
): Promise<{ readonly sections: Sections; readonly next?: string | undefined }> {
  const { time } = snapshot;
  const sections = {
    state: stateSection(snapshot),
    totals: totalsSection(snapshot),
    states: statesSection(snapshot),
    workers: workersSection(control.workers.reports()),
    errors: errorsSection(control.statistics.recentErrors().slice(0, MAX_ROWS), time),
  };
  if (!all) return { sections };
  const { state, after, host } = view;
  const { rows, last } = cutPage(await control.queues({ state, after, limit: MAX_ROWS + 1 }), MAX_ROWS);
  return {
    sections: {
      ...sections,
      plots: plotsSection(feed.history.samples(), time),
      queues: queuesSection(rows, state, time),
      hosts: hostsSection(control.servers.report({ limit: MAX_ROWS, match: host }), time),
      chains: chainsSection(control.chains()),
    },
    next: last && `/${viewQuery({ ...view, after: last })}`,
  };
}
