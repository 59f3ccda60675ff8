// Checks from the server's log that a crawl was polite and complete.
import type { LogEvent } from './log.js';
import type { Site, Times } from './site.js';

/** A rule that the crawler broke. */
export interface Violation {
  readonly rule: Rule;
  readonly kind: string;
  readonly address: string;
  /** The actual and the expected behavior. */
  readonly text: string;
}

export const RULES = [
  'one request at a time',
  'one connection at a time',
  'requests keep the delay',
  'Retry-After is obeyed',
  'robots.txt is the first request',
  'no forbidden page is requested',
  'every page is requested once',
  'requests for endless pages are limited',
  'cookies are not sent back',
  'the crawler identifies itself',
] as const;
type Rule = (typeof RULES)[number];

export interface CheckOptions {
  /** Milliseconds between the end of an answer and the next request. */
  readonly delayMs: number;
  /** Deviations that are ignored: both clocks count whole milliseconds, and timers may fire one early. */
  readonly toleranceMs: number;
  /**
   * Deviations that are ignored after an answer that the crawler aborted: the server learns of the abort late.
   */
  readonly abortedToleranceMs: number;
}

/** The violations, and totals of the log. */
export interface CheckResult {
  readonly violations: readonly Violation[];
  readonly requests: number;
  readonly connections: number;
  /** Maximum number of concurrent requests over all sites. */
  readonly maxConcurrent: number;
  /** The smallest difference between an actual and the required pause. */
  readonly minMarginMs: number;
}

/** Checks all events of a log. */
export async function checkLog(
  sites: readonly Site[],
  log: AsyncIterable<LogEvent>,
  options: CheckOptions,
): Promise<CheckResult> {
  const checkers = sites.map((site) => new SiteChecker(site, options));
  let requests = 0;
  let connections = 0;
  let inFlight = 0;
  let maxConcurrent = 0;
  for await (const event of log) {
    checkers[event.site]!.handle(event);
    if (event.event === 'open') connections++;
    if (event.event === 'begin') requests++;
    if (event.event === 'begin') maxConcurrent = Math.max(maxConcurrent, ++inFlight);
    if (event.event === 'end') inFlight--;
  }
  for (const checker of checkers) checker.end();
  return {
    violations: checkers.flatMap(({ violations }) => violations),
    requests,
    connections,
    maxConcurrent,
    minMarginMs: checkers.reduce(
      (min, checker) => Math.min(min, checker.minMarginMs),
      Number.POSITIVE_INFINITY,
    ),
  };
}

/** Checks the events of one site. */
class SiteChecker {
  readonly violations: Violation[] = [];
  minMarginMs = Number.POSITIVE_INFINITY;
  readonly #requestCounts = new Map<string, number>();
  readonly #openSince = new Map<number, number>();
  readonly #inFlight = new Map<number, string[]>();
  #lastEnd: { readonly timeMs: number; readonly isAborted: boolean; readonly path: string } | undefined;
  /** The earliest allowed time of the next request, and the reason. */
  #notBefore = { timeMs: 0, path: '' };

  constructor(
    readonly site: Site,
    readonly options: CheckOptions,
  ) {}

  handle(event: LogEvent): void {
    switch (event.event) {
      case 'open':
        this.#openSince.set(event.connection, event.timeMs);
        break;
      case 'begin':
        this.#begin(event);
        break;
      case 'end':
        this.#end(event);
        break;
      case 'close':
        this.#close(event);
        break;
    }
  }

  /** Checks at the end of the log that every path was requested as often as required. */
  end(): void {
    const { times, maxRequests } = this.site.expected;
    for (const [path, [min]] of times) {
      const count = this.#requestCounts.get(path) ?? 0;
      if (count < min)
        this.#report('every page is requested once', `${path} was requested ${count} times, not ${min}`);
    }
    const total = [...this.#requestCounts].reduce(
      (sum, [path, n]) => (path === '/robots.txt' ? sum : sum + n),
      0,
    );
    if (total > maxRequests)
      this.#report('requests for endless pages are limited', `${total} requests, more than ${maxRequests}`);
  }

