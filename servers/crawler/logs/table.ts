import { byteSize } from '../../web/values.js';
import { formatDuration, formatNumber } from '../values.js';

/**
 * How the values of a column are formatted: `seconds` of a duration, `time` in milliseconds since 1970 (0:
 * never), a `code` as it is.
 */
type Unit = 'text' | 'number' | 'code' | 'bytes' | 'seconds' | 'time';

/** Title and unit of each value of a row. */
export type Columns = Readonly<Record<string, readonly [title: string, unit: Unit]>>;

export type Cell = string | number | undefined;

/** A report as data; {@link reportLines} formats it as text. */
export interface Report {
  readonly title: string;
  readonly columns: Columns;
  readonly rows: readonly Readonly<Record<string, Cell>>[];
  /** Sentences after the table, e.g. that the table is not complete. */
  readonly notes: readonly string[];
}

/** Spaces between columns. */
const GAP = '  ';

/** Formats a report: title, header, rows and notes, one line each. Numbers are right-aligned. */
export function reportLines({ title, columns, rows, notes }: Report): string[] {
  const spec = Object.entries(columns).map(([key, [title, unit]]) => ({ key, title, unit }));
  const cells = rows.map((row) => spec.map(({ key, unit }) => cellText(row[key], unit)));
  const widths = spec.map(({ title }, i) =>
    cells.reduce((width, row) => Math.max(width, row[i]!.length), title.length),
  );
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, i) => (spec[i]!.unit === 'text' ? text.padEnd(widths[i]!) : text.padStart(widths[i]!)))
      .join(GAP)
      .trimEnd();
  const table = rows.length === 0 ? [] : [line(spec.map(({ title }) => title)), ...cells.map(line)];
  return [title, ...table, ...notes];
}

function cellText(value: Cell, unit: Unit): string {
  if (value === undefined || value === '') return '-';
  if (typeof value === 'string') return value.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ');
  switch (unit) {
    case 'time':
      return value === 0 ? '-' : `${new Date(value).toISOString().slice(0, 19)}Z`;
    case 'bytes':
      return byteSize(value);
    case 'seconds':
      return formatDuration(value * 1000);
    case 'number':
      return formatNumber(value);
    default:
      return String(value);
  }
}
