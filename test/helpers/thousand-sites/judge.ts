import type { LogEvent } from './log.js';
import type { Site, Times } from './site.js';

/** A rule that the server's log shows to be broken. */
export interface Violation {
  readonly rule: Rule;
  readonly kind: string;
  readonly address: string;
  /** What was seen, and what should have been. */
  readonly text: string;
}

export const RULES = [
  'one request at a time',
  'one connection at a time',
  'no request before its time',
  'Retry-After is waited for',
  'robots.txt first',
  'nothing that is forbidden',
  'every page once',
  'traps end',
  'cookies are not sent back',
  'the crawler names itself',
] as const;
type Rule = (typeof RULES)[number];

export interface JudgeOptions {
  /** Milliseconds between the end of an answer and the next request. */
  readonly delayMs: number;
  /**
   * Milliseconds that are forgiven: clocks of milliseconds on both sides, and timers that come up to one early. For an answer
   * that the crawler cut off, `cutToleranceMs`: the server learns of that only when its turn comes.
   */
  readonly toleranceMs: number;
  readonly cutToleranceMs: number;
}

/** What the log says in numbers. */
export interface Verdict {
  readonly violations: readonly Violation[];
  readonly requests: number;
  readonly connections: number;
  /** Maximum number of requests in flight at one time over all sites: how parallel the crawl was. */
  readonly mostAtOnce: number;
  /** The shortest pause less what it had to be, milliseconds. */
  readonly leastMargin: number;
}

/** Checks from the server's log that a crawl was polite and complete. */
export async function judge(
  sites: readonly Site[],
  log: AsyncIterable<LogEvent>,
  options: JudgeOptions,
): Promise<Verdict> {
  const judges = sites.map((site) => new SiteJudge(site, options));
  let requests = 0;
  let connections = 0;
  let inFlight = 0;
  let mostAtOnce = 0;
  for await (const event of log) {
    judges[event.site]!.take(event);
    if (event.event === 'open') connections++;
    if (event.event === 'begin') requests++;
    if (event.event === 'begin') mostAtOnce = Math.max(mostAtOnce, ++inFlight);
    if (event.event === 'end') inFlight--;
  }
  for (const each of judges) each.end();
  return {
    violations: judges.flatMap(({ violations }) => violations),
    requests,
    connections,
    mostAtOnce,
    leastMargin: judges.reduce((least, each) => Math.min(least, each.leastMargin), Number.POSITIVE_INFINITY),
  };
}

/** Follows one site's events. */
class SiteJudge {
  readonly violations: Violation[] = [];
  leastMargin = Number.POSITIVE_INFINITY;
  readonly #asked = new Map<string, number>();
  readonly #openSince = new Map<number, number>();
  readonly #inFlight = new Map<number, string[]>();
  #lastEnd: { readonly at: number; readonly cut: boolean; readonly path: string } | undefined;
  /** The earliest allowed time of the next request, and the reason. */
  #notBefore = { at: 0, path: '' };

  constructor(
    readonly site: Site,
    readonly options: JudgeOptions,
  ) {}

  take(event: LogEvent): void {
    switch (event.event) {
      case 'open':
        this.#openSince.set(event.connection, event.at);
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

  /** At the end of the log: every path was requested as often as required. */
  end(): void {
    const { times, most } = this.site.expected;
    for (const [path, [least]] of times) {
      const asked = this.#asked.get(path) ?? 0;
      if (asked < least) this.#blame('every page once', `${path} was fetched ${asked} times, not ${least}`);
    }
    const all = [...this.#asked].reduce((sum, [path, n]) => (path === '/robots.txt' ? sum : sum + n), 0);
    if (all > most) this.#blame('traps end', `${all} requests, ${most} would be the most`);
  }

  #begin(event: LogEvent): void {
    const { path = '', agent = '', connection, at } = event;
    const busy = [...this.#inFlight.values()].flat();
    if (busy.length > 0)
      this.#blame('one request at a time', `${path} while ${busy.join(', ')} was under way`);
    const paths = this.#inFlight.get(connection);
    if (paths === undefined) this.#inFlight.set(connection, [path]);
    else paths.push(path);
    this.#timely(path, at);
    if (this.#asked.size === 0 && path !== '/robots.txt' && !this.#isForeignRobots(path))
      this.#blame('robots.txt first', `${path} was the first request`);
    if (event.cookie === true) this.#blame('cookies are not sent back', path);
    if (!agent.includes('Harvest')) this.#blame('the crawler names itself', `User-Agent ${agent}`);
    this.#count(path);
  }

  /** A neighbor's robots.txt after a redirect does not count as its first page. */
  #isForeignRobots(path: string): boolean {
    return path.endsWith('/robots.txt') || path.endsWith('-robots.txt');
  }

  #timely(path: string, at: number): void {
    const last = this.#lastEnd;
    if (last === undefined) return;
    const { delayMs, toleranceMs, cutToleranceMs } = this.options;
    const robotsKnown = this.#asked.has('/robots.txt');
    const delay = Math.max(delayMs, robotsKnown ? this.site.expected.crawlDelayMs : 0);
    const tolerance = last.cut ? cutToleranceMs : toleranceMs;
    const gap = at - last.at;
    this.leastMargin = Math.min(this.leastMargin, gap - delay);
    if (gap < delay - tolerance) {
      const pause = `${gap.toFixed(1)} ms after the end of ${last.path}${last.cut ? ' (cut)' : ''}`;
      this.#blame('no request before its time', `${path} came ${pause}, not ${delay} ms`);
    }
    if (at < this.#notBefore.at - toleranceMs) {
      const early = (this.#notBefore.at - at).toFixed(0);
      this.#blame(
        'Retry-After is waited for',
        `${path} came ${early} ms too early (${this.#notBefore.path})`,
      );
    }
  }

  #count(path: string): void {
    const { times, forbidden } = this.site.expected;
    const asked = (this.#asked.get(path) ?? 0) + 1;
    this.#asked.set(path, asked);
    if (forbidden.has(path)) {
      this.#blame('nothing that is forbidden', path);
      return;
    }
    const [, most] = times.get(path) ?? this.#ofTrap(path);
    if (asked === most + 1) this.#blame('every page once', `${path} was fetched more than ${most} times`);
  }

  #ofTrap(path: string): Times {
    return this.site.trap?.(path) === undefined ? [0, 0] : [0, 1];
  }

  #end(event: LogEvent): void {
    const paths = this.#inFlight.get(event.connection) ?? [];
    const path = paths.shift() ?? '';
    if (paths.length === 0) this.#inFlight.delete(event.connection);
    this.#lastEnd = { at: event.at, cut: event.cut === true, path };
    if (event.retryAfter !== undefined && event.retryAfter > 0 && event.cut !== true)
      this.#notBefore = { at: event.at + event.retryAfter, path };
  }

  /** Connections that were open at the same time for longer than the tolerance. */
  #close(event: LogEvent): void {
    const since = this.#openSince.get(event.connection) ?? event.at;
    this.#openSince.delete(event.connection);
    for (const other of this.#openSince.values()) {
      const together = event.at - Math.max(since, other);
      if (together > this.options.cutToleranceMs)
        this.#blame('one connection at a time', `two were open together for ${together.toFixed(0)} ms`);
    }
  }

  #blame(rule: Rule, text: string): void {
    this.violations.push({ rule, kind: this.site.kind, address: this.site.address, text });
  }
}
