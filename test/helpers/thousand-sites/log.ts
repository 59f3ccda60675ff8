import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

/**
 * The events of the server, one JSON line each. `end` is the time when the last byte of an answer was passed to the system, or
 * when the connection ended if that was earlier: never later than the crawler can notice it.
 */
export interface LogEvent {
  /** Milliseconds of a monotonic clock. */
  readonly at: number;
  /** The site's number. */
  readonly site: number;
  /** Unique number of the connection. */
  readonly connection: number;
  readonly event: 'open' | 'begin' | 'end' | 'close';
  /** Of `begin`: path with query. */
  readonly path?: string;
  readonly agent?: string;
  /** Of `begin`: the crawler sent a cookie. */
  readonly cookie?: boolean;
  /** Of `end`: milliseconds of the answer's Retry-After. */
  readonly retryAfter?: number;
  /** Of `end`: the crawler aborted the answer. */
  readonly cut?: boolean;
}

/** Reads a server's log. */
export async function* readLog(file: string): AsyncGenerator<LogEvent, void, undefined> {
  for await (const line of createInterface({ input: createReadStream(file) }))
    yield JSON.parse(line) as LogEvent;
}
