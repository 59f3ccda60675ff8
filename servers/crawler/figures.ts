// The figures of a crawl: a row says what a figure is and how it is formatted; below, where it shows. The
// snapshot's type, its JSON, the metrics, the console, the terminal and the end reports are made of this file.
// What computes a figure puts it into the snapshot.
import { z } from 'zod';
import { byteSize } from '../web/values.js';
import { formatDuration, formatNumber } from './values.js';

interface FigureRow {
  /** Of its value in JSON. */
  readonly schema: z.ZodType<number>;
  readonly unit: 'number' | 'bytes' | 'seconds';
  /**
   * The part of the end reports that shows it, and its title there. A figure of the frontier shows in the
   * report of the crawl, too.
   */
  readonly report?: readonly [part: 'crawl' | 'frontier' | 'depth', title: string];
  /**
   * Name after `harvest_crawl_` by the conventions of Prometheus, and help text. A name that ends with `_total`
   * is of a counter.
   */
  readonly metric?: readonly [name: string, help: string];
}

const count = z.int().min(0);
const amount = z.number().min(0);
const average = amount.describe('Over the whole crawl');
const current = amount.describe('Over the last seconds');

/** The figures that are members of a snapshot, by name. A value below 0 is not known. */
const FIGURES = {
  elapsed: {
    schema: amount.describe('Seconds of crawling, without pauses'),
    unit: 'seconds',
    report: ['crawl', 'crawling'],
    metric: ['elapsed_seconds_total', 'Seconds of crawling without pauses.'],
  },
  discovered: {
    schema: count,
    unit: 'number',
    report: ['frontier', 'discovered'],
    metric: ['uris_discovered_total', 'URIs that the crawl knows.'],
  },
  queued: {
    schema: count,
    unit: 'number',
    report: ['frontier', 'queued'],
    metric: ['uris_queued', 'URIs in the queues.'],
  },
  inProcess: {
    schema: count,
    unit: 'number',
    report: ['frontier', 'in process'],
    metric: ['uris_in_process', 'URIs in process.'],
  },
  succeeded: {
    schema: count,
    unit: 'number',
    report: ['crawl', 'succeeded'],
    metric: ['uris_succeeded_total', 'URIs that were fetched.'],
  },
  failed: {
    schema: count,
    unit: 'number',
    report: ['crawl', 'failed'],
    metric: ['uris_failed_total', 'URIs that failed.'],
  },
  disregarded: {
    schema: count,
    unit: 'number',
    report: ['crawl', 'disregarded'],
    metric: ['uris_disregarded_total', 'URIs that rules excluded.'],
  },
  bytes: {
    schema: count,
    unit: 'bytes',
    report: ['crawl', 'received'],
    metric: ['bytes_total', 'Bytes that were received.'],
  },
  documentsPerSecond: { schema: average, unit: 'number', report: ['crawl', 'documents a second'] },
  kilobytesPerSecond: { schema: average, unit: 'number', report: ['crawl', 'KB a second'] },
  currentDocumentsPerSecond: { schema: current, unit: 'number' },
  currentKilobytesPerSecond: { schema: current, unit: 'number' },
  workers: { schema: count, unit: 'number', metric: ['workers', 'Workers.'] },
  busyWorkers: { schema: count, unit: 'number', metric: ['workers_busy', 'Workers that process a URI.'] },
  /** CRAWL-5.6.7. */
  congestion: {
    schema: amount,
    unit: 'number',
    report: ['depth', 'congestion'],
    metric: ['congestion_ratio', 'Eligible queues per busy queue.'],
  },
  deepestQueue: {
    schema: count,
    unit: 'number',
    report: ['depth', 'deepest queue'],
    metric: ['queue_depth_max', 'URIs in the deepest queue.'],
  },
  averageDepth: {
    schema: amount,
    unit: 'number',
    report: ['depth', 'average depth'],
    metric: ['queue_depth_average', 'URIs in a queue on average.'],
  },
  memoryBytes: {
    schema: count.describe('Resident memory of the process'),
    unit: 'bytes',
    metric: ['memory_bytes', 'Resident memory of the process.'],
  },
  heapBytes: { schema: count, unit: 'bytes', metric: ['heap_bytes', 'Heap in use.'] },
  diskFreeBytes: {
    schema: z.int().min(-1).describe('-1: not known'),
    unit: 'bytes',
    metric: ['disk_free_bytes', 'Free space on the disk of the data.'],
  },
} as const satisfies Readonly<Record<string, FigureRow>>;

export type FigureName = keyof typeof FIGURES;
export type Figures = Readonly<Record<FigureName, number>>;

/** The rows with their names, in the order of the end reports. */
export const FIGURE_ROWS: readonly (readonly [FigureName, FigureRow])[] = Object.entries<FigureRow>(
  FIGURES,
) as [FigureName, FigureRow][];

