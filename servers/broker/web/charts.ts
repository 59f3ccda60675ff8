// Renders charts as SVG.
import { type Content, type Html, html } from '../../web/html.js';

/** One value of a chart. */
export interface ChartValue {
  readonly name: string;
  readonly objects: number;
  /** Target of the link on the name. */
  readonly href?: string;
}

/**
 * Renders a table with bars. The bars are SVG with attributes, so that they need neither script nor inline
 * style. Screen readers read the numbers and skip the bars.
 */
export function renderBarTable(
  title: string,
  column: string,
  values: readonly ChartValue[],
  total: number,
): Html {
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
export function renderColumnChart(title: string, note: Content, values: readonly ChartValue[]): Html {
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
