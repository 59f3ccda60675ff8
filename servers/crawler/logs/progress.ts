import type { CrawlSnapshot } from '../control.js';
import { isoSeconds } from './line-fields.js';

/** CRAWL-16.3: the names of the columns and the positions of their ends; values are right-aligned. */
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

/** First line of progress-statistics.log: the column names. */
export const PROGRESS_LEGEND = align(COLUMNS.map(([name]) => name));

/**
 * CRAWL-16.3: formats the crawl's figures as one line. Current rates are followed by those of the whole crawl
 * in parentheses.
 */
export function progressLine(snapshot: CrawlSnapshot): string {
  return align([
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

/**
 * Right-aligns values. One that is wider than its column shifts the rest to the right; at least one space
 * separates values.
 */
function align(values: readonly string[]): string {
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
