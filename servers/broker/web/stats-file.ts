// Renders the statistics as a single file (BRK-6.7).
import { readFile } from 'node:fs/promises';
import type { UnixSeconds } from '../../../protocols/time.js';
import type { BrokerStore } from '../../../storage/broker/broker-store.js';
import { renderPage } from '../../web/page-shell.js';
import { computeStatistics } from '../admin/statistics.js';
import { countAges } from './ages.js';
import { renderStatistics } from './stats-page.js';

/** Options of {@link statsFile}. */
export interface StatsFileOptions {
  readonly brokerName: string;
  /** URL of the query page, which the rows link to. */
  readonly homePage: string;
  readonly now: UnixSeconds;
}

/** BRK-6.7 `mkbrokerstats`: renders the page of statistics as a single file. */
export async function statsFile(store: BrokerStore, options: StatsFileOptions): Promise<string> {
  const { brokerName, homePage, now } = options;
  const statistics = await computeStatistics(store, now);
  const ages = await countAges(store, now);
  const style = await readFile(new URL(import.meta.resolve('#web-assets/style.css')), 'utf8');
  const action = new URL('/Harvest/cgi-bin/BrokerQuery.cgi', homePage).href;
  const content = renderStatistics({ statistics, ages, timetable: [], collections: [], action });
  const site = { name: brokerName, href: homePage };
  const shell = { title: `Statistics of ${brokerName}`, styles: { text: style }, site };
  return renderPage(shell, content).text;
}
