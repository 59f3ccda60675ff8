import { type Content, type Html, html } from '../../web/html.js';
import { byteSize } from '../../web/values.js';
import {
  type CrawlControl,
  type CrawlSnapshot,
  type HostReport,
  QUEUE_STATES,
  type QueueReport,
  type QueueState,
  type RecentError,
  WAIT_REASONS,
  type WorkerReport,
} from '../control.js';
import {
  ago,
  CRAWL_STATE_LABELS,
  number,
  QUEUE_STATE_LABELS,
  REASON_LABELS,
  ROBOTS_LABELS,
  span,
  waitText,
} from './labels.js';

/** Sections of the page by the name of their element. */
export type Sections = Readonly<Record<string, Html>>;

/** The state of the crawl in one line, which screen readers announce when it changes. */
export function stateSection({ state, end }: CrawlSnapshot): Html {
  return html`<span class="state ${state}">${CRAWL_STATE_LABELS[state]}</span>${end === undefined || end === 'finished' ? '' : html` ended by: ${end}`}`;
}

/** The totals. */
export function totalsSection(s: CrawlSnapshot): Html {
  const tile = (name: string, value: Content, note: Content = '') =>
    html`<div><dt>${name}</dt><dd>${value}${note === '' ? '' : html` <small>${note}</small>`}</dd></div>\n`;
  return html`<dl class="tiles">
${tile('Succeeded', number(s.succeeded), byteSize(s.bytes))}
${tile('Queued', number(s.queued), `of ${number(s.discovered)} discovered`)}
${tile('Failed', number(s.failed), `${number(s.disregarded)} disregarded`)}
${tile('Documents a second', number(s.currentDocumentsPerSecond), `${number(s.documentsPerSecond)} on average`)}
${tile('Kilobytes a second', number(s.currentKilobytesPerSecond), `${number(s.kilobytesPerSecond)} on average`)}
${tile('Busy workers', number(s.busyWorkers), `of ${number(s.workers)}`)}
${tile('Crawling for', span(s.elapsed * 1000))}
${tile('Congestion', number(s.congestion), `deepest ${number(s.deepestQueue)}, average ${number(s.averageDepth)}`)}
${tile('Seen', number(s.seenFilter.count), `${s.seenFilter.kind}, ${byteSize(s.seenFilter.memoryBytes)}`)}
${tile('Memory', byteSize(s.memoryBytes), `heap ${byteSize(s.heapBytes)}`)}
${tile('Disk free', s.diskFreeBytes < 0 ? 'not known' : byteSize(s.diskFreeBytes))}
${tile('Newest checkpoint', s.checkpoint === '' ? 'none' : html`<span class="name">${s.checkpoint}</span>`)}
</dl>`;
}

/** Queues by state and by the reason they wait, as tables with bars. */
export function statesSection(s: CrawlSnapshot): Html {
  const states = QUEUE_STATES.map((state) => ({ name: QUEUE_STATE_LABELS[state], count: s.queues[state] }));
  const reasons = WAIT_REASONS.flatMap((reason) => {
    const count = s.reasons[reason] ?? 0;
    return count === 0 ? [] : [{ name: REASON_LABELS[reason], count }];
  });
  return html`${bars('Queues by state', 'State', states)}
${reasons.length === 0 ? html`<section class="chart"><h3>Queues by the reason they wait</h3><p class="count">No queue in memory waits.</p></section>` : bars('Queues by the reason they wait', 'Reason', reasons)}`;
}

function bars(
  title: string,
  column: string,
  rows: readonly { readonly name: string; readonly count: number }[],
): Html {
  const most = Math.max(1, ...rows.map(({ count }) => count));
  const bar = (count: number) =>
    html`<svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" focusable="false"><rect class="track" width="100" height="8"/><rect class="fill" width="${((100 * count) / most).toFixed(1)}" height="8"/></svg>`;
  return html`<section class="chart"><h3>${title}</h3>
<table><thead><tr><th scope="col">${column}</th><th scope="col" class="number">Queues</th><td class="bar"></td></tr></thead>
<tbody>
${rows.map(({ name, count }) => html`<tr><th scope="row">${name}</th><td class="number">${number(count)}</td><td class="bar">${bar(count)}</td></tr>\n`)}</tbody></table></section>`;
}

/** Queues, each with the reason why it waits and the time left. */
export function queuesSection(
  queues: readonly QueueReport[],
  state: QueueState | undefined,
  now: number,
): Html {
  return table(
    ['Queue', '=State', '#URIs', 'Waits', '+Precedence', '+Spent of budget', '+#Errors', '+Last URI'],
    queues.map((queue) => [
      queue.classKey,
      QUEUE_STATE_LABELS[queue.state],
      number(queue.count),
      waitText(queue, now),
      number(queue.precedence),
      queue.totalBudget < 0
        ? number(queue.totalExpenditure)
        : `${number(queue.totalExpenditure)} of ${number(queue.totalBudget)}`,
      number(queue.errors),
      queue.lastPeeked,
    ]),
    state === undefined ? 'There is no queue.' : `No queue is ${QUEUE_STATE_LABELS[state]}.`,
  );
}

/** CRAWL-16.6: the counts of each server. */
export function hostsSection(hosts: readonly HostReport[], now: number): Html {
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
      number(host.successes),
      host.connectionErrors === 0
        ? number(host.failures)
        : `${number(host.failures)} (${number(host.connectionErrors)} in a row)`,
      host.crawlDelay === undefined
        ? ROBOTS_LABELS[host.robots]
        : `${ROBOTS_LABELS[host.robots]}, delay ${number(host.crawlDelay)} s`,
      number(host.robotsDenials),
      number(host.disregarded),
      byteSize(host.bytes),
      ago(host.lastContact, now),
    ]),
    'No server was contacted yet.',
  );
}

/** The state of every worker (CRAWL-20.3). */
export function workersSection(workers: readonly WorkerReport[]): Html {
  return table(
    ['#Worker', 'URL', '=Step', '#For'],
    workers.map(({ worker, url, step, milliseconds }) => [
      String(worker),
      url === '' ? 'idle' : url,
      step,
      url === '' ? '' : span(milliseconds),
    ]),
    'There are no workers.',
  );
}

/** The errors, newest first. */
export function errorsSection(errors: readonly RecentError[], now: number): Html {
  return table(
    ['When', '#Status', 'URL', 'Reason'],
    errors.map(({ time, status, url, reason }) => [ago(time, now), String(status), url, reason]),
    'No recent errors.',
  );
}

/** The URIs that each processor of the chains received. */
export function chainsSection(chains: ReturnType<CrawlControl['chains']>): Html {
  return table(
    ['Chain', 'Processor', '#URIs'],
    chains.map(({ chain, processor, uris }) => [chain, processor, number(uris)]),
    'There are no processors.',
  );
}

/** A table. Columns marked `#` hold numbers, `=` single words; those marked `+` are hidden on narrow screens. */
function table(columns: readonly string[], rows: readonly (readonly string[])[], none: string): Html {
  if (rows.length === 0) return html`<p class="count">${none}</p>`;
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
