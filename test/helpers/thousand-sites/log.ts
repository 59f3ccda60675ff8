import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

/**
 * What the server saw, one line of JSON each. `end` is when the last byte of an answer was handed to the system, or when
 * the connection ended if that came first: never later than the crawler can know of it.
 */
export interface LogEvent {
  /** Milliseconds of a clock that never goes back. */
  readonly at: number;
  /** The site's number. */
  readonly site: number;
  /** Of the connection; none is used twice. */
  readonly connection: number;
  readonly event: 'open' | 'begin' | 'end' | 'close';
  /** Of `begin`: path with query. */
  readonly path?: string;
  readonly agent?: string;
  /** Of `begin`: the crawler sent a cookie. */
  readonly cookie?: boolean;
  /** Of `end`: milliseconds that the answer's Retry-After asks to stay away. */
  readonly retryAfter?: number;
  /** Of `end`: the crawler gave up before the answer was over. */
  readonly cut?: boolean;
}

/** Reads a server's log. */
export async function* readLog(file: string): AsyncGenerator<LogEvent, void, undefined> {
  for await (const line of createInterface({ input: createReadStream(file) }))
    yield JSON.parse(line) as LogEvent;
}
