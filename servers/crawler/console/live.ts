import type { CrawlControl, CrawlSnapshot } from '../control.js';
import type { RateHistory } from './history.js';
import { type View, viewQuery } from './page.js';
import { plotsSection } from './plots.js';
import { cutPage } from './queries.js';
import {
  chainsSection,
  errorsSection,
  hostsSection,
  queuesSection,
  type Sections,
  stateSection,
  statesSection,
  totalsSection,
  workersSection,
} from './sections.js';

/** Maximum number of rows of each long table on the page. */
const MAX_ROWS = 50;

/** Renders the sections that change every second. */
export function renderQuickSections(control: CrawlControl, snapshot: CrawlSnapshot): Sections {
  return {
    state: stateSection(snapshot),
    totals: totalsSection(snapshot),
    states: statesSection(snapshot),
    workers: workersSection(control.workers()),
    errors: errorsSection(control.recentErrors().slice(0, MAX_ROWS), snapshot.time),
  };
}

/** Renders the sections that are long or read from disk. */
export async function renderSlowSections(
  control: CrawlControl,
  snapshot: CrawlSnapshot,
  history: RateHistory,
  view: View,
): Promise<{ readonly sections: Sections; readonly next: string | undefined }> {
  const { state, after, host } = view;
  const selection = { state, ...(after === '' ? {} : { after }) };
  const { rows, last } = cutPage(await control.queues({ ...selection, limit: MAX_ROWS + 1 }), MAX_ROWS);
  const hosts = control.hosts({ limit: MAX_ROWS, ...(host === '' ? {} : { match: host }) });
  return {
    sections: {
      plots: plotsSection(history.samples(), snapshot.time),
      queues: queuesSection(rows, state, snapshot.time),
      hosts: hostsSection(hosts, snapshot.time),
      chains: chainsSection(control.chains()),
    },
    next: last === undefined ? undefined : `/${viewQuery({ ...view, after: last })}`,
  };
}