  #begin(event: LogEvent): void {
    const { path = '', userAgent = '', connection, timeMs } = event;
    const active = [...this.#inFlight.values()].flat();
    if (active.length > 0)
      this.#report('one request at a time', `${path} while ${active.join(', ')} was active`);
    const paths = this.#inFlight.get(connection);
    if (paths === undefined) this.#inFlight.set(connection, [path]);
    else paths.push(path);
    this.#checkPause(path, timeMs);
    if (this.#requestCounts.size === 0 && path !== '/robots.txt' && !this.#isForeignRobots(path))
      this.#report('robots.txt is the first request', `${path} was the first request`);
    if (event.hasCookie === true) this.#report('cookies are not sent back', path);
    if (!userAgent.includes('Harvest'))
      this.#report('the crawler identifies itself', `User-Agent ${userAgent}`);
    this.#checkCount(path);
  }

  /** A robots.txt to which another site redirects may be requested first. */
  #isForeignRobots(path: string): boolean {
    return path.endsWith('/robots.txt') || path.endsWith('-robots.txt');
  }

  #checkPause(path: string, timeMs: number): void {
    const last = this.#lastEnd;
    if (last === undefined) return;
    const { delayMs, toleranceMs, abortedToleranceMs } = this.options;
    const isRobotsKnown = this.#requestCounts.has('/robots.txt');
    const delay = Math.max(delayMs, isRobotsKnown ? this.site.expected.crawlDelayMs : 0);
    const tolerance = last.isAborted ? abortedToleranceMs : toleranceMs;
    const pause = timeMs - last.timeMs;
    this.minMarginMs = Math.min(this.minMarginMs, pause - delay);
    if (pause < delay - tolerance) {
      const actual = `${pause.toFixed(1)} ms after the end of ${last.path}${last.isAborted ? ' (aborted)' : ''}`;
      this.#report('requests keep the delay', `${path} came ${actual}, not ${delay} ms`);
    }
    if (timeMs < this.#notBefore.timeMs - toleranceMs) {
      const early = (this.#notBefore.timeMs - timeMs).toFixed(0);
      this.#report('Retry-After is obeyed', `${path} came ${early} ms too early (${this.#notBefore.path})`);
    }
  }

  #checkCount(path: string): void {
    const { times, forbidden } = this.site.expected;
    const count = (this.#requestCounts.get(path) ?? 0) + 1;
    this.#requestCounts.set(path, count);
    if (forbidden.has(path)) {
      this.#report('no forbidden page is requested', path);
      return;
    }
    const [, max] = times.get(path) ?? this.#trapTimes(path);
    if (count === max + 1)
      this.#report('every page is requested once', `${path} was requested more than ${max} times`);
  }

  #trapTimes(path: string): Times {
    return this.site.trap?.(path) === undefined ? [0, 0] : [0, 1];
  }

  #end(event: LogEvent): void {
    const paths = this.#inFlight.get(event.connection) ?? [];
    const path = paths.shift() ?? '';
    if (paths.length === 0) this.#inFlight.delete(event.connection);
    this.#lastEnd = { timeMs: event.timeMs, isAborted: event.isAborted === true, path };
    if (event.retryAfterMs !== undefined && event.retryAfterMs > 0 && event.isAborted !== true)
      this.#notBefore = { timeMs: event.timeMs + event.retryAfterMs, path };
  }

  /** Reports connections that were open at the same time for longer than the tolerance. */
  #close(event: LogEvent): void {
    const since = this.#openSince.get(event.connection) ?? event.timeMs;
    this.#openSince.delete(event.connection);
    for (const other of this.#openSince.values()) {
      const overlapMs = event.timeMs - Math.max(since, other);
      if (overlapMs > this.options.abortedToleranceMs)
        this.#report('one connection at a time', `two were open together for ${overlapMs.toFixed(0)} ms`);
    }
  }

  #report(rule: Rule, text: string): void {
    this.violations.push({ rule, kind: this.site.kind, address: this.site.address, text });
  }
}
