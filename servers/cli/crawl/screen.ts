import type {
  CrawlSnapshot,
  HostReport,
  QueueReport,
  RecentError,
  WorkerReport,
} from '../../crawler/control.js';
import {
  errorTable,
  hostTable,
  queueTable,
  sparkline,
  type TextTable,
  totalLines,
  WORKER_TABLE,
} from './tables.js';

/** The data that `harvest crawl watch` shows: a snapshot of the crawl and its tables. */
export interface Screen {
  readonly snapshot: CrawlSnapshot;
  /** Documents per second, the oldest first. */
  readonly rates: readonly number[];
  readonly queues: readonly QueueReport[];
  readonly hosts: readonly HostReport[];
  readonly workers: readonly WorkerReport[];
  readonly errors: readonly RecentError[];
}

/**
 * Returns the lines of a screen, cut to the size of the terminal; tables that do not fit are shortened equally.
 */
export function screenText(screen: Screen, columns: number, rows: number): readonly string[] {
  const { snapshot, rates } = screen;
  const head = [
    ...totalLines(snapshot),
    `doc/s     ${sparkline(rates, Math.max(1, Math.min(120, columns - 20)))} max ${Math.max(0, ...rates).toFixed(1)}`,
  ];
  const workers = screen.workers.filter(({ url }) => url !== '');
  const tables = [
    tableLines(queueTable(snapshot.time), screen.queues),
    tableLines(WORKER_TABLE, workers),
    tableLines(hostTable(snapshot.time), screen.hosts),
    tableLines(errorTable(snapshot.time), screen.errors),
  ].filter((lines) => lines.length > 1);
  const lines = [...head];
  let rowsLeft = rows - head.length;
  tables.forEach((table, i) => {
    // A blank line, the head and at least one row, or no table.
    const share = Math.floor(rowsLeft / (tables.length - i)) - 1;
    if (share < 2) return;
    const shown = table.slice(0, share);
    lines.push('', ...shown);
    rowsLeft -= shown.length + 1;
  });
  return lines.slice(0, rows).map((line) => [...line].slice(0, columns).join(''));
}

function tableLines<T>(table: TextTable<T>, rows: readonly T[]): readonly string[] {
  return [table.head(), ...rows.map((row) => table.row(row))];
}
