// The log of the server, one JSON event per line.
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

/**
 * One event. `open` and `close` are those of a connection, `begin` and `end` those of a request. `end` is
 * logged before the last byte of an answer is passed to the system, or when the connection ends if that is
 * earlier, so never later than the crawler can see it.
 */
export interface LogEvent {
  /** Time of a monotonic clock. */
  readonly timeMs: number;
  /** The site's number. */
  readonly site: number;
  /** Unique number of the connection. */
  readonly connection: number;
  readonly event: 'open' | 'begin' | 'end' | 'close';
  /** Of `begin`: path with query. */
  readonly path?: string;
  /** Of `begin`: the value of User-Agent. */
  readonly userAgent?: string;
  /** Of `begin`: whether the crawler sent a cookie. */
  readonly hasCookie?: boolean;
  /** Of `end`: the delay that the Retry-After of the answer requests. */
  readonly retryAfterMs?: number | undefined;
  /** Of `end`: whether the crawler aborted the answer. */
  readonly isAborted?: boolean;
}

/** Reads a server's log. */
export async function* readLog(file: string): AsyncGenerator<LogEvent, void, undefined> {
  for await (const line of createInterface({ input: createReadStream(file) }))
    yield JSON.parse(line) as LogEvent;
}
