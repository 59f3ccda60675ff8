import type { CrawlSnapshot } from '../control.js';
import { isoSeconds } from './line-fields.js';

/** CRAWL-16.3: each column with where it ends; the values are right-aligned there. */
const COLUMNS = [
  ['timestamp', 20],
  ['discovered', 32],
  ['queued', 44],
  ['downloaded', 57],
  ['doc/s(avg)', 74],
  ['KB/s(avg)', 85],
  ['dl-failures', 99],
  ['busy-thread', 113],
  ['mem-use-KB', 126],
  ['heap-size-KB', 140],
  ['congestion', 153],
  ['max-depth', 165],
  ['avg-depth', 177],
] as const;

/** First line of progress-statistics.log: the names of its columns. */
export const PROGRESS_LEGEND = aligned(COLUMNS.map(([name]) => name));

/** CRAWL-16.3: the crawl's figures as one line. A rate is that of the last seconds, with that of the whole crawl in parentheses. */
export function progressLine(snapshot: CrawlSnapshot): string {
  return aligned([
    isoSeconds(snapshot.time),
    String(snapshot.discovered),
    String(snapshot.queued),
    String(snapshot.succeeded),
    `${decimals(snapshot.currentDocumentsPerSecond)}(${decimals(snapshot.documentsPerSecond)})`,
    `${Math.round(snapshot.currentKilobytesPerSecond)}(${Math.round(snapshot.kilobytesPerSecond)})`,
    String(snapshot.failed),
    String(snapshot.busyWorkers),
    kilobytes(snapshot.memoryBytes),
    kilobytes(snapshot.heapBytes),
    decimals(snapshot.congestion),
    String(snapshot.deepestQueue),
    String(Math.round(snapshot.averageDepth)),
  ]);
}

/** A value too wide for its column pushes the rest to the right; a blank always parts two values. */
function aligned(values: readonly string[]): string {
  let line = '';
  for (const [i, value] of values.entries()) {
    const end = COLUMNS[i]![1];
    const gap = Math.max(i === 0 ? 0 : 1, end - line.length - value.length);
    line += ' '.repeat(gap) + value;
  }
  return line;
}

function decimals(value: number): string {
  return Number.isFinite(value) ? String(Math.round(value * 100) / 100) : '0';
}

function kilobytes(bytes: number): string {
  return String(Math.round(bytes / 1024));
}
