// Limits of the network fetchers; connecting and deadlines of FTP, Gopher and news. Times are milliseconds.
import { ConnectionError } from '../../protocols/errors.js';
import { authorityOf } from '../../protocols/urls/parse-url.js';
import { asError, Connection } from '../connection/index.js';
import { monotonicClock } from '../connection/monotonic-clock.js';
import { resolveHost } from './private-addresses.js';
import { type ReceiveLimits, ReceiveWatch } from './receive-watch.js';
import { DEFAULT_MAX_BYTES, DEFAULT_TIMEOUT_MS, type FetchRequest } from './types.js';

/** Limits of the network fetchers. */
export interface TransferOptions extends ReceiveLimits {
  /** Milliseconds; default 30 000. */
  readonly connectTimeoutMs?: number | undefined;
  /**
   * Milliseconds from the request or the first command to the last byte; default 1 200 000. Limits servers that
   * send single bytes with pauses.
   */
  readonly maxTransferMs?: number | undefined;
  /** Milliseconds that an idle connection stays open; default 10 000, longer than the usual delays. */
  readonly keepAliveMs?: number | undefined;
  /** Maximum number of connections to one host at a time; default 1 (G-66). */
  readonly maxConnectionsPerHost?: number | undefined;
}

/**
 * A login at one server; without a port, at the default port of the protocol: another port may be another's
 * server.
 */
export interface ServerLogin {
  readonly host: string;
  readonly port?: number | undefined;
  readonly user: string;
  readonly password: string;
}

export const DEFAULT_CONNECT_MS = 30_000;
export const DEFAULT_TRANSFER_MS = 1_200_000;
export const DEFAULT_KEEP_ALIVE_MS = 10_000;
export const DEFAULT_CONNECTIONS = 1;

/** A connection that a transfer uses. */
interface WatchedConnection {
  /** Bytes that the server's connections have brought so far, earlier transfers included. */
  readonly bytesRead: number;
  destroy(reason: Error): void;
}

/**
 * Watches the deadline, the signal and the rate of one transfer. Each destroys the connection, so
 * that operations waiting for it fail; {@link reason} is the cause.
 */
export class TransferWatch {
  readonly #connection: WatchedConnection;
  readonly #signal: AbortSignal | undefined;
  readonly #cancelTimer: () => void;
  readonly #onAbort: () => void;
  readonly #rate: ReceiveWatch;
  #reason: Error | undefined;
  #late: Error | undefined;

  constructor(host: string, request: FetchRequest, options: TransferOptions, connection: WatchedConnection) {
    this.#connection = connection;

    const before = connection.bytesRead;
    const received = () => ({ bytes: connection.bytesRead - before });
    const ms = Math.min(
      request.maxTransferMs ?? Number.POSITIVE_INFINITY,
      options.maxTransferMs ?? DEFAULT_TRANSFER_MS,
    );
    const whole = { maxBytes: request.maxBytes ?? DEFAULT_MAX_BYTES, maxTransferMs: ms };
    this.#rate = new ReceiveWatch(host, options, whole, received, (reason) => this.#end(reason));
    this.#signal = request.signal;
    const late = () => {
      this.#late = new ConnectionError(`${host}: not done within ${ms} ms`);
      this.#end(this.#late);
    };
    this.#cancelTimer = (options.clock ?? monotonicClock).setTimer(late, ms);
    this.#onAbort = () => this.#end(asError(this.#signal?.reason));
    if (this.#signal?.aborted === true) this.#onAbort();
    else this.#signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Why the transfer was stopped; undefined if it was not. */
  get reason(): Error | undefined {
    return this.#reason;
  }

  /** The error of a transfer that took too long as a whole; undefined if it did not. */
  get late(): Error | undefined {
    return this.#late;
  }

  /** Returns the error to throw for a failure: the abort's reason, the deadline, or the failure itself. */
  causeOf(error: unknown): unknown {
    if (this.#signal?.aborted === true) return this.#signal.reason;
    return this.#reason ?? error;
  }

  [Symbol.dispose](): void {
    this.#cancelTimer();
    this.#rate[Symbol.dispose]();
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }

  #end(reason: Error): void {
    this.#reason ??= reason;
    this.#connection.destroy(this.#reason);
  }
}

/**
 * Connects to a server; errors name it by host and port.
 * @throws ConnectionError if it cannot be reached in time; RefusedError if `publicOnly` forbids its address
 */
export async function connectTo(
  host: string,
  port: number,
  request: FetchRequest,
  options: TransferOptions,
): Promise<Connection> {
  const { signal } = request;
  return await Connection.open({
    host: await resolveHost(host, request.publicOnly === true, signal),
    port,
    name: authorityOf(host, port),
    connectTimeoutMs: options.connectTimeoutMs ?? DEFAULT_CONNECT_MS,
    idleTimeoutMs: idleTimeoutOf(request),
    signal,
    clock: options.clock,
  });
}

/** The milliseconds without a byte that the request allows (G-85). */
export function idleTimeoutOf(request: FetchRequest): number {
  return request.timeoutMs ?? DEFAULT_TIMEOUT_MS;
}
