import { readFile } from 'node:fs/promises';
import type { UnixSeconds } from '../../../protocols/time.js';
import type { BrokerStore } from '../../../storage/index.js';
import { Html, html } from '../../web/html.js';
import { StatisticsCache } from '../statistics.js';
import { AgeStatistics } from './ages.js';
import { browseUrl } from './facets-part.js';
import { statsPart } from './stats-page.js';

/** What the file says beside the numbers. */
export interface StatsFileOptions {
  readonly brokerName: string;
  /** URL of the query page, which the rows lead to. */
  readonly homePage: string;
  readonly now: UnixSeconds;
}

/** BRK-6.7 `mkbrokerstats`: the page of the statistics as one file that needs no other. */
export async function statsFile(store: BrokerStore, options: StatsFileOptions): Promise<string> {
  const { brokerName, homePage, now } = options;
  const statistics = await new StatisticsCache(store).get(now);
  const ages = await new AgeStatistics(store).get(now);
  const style = await readFile(new URL(import.meta.resolve('#web-assets/style.css')), 'utf8');
  const action = new URL('/Harvest/cgi-bin/BrokerQuery.cgi', homePage).href;
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Statistics of ${brokerName}</title>
<style>
${new Html(style)}
</style>
</head>
<body>
<header><p class="site"><a href="${homePage}">${brokerName}</a></p></header>
<main id="main">
${statsPart({ statistics, ages, timetable: [], browse: (narrowing) => browseUrl(action, narrowing) })}
</main>
</body>
</html>
`.text;
}
