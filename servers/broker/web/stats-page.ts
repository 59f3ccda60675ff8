import type { BrokerStatistics, Count } from '../statistics.js';
import { type Html, html } from './html.js';
import { byteSize, date, dateTime } from './values.js';

/** The database in numbers (BRK-9.12). */
export function statsPart(statistics: BrokerStatistics): Html {
  const { objects, bytes, oldestUpdate, newestUpdate, hostCount } = statistics;
  return html`<article>
<h1>Statistics</h1>
<dl class="facts">
<div><dt>Objects</dt><dd>${objects}</dd></div>
<div><dt>Size</dt><dd>${byteSize(bytes)}</dd></div>
${hostCount === undefined ? '' : html`<div><dt>Hosts</dt><dd>${hostCount}</dd></div>`}
${oldestUpdate === undefined ? '' : html`<div><dt>Oldest update</dt><dd>${date(oldestUpdate)}</dd></div>`}
${newestUpdate === undefined ? '' : html`<div><dt>Newest update</dt><dd>${date(newestUpdate)}</dd></div>`}
</dl>
${table('Types', 'Type', statistics.types)}
${table('Gatherers', 'Gatherer', statistics.gatherers)}
${table('Hosts', 'Host', statistics.hosts)}
<p class="note">Counted at ${dateTime(statistics.computedAt)?.replace('T', ' ').replace('Z', ' UTC')}; each table lists the most frequent.</p>
</article>`;
}

function table(title: string, column: string, counts: readonly Count[]): Html {
  if (counts.length === 0) return html``;
  const id = title.toLowerCase();
  return html`<h2 id="${id}">${title}</h2>
<table aria-labelledby="${id}">
<thead><tr><th scope="col">${column}</th><th scope="col" class="number">Objects</th></tr></thead>
<tbody>
${counts.map(({ name, objects }) => html`<tr><th scope="row">${name}</th><td class="number">${objects}</td></tr>\n`)}</tbody>
</table>`;
}
