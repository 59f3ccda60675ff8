// The counters of a references server.
/** The counters, in the order of the page; `/clean` sets all of them to 0. */
const ZERO = {
  requests_total: 0,
  REQ_GET_REFERENCES: 0,
  REQ_GET_REFERERS: 0,
  REQ_GET_SITEREFERENCES: 0,
  REQ_GET_SITEREFERERS: 0,
  REQ_GET_URL_BYNAME: 0,
  not_found: 0,
  bad_request: 0,
  forbidden: 0,
  not_implemented: 0,
  version_not_supported: 0,
  internal_errors: 0,
  timeouts_read: 0,
  timeouts_send: 0,
  refused_maxclients: 0,
  evicted_idle: 0,
  http_requests: 0,
  bytes_in: 0,
  bytes_out: 0,
  reloads: 0,
};

export type Counter = keyof typeof ZERO;

/** Source of a common list. */
export type ListSource = 'dispatcher' | 'file' | 'none' | 'all';

/** Values on the statistics page that are not counters. */
export interface StatisticsContext {
  readonly program: string;
  readonly version: string;
  readonly clients: number;
  readonly maxclients: number;
  readonly allowSource: ListSource;
  readonly pwSource: ListSource;
  /** Number of the generation in use; undefined if none is published. */
  readonly generation: number | undefined;
}

/** Counters of a references server since its start or the last `/clean`. */
export class Statistics {
  readonly counts: Record<Counter, number> = { ...ZERO };
  readonly #now: () => number;
  readonly #begun = performance.now();
  readonly #started: number;
  #sinceClean: number;

  /** @param now milliseconds since 1970 */
  constructor(now: () => number = Date.now) {
    this.#now = now;
    this.#started = now();
    this.#sinceClean = this.#started;
  }

  /** */
  clean(): void {
    Object.assign(this.counts, ZERO);
    this.#sinceClean = this.#now();
  }

  /** one `name: value` per line. Times are ISO 8601 in UTC, `uptime` is in seconds. */
  text(context: StatisticsContext): string {
    const lines: readonly (readonly [string, string | number])[] = [
      ['program', context.program],
      ['version', context.version],
      ['started', isoSeconds(this.#started)],
      ['uptime', Math.floor((performance.now() - this.#begun) / 1000)],
      ['since_clean', isoSeconds(this.#sinceClean)],
      ['clients', context.clients],
      ['maxclients', context.maxclients],
      ...Object.entries(this.counts),
      ['allow_source', context.allowSource],
      ['pw_source', context.pwSource],
      ['generation', context.generation ?? 'none'],
    ];
    return lines.map(([name, value]) => `${name}: ${value}\n`).join('');
  }
}

function isoSeconds(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}
