import { type Html, html } from '../../web/html.js';
import { PLOTS } from '../figures.js';
import { formatNumber } from '../values.js';
import { HISTORY_SAMPLES, type Sample } from './history.js';

/** Width and height of a drawing in its own units. */
const WIDTH = 600;
const HEIGHT = 120;

/** Seconds whose mean is one point of a line, so that a plot has few points and does not flicker. */
const SECONDS_PER_POINT = 3;

/** Renders the last ten minutes as line plots, each with its figures as text. */
export function plotsSection(samples: readonly Sample[], now: number): Html {
  const names = Object.keys(PLOTS) as readonly (keyof typeof PLOTS)[];
  return html`${names.map((name) => renderPlot(name, samples, now))}`;
}

function renderPlot(name: keyof typeof PLOTS, samples: readonly Sample[], now: number): Html {
  const [, title] = PLOTS[name];
  const value = (sample: Sample): number => sample[name];
  const points = computeMeans(samples, value);
  const maximum = points.reduce((max, point) => Math.max(max, point.value), 0);
  const top = roundUp(maximum);
  const last = samples.at(-1);
  const current = last === undefined ? 0 : value(last);
  const begin = now - HISTORY_SAMPLES * 1000;
  const line = points
    .map(({ time, value }) => {
      const x = Math.min(WIDTH, Math.max(0, ((time - begin) / (HISTORY_SAMPLES * 1000)) * WIDTH));
      return `${x.toFixed(0)},${(HEIGHT - (value / top) * HEIGHT).toFixed(1)}`;
    })
    .join(' ');
  const label = `${title}: now ${formatNumber(current)}, at most ${formatNumber(maximum)} in the last ten minutes`;
  return html`<figure class="plot">
<figcaption>${title} <strong class="number">${formatNumber(current)}</strong></figcaption>
<div class="frame"><span class="top number" aria-hidden="true">${formatNumber(top)}</span>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${label}" focusable="false">
<line class="grid" x1="0" y1="${HEIGHT / 2}" x2="${WIDTH}" y2="${HEIGHT / 2}"/><line class="grid" x1="0" y1="0" x2="${WIDTH}" y2="0"/><line class="grid" x1="${WIDTH / 2}" y1="0" x2="${WIDTH / 2}" y2="${HEIGHT}"/>
<polyline class="line" points="${line}"/>
</svg></div>
<p class="times" aria-hidden="true"><span>10 min ago</span><span>5</span><span>now</span></p>
</figure>
`;
}

/** Returns the means over intervals of three seconds that begin at multiples of three. */
function computeMeans(
  samples: readonly Sample[],
  value: (sample: Sample) => number,
): readonly { readonly time: number; readonly value: number }[] {
  const means: { time: number; value: number; count: number }[] = [];
  const step = SECONDS_PER_POINT * 1000;
  for (const sample of samples) {
    const time = Math.floor(sample.time / step) * step;
    const last = means.at(-1);
    if (last?.time === time) {
      last.count++;
      last.value += (value(sample) - last.value) / last.count;
    } else {
      means.push({ time, value: value(sample), count: 1 });
    }
  }
  return means;
}

/**
 * Returns the value of a plot's upper edge: the least of 1, 2, 5 times a power of ten that is not below
 * `value`.
 */
export function roundUp(value: number): number {
  if (!(value > 1)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((factor) => factor * power >= value) ?? 10) * power;
}
