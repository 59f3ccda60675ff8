// The figures and problems that a server reports to its monitor. Those of each server are in its `figures.ts`.

/** A number, or one for each value of a label; undefined while it is not known. */
export type Reading = number | undefined | Iterable<readonly [label: string, value: number]>;

/** A figure of a server, read on request. */
export interface Figure {
  /** After `harvest_`, in the style of Prometheus: with its unit, and `_total` for a counter. */
  readonly name: string;
  readonly kind: 'counter' | 'gauge';
  /** One sentence. */
  readonly help: string;
  /** The name of the label, if it has several values. */
  readonly label?: string | undefined;
  readonly read: () => Reading | Promise<Reading>;
}

/** Describes a number that only grows. */
export function counter(name: string, help: string, read: Figure['read'], label?: string): Figure {
  return { name, kind: 'counter', help, read, label };
}

/** Describes a number as it is now. */
export function gauge(name: string, help: string, read: Figure['read'], label?: string): Figure {
  return { name, kind: 'gauge', help, read, label };
}

/** The description of a server that the monitor reads. */
export interface MonitoredServer {
  /** `gatherd`, `broker`, ... */
  readonly name: string;
  readonly figures: readonly Figure[];
  /** Why it cannot do its work now, in words; none if it can. */
  readonly problems: () => readonly string[];
  /** Further metrics in the text format of Prometheus. */
  readonly text?: () => string;
}
