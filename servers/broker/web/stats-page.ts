// Renders the page of statistics (BRK-9.12).
import type { UnixSeconds } from '../../../protocols/time.js';
import { type Html, html } from '../../web/html.js';
import { byteSize, date, dateTime } from '../../web/values.js';
import type { BrokerStatistics } from '../admin/statistics.js';
import type { TimetableRow } from '../admin/timetable.js';
import type { AgeSpan } from './ages.js';
import { type ChartValue, renderBarTable, renderColumnChart } from './charts.js';
import type { Narrowing } from './narrow.js';

/** Content of the page. */
export interface StatsSource {
  readonly statistics: BrokerStatistics;
  readonly ages: readonly AgeSpan[];
  readonly timetable: readonly TimetableRow[];
  /** URL of a query for every object with a property. */
  readonly browse: (narrowing: Narrowing) => string;
}

/** Renders the statistics of the stored objects (BRK-9.12). */
export function renderStatistics({ statistics, ages, timetable, browse }: StatsSource): Html {
  const { objects, bytes, oldestUpdate, newestUpdate, hostCount } = statistics;
  const linked = (kind: Narrowing['kind'], rows: BrokerStatistics['types']): ChartValue[] =>
    rows.map(({ name, objects }) => {
      const value = nameOf(kind, name);
      return value === undefined ? { name, objects } : { name, objects, href: browse({ kind, value }) };
    });
  return html`<h1>Statistics</h1>
<dl class="tiles">
<div><dt>Objects</dt><dd>${objects.toLocaleString('en')}</dd></div>
<div><dt>Size</dt><dd>${byteSize(bytes)}</dd></div>
${hostCount === undefined ? '' : html`<div><dt>Hosts</dt><dd>${hostCount.toLocaleString('en')}</dd></div>\n`}${
  oldestUpdate === undefined ? '' : html`<div><dt>Oldest update</dt><dd>${date(oldestUpdate)}</dd></div>\n`
}${newestUpdate === undefined ? '' : html`<div><dt>Newest update</dt><dd>${date(newestUpdate)}</dd></div>\n`}</dl>
${renderBarTable('Types', 'Type', linked('type', statistics.types), objects)}
${renderBarTable('Hosts', 'Host', linked('host', statistics.hosts), objects)}
${renderBarTable('Gatherers', 'Gatherer', linked('gatherer', statistics.gatherers), objects)}
${renderColumnChart(
  'Age of the documents',
  'Objects by the time since their document was last changed.',
  ages.map(({ title, objects }) => ({ name: title, objects })),
)}
${renderTimetable(timetable)}
<p class="note">Counted at ${renderTime(statistics.computedAt)}; each table lists the most frequent.</p>`;
}

/** Returns the value that a query for a row uses; undefined for a row without a name. */
function nameOf(kind: Narrowing['kind'], name: string): string | undefined {
  if (kind === 'host') return name === 'unknown:' ? undefined : name;
  if (kind === 'type') return name === 'unknown' ? undefined : name;
  // Statistics write `name (host)`; the query has the name only.
  return /^(.+) \([^()]*\)$/.exec(name)?.[1];
}

function renderTimetable(rows: readonly TimetableRow[]): Html {
  if (rows.length === 0) return html``;
  return html`<section class="chart" aria-labelledby="timetable">
<h2 id="timetable">Timetable</h2>
<div class="scroll" tabindex="0" role="group" aria-labelledby="timetable"><table aria-labelledby="timetable">
<thead><tr><th scope="col">Event</th><th scope="col">Next</th><th scope="col">Last</th><th scope="col">Outcome</th></tr></thead>
<tbody>
${rows.map((row) => html`<tr><th scope="row">${row.name}<span class="aside">: ${row.description}</span></th><td>${row.next === undefined ? 'not planned' : renderTime(row.next)}</td><td>${row.lastStarted === undefined ? 'not yet' : renderTime(row.lastStarted)}</td><td>${row.running ? 'running' : (row.lastOutcome ?? '')}</td></tr>\n`)}</tbody>
</table></div>
</section>`;
}

function renderTime(seconds: UnixSeconds): Html {
  const time = dateTime(seconds) ?? '';
  return html`<time datetime="${time}">${time.slice(0, 16).replace('T', ' ')} UTC</time>`;
}
