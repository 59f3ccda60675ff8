import type { CrawlSnapshot } from '../control.js';
import { FIGURE_ROWS } from '../figures.js';
import { QUEUE_STATES, WAIT_REASONS } from '../states.js';

type Value = readonly [labels: string, value: number | undefined];

/** Formats a snapshot in the text format of Prometheus. */
export function metricsText(snapshot: CrawlSnapshot): string {
  const { name: crawlName, queues, reasons, state, seenFilter, pauseReason } = snapshot;
  const lines: string[] = [];
  const crawl = label('crawl', crawlName);
  const add = (name: string, help: string, ...values: readonly Value[]): void => {
    const kind = name.endsWith('_total') ? 'counter' : 'gauge';
    lines.push(`# HELP harvest_crawl_${name} ${help}`, `# TYPE harvest_crawl_${name} ${kind}`);
    for (const [labels, value = 0] of values)
      lines.push(`harvest_crawl_${name}{${crawl}${labels === '' ? '' : `,${labels}`}} ${value}`);
  };
  for (const [name, { metric }] of FIGURE_ROWS)
    if (metric !== undefined && snapshot[name] >= 0) add(...metric, ['', snapshot[name]]);
  add('seen_uris', 'URIs in the seen filter.', ['', seenFilter.count]);
  add('seen_memory_bytes', 'Memory of the seen filter.', ['', seenFilter.memoryBytes]);
  const isLow = pauseReason === undefined ? 0 : 1;
  add('disk_low', '1 while the crawl pauses because too little disk space is free.', ['', isLow]);
  add('state', '1 for the current state of the crawl.', [label('state', state), 1]);
  const byState = QUEUE_STATES.map((name): Value => [label('state', name), queues[name]]);
  add('queues', 'Queues by state.', ...byState);
  const byReason = WAIT_REASONS.map((name): Value => [label('reason', name), reasons[name]]);
  add('queues_waiting', 'Waiting queues in memory by reason.', ...byReason);
  return `${lines.join('\n')}\n`;
}

function label(name: string, value: string): string {
  const escaped = value.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
  return `${name}="${escaped}"`;
}
