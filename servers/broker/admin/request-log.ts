// Logs the requests that strangers send to the Broker's port, within limits.
import { textOfUrl } from '../../../protocols/soif/index.js';
import type { LogLimits } from '../../host/index.js';
import { type Logger, LogLimiter } from '../../host/index.js';
import type { EventLog, LogType } from './event-log.js';

/** Limits of the lines for objects that were sent (`Query-Return`): a query has up to `Max-Results` of them. */
const RETURN_LIMITS: LogLimits = {
  address: { burst: 100_000, perSecond: 1000 },
  total: { burst: 1_000_000, perSecond: 10_000 },
};

/**
 * Writes the events of queries and bulk transfers (BRK-5.7, BT-28). Lines above the limits of an address, and
 * of all addresses, are counted instead of written (`servers/host/log-limit.ts`): statistics made from the log
 * are complete up to these limits.
 */
export class RequestLog implements Disposable {
  readonly #log: Logger;
  readonly #events: EventLog;
  readonly #requests: LogLimiter;
  readonly #returns: LogLimiter;

  constructor(log: Logger, events: EventLog, limits?: LogLimits) {
    this.#log = log;
    this.#events = events;

    const report = (type: LogType) => (text: string) => {
      log.warn(`${type}: ${text}`);
      events.write(type, text);
    };
    this.#requests = new LogLimiter(report('Query'), limits);
    this.#returns = new LogLimiter(report('Query-Return'), RETURN_LIMITS);
  }

  /** Writes a line about a query, to `broker.out` too. @param session - number of its connection */
  query(address: string, text: string, session?: number): void {
    if (!this.#events.isEnabled('Query') || !this.#requests.allows(address)) return;
    this.#log.info({ session }, `Query: ${address}: ${text}`);
    this.#events.write('Query', `${address}: ${text}`);
  }

  /** Writes a line about an object that a query returned. */
  returned(address: string, url: string): void {
    if (!this.#events.isEnabled('Query-Return') || !this.#returns.allows(address)) return;
    this.#events.write('Query-Return', `${address}: ${textOfUrl(url)}`);
  }

  /** Writes a line about a bulk transfer. */
  bulk(type: 'Bulk-Transfer' | 'Bulk-Return', address: string, text: string): void {
    if (!this.#events.isEnabled(type) || !this.#requests.allows(address)) return;
    this.#events.write(type, `${address}: ${text}`);
  }

  /** Reports the lines that were not written. */
  [Symbol.dispose](): void {
    this.#requests[Symbol.dispose]();
    this.#returns[Symbol.dispose]();
  }
}
