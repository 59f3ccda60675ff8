import { type CrawlSnapshot, QUEUE_STATES, WAIT_REASONS } from '../control.js';

type Kind = 'counter' | 'gauge';

/** Name after `harvest_crawl_`, kind, help text, value. Names follow the conventions of Prometheus. */
const METRICS: readonly (readonly [string, Kind, string, (snapshot: CrawlSnapshot) => number])[] = [
  ['elapsed_seconds_total', 'counter', 'Seconds of crawling without pauses.', (s) => s.elapsed],
  ['uris_discovered_total', 'counter', 'URIs that the crawl knows.', (s) => s.discovered],
  ['uris_succeeded_total', 'counter', 'URIs that were fetched.', (s) => s.succeeded],
  ['uris_failed_total', 'counter', 'URIs that failed.', (s) => s.failed],
  ['uris_disregarded_total', 'counter', 'URIs that rules excluded.', (s) => s.disregarded],
  ['bytes_total', 'counter', 'Bytes that were received.', (s) => s.bytes],
  ['uris_queued', 'gauge', 'URIs in the queues.', (s) => s.queued],
  ['uris_in_process', 'gauge', 'URIs in process.', (s) => s.inProcess],
  ['workers', 'gauge', 'Workers.', (s) => s.workers],
  ['workers_busy', 'gauge', 'Workers that process a URI.', (s) => s.busyWorkers],
  ['congestion_ratio', 'gauge', 'Eligible queues per busy queue.', (s) => s.congestion],
  ['queue_depth_max', 'gauge', 'URIs in the deepest queue.', (s) => s.deepestQueue],
  ['queue_depth_average', 'gauge', 'URIs in a queue on average.', (s) => s.averageDepth],
  ['seen_uris', 'gauge', 'URIs in the seen filter.', (s) => s.seenFilter.count],
  ['seen_memory_bytes', 'gauge', 'Memory of the seen filter.', (s) => s.seenFilter.memoryBytes],
  ['memory_bytes', 'gauge', 'Resident memory of the process.', (s) => s.memoryBytes],
  ['heap_bytes', 'gauge', 'Heap in use.', (s) => s.heapBytes],
];

/** Formats a snapshot in the text format of Prometheus. */
export function metricsText(snapshot: CrawlSnapshot): string {
  const lines: string[] = [];
  const crawl = label('crawl', snapshot.name);
  const describe = (name: string, kind: Kind, help: string) => {
    lines.push(`# HELP harvest_crawl_${name} ${help}`, `# TYPE harvest_crawl_${name} ${kind}`);
  };
  for (const [name, kind, help, value] of METRICS) {
    describe(name, kind, help);
    lines.push(`harvest_crawl_${name}{${crawl}} ${value(snapshot)}`);
  }
  if (snapshot.diskFreeBytes >= 0) {
    describe('disk_free_bytes', 'gauge', 'Free space on the disk of the data.');
    lines.push(`harvest_crawl_disk_free_bytes{${crawl}} ${snapshot.diskFreeBytes}`);
  }
  describe('disk_low', 'gauge', '1 while the crawl pauses because too little disk space is free.');
  lines.push(`harvest_crawl_disk_low{${crawl}} ${snapshot.pauseReason === undefined ? 0 : 1}`);
  describe('state', 'gauge', '1 for the current state of the crawl.');
  lines.push(`harvest_crawl_state{${crawl},${label('state', snapshot.state)}} 1`);
  describe('queues', 'gauge', 'Queues by state.');
  for (const state of QUEUE_STATES)
    lines.push(`harvest_crawl_queues{${crawl},${label('state', state)}} ${snapshot.queues[state]}`);
  describe('queues_waiting', 'gauge', 'Waiting queues in memory by reason.');
  for (const reason of WAIT_REASONS)
    lines.push(
      `harvest_crawl_queues_waiting{${crawl},${label('reason', reason)}} ${snapshot.reasons[reason] ?? 0}`,
    );
  return `${lines.join('\n')}\n`;
}

function label(name: string, value: string): string {
  const escaped = value.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
  return `${name}="${escaped}"`;
}
