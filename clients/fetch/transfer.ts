import { ConnectionError } from '../../protocols/errors.js';
import { asError, Connection } from '../connection/index.js';
import { resolveHost } from './private-addresses.js';
import { DEFAULT_TIMEOUT_MS, type FetchRequest } from './types.js';

/** Limits that FTP, Gopher and news have in common. */
export interface TransferOptions {
  /** Default 30 000. */
  readonly connectTimeoutMs?: number | undefined;
  /** From the first command to the last byte; default 1 200 000. Stops servers that send a byte now and then. */
  readonly maxTransferMs?: number | undefined;
  /** How long an unused connection stays open; default 10 000. */
  readonly keepAliveMs?: number | undefined;
  /** Connections to one host at one time; default 1 (G-66). */
  readonly maxConnectionsPerHost?: number | undefined;
}

export const DEFAULT_CONNECT_MS = 30_000;
const DEFAULT_TRANSFER_MS = 1_200_000;

/**
 * Watches one transfer: its deadline and its signal. Either ends it by `stop`, which is to break the connection, so that
 * whatever waits for the connection wakes up; {@link reason} then says why.
 */
export class TransferWatch {
  readonly #signal: AbortSignal | undefined;
  readonly #stop: (reason: Error) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #onAbort: () => void;
  #reason: Error | undefined;

  constructor(host: string, request: FetchRequest, options: TransferOptions, stop: (reason: Error) => void) {
    const ms = options.maxTransferMs ?? DEFAULT_TRANSFER_MS;
    this.#signal = request.signal;
    this.#stop = stop;
    this.#timer = setTimeout(() => this.#end(new ConnectionError(`${host}: not done within ${ms} ms`)), ms);
    this.#onAbort = () => this.#end(asError(this.#signal?.reason));
    if (this.#signal?.aborted === true) this.#onAbort();
    else this.#signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Why the transfer was ended; undefined while it was not. */
  get reason(): Error | undefined {
    return this.#reason;
  }

  /** What is to be thrown for a failure: the abort's own reason, the deadline, or the failure. */
  judge(error: unknown): unknown {
    if (this.#signal?.aborted === true) return this.#signal.reason;
    return this.#reason ?? error;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }

  #end(reason: Error): void {
    this.#reason ??= reason;
    this.#stop(this.#reason);
  }
}

/**
 * Connects to a server; errors name it by `host`.
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
    name: host,
    connectTimeoutMs: options.connectTimeoutMs ?? DEFAULT_CONNECT_MS,
    idleTimeoutMs: silenceOf(request),
    signal,
  });
}

/** Milliseconds of silence that the request allows (G-85). */
export function silenceOf(request: FetchRequest): number {
  return request.timeoutMs ?? DEFAULT_TIMEOUT_MS;
}
