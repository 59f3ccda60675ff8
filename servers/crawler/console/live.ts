import type { CrawlControl, CrawlSnapshot, QueueReport } from '../control.js';
import type { RateHistory } from './history.js';
import { type View, viewQuery } from './page.js';
import { plotsPart } from './plots.js';
import {
  chainsPart,
  errorsPart,
  hostsPart,
  type Parts,
  queuesPart,
  statePart,
  statesPart,
  totalsPart,
  workersPart,
} from './sections.js';

/** Rows of each long table on the page. */
const ROWS = 50;

/** What changes every second. */
export function quickParts(control: CrawlControl, snapshot: CrawlSnapshot): Parts {
  return {
    state: statePart(snapshot),
    totals: totalsPart(snapshot),
    states: statesPart(snapshot),
    workers: workersPart(control.workers()),
    errors: errorsPart(control.recentErrors().slice(0, ROWS), snapshot.time),
  };
}

/** What is longer, or read from disk: sent every third second. */
export async function slowParts(
  control: CrawlControl,
  snapshot: CrawlSnapshot,
  history: RateHistory,
  view: View,
): Promise<{ readonly parts: Parts; readonly next: string | undefined }> {
  const { state, after, host } = view;
  const wanted = { ...(state === undefined ? {} : { state }), ...(after === '' ? {} : { after }) };
  const { rows, last } = onePage(await control.queues({ ...wanted, limit: ROWS + 1 }), ROWS);
  const hosts = control.hosts({ limit: ROWS, ...(host === '' ? {} : { match: host }) });
  return {
    parts: {
      plots: plotsPart(history.samples(), snapshot.time),
      queues: queuesPart(rows, state, snapshot.time),
      hosts: hostsPart(hosts, snapshot.time),
      chains: chainsPart(control.chains()),
    },
    next: last === undefined ? undefined : `/${viewQuery({ ...view, after: last })}`,
  };
}

/** The rows of one page out of a list with one more, and the class key behind which the next begins, if there is one. */
export function onePage(
  queues: readonly QueueReport[],
  limit: number,
): { readonly rows: readonly QueueReport[]; readonly last: string | undefined } {
  const rows = queues.slice(0, limit);
  return { rows, last: queues.length > limit ? rows.at(-1)?.classKey : undefined };
}
