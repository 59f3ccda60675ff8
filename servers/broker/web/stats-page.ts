// Renders the page of statistics (BRK-9.12).
import type { UnixSeconds } from '../../../protocols/time.js';
import { type Content, type Html, html } from '../../web/html.js';
import { byteSize, date, dateTime } from '../../web/values.js';
import type { BrokerStatistics } from '../admin/statistics.js';
import type { TimetableRow } from '../admin/timetable.js';
import type { PointState } from '../collect/shared-state.js';
import type { AgeSpan } from './ages.js';
import { browseUrl } from './facet-list.js';
import type { Narrowing } from './narrow.js';

/** Content of the page. */
export interface StatsSource {
  readonly statistics: BrokerStatistics;
  readonly ages: readonly AgeSpan[];
  readonly timetable: readonly TimetableRow[];
  /** The collections of Brokers that share a store. */
  readonly collections: readonly PointState[];
  /** URL of the query program, for a query of every object with a property. */
  readonly action: string;
}

/** Renders the statistics of the stored objects (BRK-9.12). */
export function renderStatistics({ statistics, ages, timetable, collections, action }: StatsSource): Html {
  const { objects, bytes, oldestUpdate, newestUpdate, hostCount } = statistics;
  const linked = (kind: Narrowing['kind'], rows: BrokerStatistics['types']): ChartValue[] =>
    rows.map(({ name, objects }) => {
      const value = nameOf(kind, name);
      return value === undefined
        ? { name, objects }
        : { name, objects, href: browseUrl(action, { kind, value }) };
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
${renderCollections(collections)}
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

/** Of Brokers that share a store: who collects what. */
function renderCollections(points: readonly PointState[]): Html {
  if (points.length === 0) return html``;
  return html`<section class="chart" aria-labelledby="collections">
<h2 id="collections">Collections</h2>
<div class="scroll" tabindex="0" role="group" aria-labelledby="collections"><table aria-labelledby="collections">
<thead><tr><th scope="col">Point</th><th scope="col">State</th></tr></thead>
<tbody>
${points.map(({ point, state }) => html`<tr><th scope="row">${point}</th><td>${state}</td></tr>\n`)}</tbody>
</table></div>
</section>`;
}

function renderTime(seconds: UnixSeconds): Html {
  const time = dateTime(seconds) ?? '';
  return html`<time datetime="${time}">${time.slice(0, 16).replace('T', ' ')} UTC</time>`;
}

/** One value of a chart. */
interface ChartValue {
  readonly name: string;
  readonly objects: number;
  /** Target of the link on the name. */
  readonly href?: string;
}

/**
 * Renders a table with bars. The bars are SVG with attributes, so that they need neither script nor inline
 * style. Screen readers read the numbers and skip the bars.
 */
function renderBarTable(title: string, column: string, values: readonly ChartValue[], total: number): Html {
  if (values.length === 0) return html``;
  const id = title.toLowerCase().replace(/\W+/g, '-');
  const most = Math.max(1, ...values.map(({ objects }) => objects));
  return html`<section class="chart" aria-labelledby="${id}">
<h2 id="${id}">${title}</h2>
<table aria-labelledby="${id}">
<thead><tr><th scope="col">${column}</th><th scope="col" class="number">Objects</th><th scope="col" class="number share">Share</th><td class="bar"></td></tr></thead>
<tbody>
${values.map(({ name, objects, href }) => html`<tr><th scope="row">${href === undefined ? name : html`<a href="${href}">${name}</a>`}</th><td class="number">${objects.toLocaleString('en')}</td><td class="number share">${formatShare(objects, total)}</td><td class="bar">${renderBar(objects / most)}</td></tr>\n`)}</tbody>
</table>
</section>`;
}

function renderBar(part: number): Html {
  const width = Math.max(0.4, part * 100).toFixed(1);
  return html`<svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" focusable="false"><rect class="track" width="100" height="8"/><rect class="fill" width="${width}" height="8"/></svg>`;
}

function formatShare(objects: number, total: number): string {
  if (total === 0) return '';
  const percent = (100 * objects) / total;
  return percent > 0 && percent < 1 ? '< 1 %' : `${Math.round(percent)} %`;
}

/** Width and height of the drawing in its own units, and height of the row of labels. */
const WIDTH = 720;
const HEIGHT = 220;
const LABELS = 40;

/** Renders a column chart as one image, with the numbers as its text alternative. */
function renderColumnChart(title: string, note: Content, values: readonly ChartValue[]): Html {
  const most = Math.max(0, ...values.map(({ objects }) => objects));
  if (most === 0) return html``;
  const id = title.toLowerCase().replace(/\W+/g, '-');
  const step = WIDTH / values.length;
  const text = values.map(({ name, objects }) => `${name}: ${objects}`).join(', ');
  const columns = values.map(({ name, objects }, i) => {
    const height = objects === 0 ? 0 : Math.max(2, (objects / most) * (HEIGHT - LABELS - 24));
    const middle = (i + 0.5) * step;
    const top = HEIGHT - LABELS - height;
    return html`<rect class="fill" x="${(i * step + step * 0.15).toFixed(1)}" y="${top.toFixed(1)}" width="${(step * 0.7).toFixed(1)}" height="${height.toFixed(1)}" rx="3"/>
<text class="value" x="${middle.toFixed(1)}" y="${(top - 7).toFixed(1)}" text-anchor="middle">${objects === 0 ? '' : objects.toLocaleString('en')}</text>
<text x="${middle.toFixed(1)}" y="${HEIGHT - LABELS + 20}" text-anchor="middle">${name}</text>
`;
  });
  return html`<section class="chart" aria-labelledby="${id}">
<h2 id="${id}">${title}</h2>
<p class="count">${note}</p>
<div class="scroll" tabindex="0" role="group" aria-labelledby="${id}"><svg class="columns-chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${text}">
<line class="axis" x1="0" y1="${HEIGHT - LABELS}" x2="${WIDTH}" y2="${HEIGHT - LABELS}"/>
${columns}</svg></div>
</section>`;
}
