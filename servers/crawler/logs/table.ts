/** How the values of a column are formatted. */
export type Unit = 'text' | 'number' | 'bytes' | 'seconds' | 'time';

export interface Column {
  /** The value's name in JSON. */
  readonly key: string;
  readonly title: string;
  /** `bytes`, `seconds` of a duration, `time` in milliseconds since 1970 (0: never). */
  readonly unit: Unit;
}

export type Cell = string | number | undefined;

/** A report as data; {@link reportLines} formats it as text. */
export interface Report {
  readonly kind: string;
  readonly title: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Readonly<Record<string, Cell>>[];
  /** Sentences after the table, e.g. that the table is not complete. */
  readonly notes: readonly string[];
}

export interface ReportLinesOptions {
  /** Width of the terminal; longer lines are truncated. Default: no limit. */
  readonly width?: number;
  /** Bytes as `1.5 MiB`, durations as `2h05m`. Default true; false: plain numbers, times as ISO. */
  readonly human?: boolean;
}

/** Smallest width of a text column. */
const MIN_WIDTH = 8;
/** Spaces between columns. */
const GAP = 2;

/** Formats a report: title, header, rows and notes, one line each. Numbers are right-aligned; the widest texts are truncated to `width`. */
export function reportLines(report: Report, options: ReportLinesOptions = {}): string[] {
  const { width = Number.POSITIVE_INFINITY, human = true } = options;
  const { title, columns, rows, notes } = report;
  const cells = rows.map((row) => columns.map(({ key, unit }) => cellText(row[key], unit, human)));
  const widths = columns.map(({ title }, i) =>
    cells.reduce((width, row) => Math.max(width, row[i]!.length), title.length),
  );
  shrink(widths, columns, width);
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, i) => fitCell(text, widths[i]!, columns[i]!.unit))
      .join(' '.repeat(GAP))
      .trimEnd();
  const lines = [title];
  if (rows.length > 0) lines.push(line(columns.map(({ title }) => title)), ...cells.map(line));
  lines.push(...notes);
  return lines.map((text) => cut(text, width));
}

/** Returns the report for `JSON.stringify`, with values in the units of {@link Column}. */
export function reportJson({ kind, rows, notes }: Report): {
  readonly report: string;
  readonly rows: readonly Readonly<Record<string, Cell>>[];
  readonly notes: readonly string[];
} {
  return { report: kind, rows, notes };
}

/** Formats bytes as `999 B`, `1.5 KiB`, `12 MiB`. */
export function humanBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let value = bytes;
  let unit = 0;
  for (; value >= 999.5 && unit < units.length - 1; unit++) value /= 1024;
  return `${unit > 0 && value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** Formats a duration as `0.4s`, `42s`, `3m05s`, `2h05m`, `4d03h`. */
export function humanSeconds(seconds: number): string {
  if (seconds < 9.95) return `${Math.round(seconds * 10) / 10}s`;
  const total = Math.round(seconds);
  const steps = [
    [60, 1, 's', 's'],
    [3600, 60, 'm', 's'],
    [86_400, 3600, 'h', 'm'],
    [Number.POSITIVE_INFINITY, 86_400, 'd', 'h'],
  ] as const;
  const below = [1, 1, 60, 3600] as const;
  const i = steps.findIndex(([limit]) => total < limit);
  const [, step, big, small] = steps[i]!;
  if (i === 0) return `${total}${big}`;
  const rest = Math.floor((total % step) / below[i]!);
  return `${Math.floor(total / step)}${big}${String(rest).padStart(2, '0')}${small}`;
}

function cellText(value: Cell, unit: Unit, human: boolean): string {
  if (value === undefined || value === '') return '-';
  if (typeof value === 'string') return value.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ');
  if (unit === 'time') return value === 0 ? '-' : `${new Date(value).toISOString().slice(0, 19)}Z`;
  if (human && unit === 'bytes') return humanBytes(value);
  if (human && unit === 'seconds') return humanSeconds(value);
  return String(Math.round(value * 100) / 100);
}

/** Shrinks the widest text column until the line fits or no column can shrink. */
function shrink(widths: number[], columns: readonly Column[], width: number): void {
  const total = (): number => widths.reduce((sum, column) => sum + column, GAP * (widths.length - 1));
  while (total() > width) {
    let widest = -1;
    for (const [i, { unit }] of columns.entries())
      if (unit === 'text' && widths[i]! > MIN_WIDTH && (widest < 0 || widths[i]! > widths[widest]!))
        widest = i;
    if (widest < 0) return;
    widths[widest]!--;
  }
}

function fitCell(text: string, width: number, unit: Unit): string {
  const short = cut(text, width);
  return unit === 'text' ? short.padEnd(width) : short.padStart(width);
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
}