/** The schemas of their values. */
export const FIGURE_SCHEMAS = Object.fromEntries(
  FIGURE_ROWS.map(([name, { schema }]) => [name, schema]),
) as Record<FigureName, z.ZodType<number>>;

/** What shows of a snapshot: of a crawl that is not running some figures are absent. */
export interface FigureSource extends Partial<Figures> {
  readonly seenFilter: { readonly kind: string; readonly count: number; readonly memoryBytes?: number };
  readonly checkpoint: string;
}

/** Figures as texts; empty for absent ones. */
export type FigureTexts = Readonly<
  Record<FigureName | 'seenUris' | 'seenMemory' | 'seenKind' | 'checkpoint', string>
>;

/** Formats a figure with its unit, such as `1,234`, `7.5 MB`, `1 h 2 min`. */
export function formatFigure(value: number, unit: FigureRow['unit']): string {
  if (value < 0) return 'not known';
  if (unit === 'bytes') return byteSize(value);
  return unit === 'seconds' ? formatDuration(value * 1000) : formatNumber(value);
}

/** Formats all figures of a snapshot. */
export function formatFigures(source: FigureSource): FigureTexts {
  const text = (value: number | undefined, unit: FigureRow['unit']): string =>
    value === undefined ? '' : formatFigure(value, unit);
  const { kind, count, memoryBytes } = source.seenFilter;
  return {
    ...(Object.fromEntries(FIGURE_ROWS.map(([name, { unit }]) => [name, text(source[name], unit)])) as Record<
      FigureName,
      string
    >),
    seenKind: kind,
    seenUris: text(count, 'number'),
    seenMemory: text(memoryBytes, 'bytes'),
    checkpoint: source.checkpoint === '' ? 'none' : source.checkpoint,
  };
}

type Phrase = (figures: FigureTexts) => string;

/** The tiles of the console's page: title, value, and a note in small letters. */
export const TILES: readonly (readonly [title: string, value: Phrase, note?: Phrase])[] = [
  ['Succeeded', (f) => f.succeeded, (f) => f.bytes],
  ['Queued', (f) => f.queued, (f) => `of ${f.discovered} discovered`],
  ['Failed', (f) => f.failed, (f) => `${f.disregarded} disregarded`],
  ['Documents a second', (f) => f.currentDocumentsPerSecond, (f) => `${f.documentsPerSecond} on average`],
  ['Kilobytes a second', (f) => f.currentKilobytesPerSecond, (f) => `${f.kilobytesPerSecond} on average`],
  ['Busy workers', (f) => f.busyWorkers, (f) => `of ${f.workers}`],
  ['Crawling for', (f) => f.elapsed],
  ['Congestion', (f) => f.congestion, (f) => `deepest ${f.deepestQueue}, average ${f.averageDepth}`],
  ['Seen', (f) => f.seenUris, (f) => `${f.seenKind}, ${f.seenMemory}`],
  ['Memory', (f) => f.memoryBytes, (f) => `heap ${f.heapBytes}`],
  ['Disk free', (f) => f.diskFreeBytes],
];

/** The lines of the terminal. */
export const FIGURE_LINES = {
  uris: (f) =>
    `${f.succeeded} succeeded (${f.bytes}), ${f.failed} failed, ${f.disregarded} disregarded, ${f.queued} queued of ${f.discovered} discovered`,
  rates: (f) =>
    `${f.currentDocumentsPerSecond} doc/s (${f.documentsPerSecond} on average), ${f.currentKilobytesPerSecond} KB/s (${f.kilobytesPerSecond}), ${f.busyWorkers} of ${f.workers} workers busy`,
  /** CRAWL-5.6.7. */
  depth: (f) => `deepest ${f.deepestQueue}, average ${f.averageDepth}, congestion ${f.congestion}`,
  seen: (f) => `${f.seenKind}: ${f.seenUris} URIs${f.seenMemory === '' ? '' : `, ${f.seenMemory} of memory`}`,
  process: (f) =>
    `${f.memoryBytes} of memory, heap ${f.heapBytes}, disk free ${f.diskFreeBytes}, checkpoint ${f.checkpoint}`,
  progress: (f) =>
    `${f.succeeded} succeeded, ${f.failed} failed, ${f.disregarded} disregarded, ${f.queued} queued, ${f.currentDocumentsPerSecond} doc/s, ${f.currentKilobytesPerSecond} KB/s, ${f.busyWorkers} of ${f.workers} workers`,
} as const satisfies Readonly<Record<string, Phrase>>;

/** The plots of the page: the names of their values in a sample, their figures and titles. */
export const PLOTS = {
  documentsPerSecond: ['currentDocumentsPerSecond', 'Documents a second'],
  kilobytesPerSecond: ['currentKilobytesPerSecond', 'Kilobytes a second'],
  queued: ['queued', 'URIs queued'],
  busyWorkers: ['busyWorkers', 'Busy workers'],
} as const satisfies Readonly<Record<string, readonly [FigureName, title: string]>>;
