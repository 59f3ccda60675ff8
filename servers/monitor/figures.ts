// The figures and problems that a server reports to its monitor. Those of each server are in its `figures.ts`.

import type { NewcomerCounts } from '../host/newcomers.js';

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

/** Describes what became of the connections that a server accepted. @param name the beginning of their names */
export function newcomerFigures(name: string, read: () => NewcomerCounts | undefined): Figure[] {
  return [
    gauge(`${name}_waiting_connections`, 'Connections that wait for a place.', () => read()?.waiting),
    counter(
      `${name}_waited_connections_total`,
      'Connections that had to wait for a place.',
      () => read()?.waited,
    ),
    counter(
      `${name}_refused_connections_total`,
      'Connections that were refused: all places were taken, or no descriptor was left (ulimit -n).',
      () => Object.entries(read()?.refused ?? {}),
      'reason',
    ),
    counter(
      `${name}_evicted_connections_total`,
      'Idle connections that were closed for others.',
      () => read()?.evicted,
    ),
  ];
}

/** The description of a server that the monitor reads. */
export interface MonitoredServer {
  /** `gatherd`, `broker`, ... */
  readonly name: string;
  readonly figures: readonly Figure[];
  /** Why it cannot do its work now, in words; none if it can. */
  readonly problems: () => readonly string[];
  /** What an operator must know although it does its work. */
  readonly notes?: () => readonly string[];
  /** Further metrics in the text format of Prometheus. */
  readonly text?: () => string;
}
